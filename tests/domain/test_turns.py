"""A turn: drawing, laying down and off, swapping, discarding, going out."""

from domain import events as e
from domain.commands import Discard, DrawStock, LayOff, Move, Pass, SwapWild, TakeDiscard
from domain.meld import Placed
from domain.presets import Json
from domain.refusals import DecisionClosed, IllegalMove, Refused, RuleBroken
from tests.domain.table import ANNA, BORIS, CLARA, Table, lay_down, meld, open_discard, placed, table

QUEENS = meld(BORIS, "set", "QS QH QC")
HEARTS = meld(BORIS, "run", "5H 6H 7H 8H")


def laying(meld_id: str, text: str) -> LayOff:
    return LayOff(meld_id, placed(text))


def ended(t: Table) -> tuple[int | None, str]:
    last = t.events[-1]
    assert isinstance(last, e.RoundEnded)
    return last.seat, last.reason


def test_nobody_discards_before_drawing() -> None:
    t = open_discard("davis", ["KC KD", "QC QD", "JC JD"], "7H")
    assert t.refusal(BORIS, Discard("QC")) == IllegalMove("must_draw")


def test_nobody_draws_twice() -> None:
    t = table("davis", ["KC KD", "QC", "JC"])
    assert t.refusal(ANNA, DrawStock()) == IllegalMove("already_drawn")


def test_a_decision_answered_once_is_closed() -> None:
    t = table("davis", ["KC KD", "QC", "JC"], step="draw")
    t.answer(ANNA, DrawStock())
    assert isinstance(t.refusal(BORIS, DrawStock()), DecisionClosed)


def test_laying_off_needs_being_down() -> None:
    t = table("davis", ["6H KD", "QC", "JC"], melds=[meld(BORIS, "run", "2H 3H 4H 5H")], down=[BORIS])
    assert t.refusal(ANNA, laying("m1", "6H")) == IllegalMove("not_down")


def test_laying_off_on_the_turn_of_going_down_is_a_knob() -> None:
    hand = "2C 2D 2H 9C 9D 9H QD KC"
    down = lay_down(("set", "2C 2D 2H"), ("set", "9C 9D 9H"))
    free = table("davis", [hand, "JC", "TC"], melds=[QUEENS], down=[BORIS])
    free.answer(ANNA, down)
    free.answer(ANNA, laying("m1", "QD"))
    assert free.hand(ANNA) == ("KC",)
    later = table("davis", [hand, "JC", "TC"], melds=[QUEENS], down=[BORIS], overrides={"lay_off": "later_turn"})
    later.answer(ANNA, down)
    assert later.refusal(ANNA, laying("m1", "QD")) == IllegalMove("later_turn")


def test_nobody_lays_down_twice_in_a_round() -> None:
    t = table("davis", ["QD QH QS 3C 4C", "JC", "TC"], down=[ANNA])
    assert t.refusal(ANNA, lay_down(("set", "QD QH QS"))) == IllegalMove("no_new_melds")


def test_a_card_not_held_or_held_once_and_used_twice_is_refused() -> None:
    t = table("davis", ["2C 2D 2H 9C 9D KC", "JC", "TC"])
    assert t.refusal(ANNA, Discard("9H")) == IllegalMove("card_not_in_hand")
    twice = lay_down(("set", "2C 2D 2H"), ("set", "9C 9D 9D"))
    assert t.refusal(ANNA, twice) == IllegalMove("card_not_in_hand")


def test_after_the_discard_the_turn_is_over() -> None:
    t = table("davis", ["KC 6H", "JC JD", "TC TD"], melds=[meld(BORIS, "run", "2H 3H 4H 5H")], down=[ANNA, BORIS])
    t.answer(ANNA, Discard("KC"))
    assert isinstance(t.refusal(ANNA, laying("m1", "6H")), DecisionClosed)
    assert t.hand(ANNA) == ("6H",)


def test_the_forehand_with_a_card_more_first_discards_one_and_melds_nothing() -> None:
    hand = "2D 2H 9C 9D 9H 4C 4D 4H"
    t = table("black-twos", [hand, "JC JD", "TC TD"], pile=())
    t.happens(e.TurnBegan(ANNA, "discard", discard_open=False, claimants=()))
    assert t.refusal(ANNA, DrawStock()) == IllegalMove("no_draw_first_turn")
    down = lay_down(("set", "9C 9D 9H"), ("set", "4C 4D 4H"))
    assert t.refusal(ANNA, down) == IllegalMove("no_melds_first_turn")
    assert {type(move) for move in t.options(ANNA)} == {Discard}
    t.answer(ANNA, Discard("4D"))
    assert t.asked() == {BORIS: "draw", CLARA: "claim"}


def last_round(preset: str, hand: str) -> Table:
    return table(preset, [hand, "JC", "TC"], number=7)


THREE_RUNS = lay_down(("run", "2S 3S 4S 5S"), ("run", "7H 8H 9H TH"), ("run", "3D 4D 5D 6D"))
TWELVE = "2S 3S 4S 5S 7H 8H 9H TH 3D 4D 5D 6D"


def test_in_the_last_round_of_davis_the_lay_down_empties_the_hand() -> None:
    t = last_round("davis", TWELVE)
    t.answer(ANNA, THREE_RUNS)
    assert ended(t) == (ANNA, "out")
    assert last_round("davis", f"{TWELVE} KC").refusal(ANNA, THREE_RUNS) == IllegalMove("must_empty_hand")


def test_in_the_last_round_of_the_finnish_games_one_card_may_be_left_and_is_discarded() -> None:
    t = last_round("jokers", f"{TWELVE} KC")
    t.answer(ANNA, THREE_RUNS)
    assert t.options(ANNA) == (Discard("KC"),)
    t.answer(ANNA, Discard("KC"))
    assert ended(t) == (ANNA, "out")
    two_left = last_round("jokers", f"{TWELVE} KC QC")
    assert two_left.refusal(ANNA, THREE_RUNS) == IllegalMove("must_empty_hand")


def test_no_lay_off_completes_a_last_round() -> None:
    t = last_round("jokers", f"{TWELVE} 6S")
    t.answer(ANNA, THREE_RUNS)
    assert t.refusal(ANNA, laying("m1", "6S")) == IllegalMove("must_empty_hand")


def going_out(how: str, hand: str, move: Move) -> Table | RuleBroken:
    overrides: dict[str, Json] = {"going_out": how, "deal": {"cards": [12]}, "last_round": "normal"}
    t = table("davis", [hand, "JC JD", "TC TD"], melds=[HEARTS], down=[ANNA, BORIS], overrides=overrides)
    try:
        t.answer(ANNA, move)
    except Refused as refused:
        return refused.broken
    return t


def test_the_last_card_leaves_as_the_rules_want_it() -> None:
    last_by_laying, last_by_discard = laying("m1", "9H"), Discard("KC")
    either = [going_out("either", "9H", last_by_laying), going_out("either", "KC", last_by_discard)]
    assert all(isinstance(t, Table) and ended(t) == (ANNA, "out") for t in either)
    assert going_out("discard_required", "9H", last_by_laying) == IllegalMove("keep_a_discard")
    assert isinstance(going_out("discard_required", "KC", last_by_discard), Table)
    assert isinstance(going_out("no_discard", "9H", last_by_laying), Table)
    assert going_out("no_discard", "KC", last_by_discard) == IllegalMove("lay_the_last_card")


def test_a_last_card_that_may_not_be_discarded_is_kept_by_a_pass() -> None:
    t = going_out("no_discard", "KC", Pass())
    assert isinstance(t, Table)
    assert t.hand(ANNA) == ("KC",)
    assert t.round.turn == BORIS


def test_a_seat_that_is_not_down_keeps_its_last_card() -> None:
    t = table("davis", ["KC", "JC JD", "TC TD"])
    assert t.refusal(ANNA, Discard("KC")) == IllegalMove("not_down")
    assert t.options(ANNA) == (Pass(),)


def test_a_card_laid_by_its_discard_ends_the_round_and_cannot_be_bought() -> None:
    t = table("davis", ["KC", "JC JD", "TC TD"], down=[ANNA], melds=[HEARTS])
    t.answer(ANNA, Discard("KC"))
    assert ended(t) == (ANNA, "out")
    assert t.asked() == {}


def test_the_card_just_taken_may_be_barred_from_going_back() -> None:
    t = open_discard("davis", ["KC KD", "QC QD", "JC JD"], "7H", overrides={"no_return": True})
    t.answer(BORIS, TakeDiscard())
    assert t.refusal(BORIS, Discard("7H")) == IllegalMove("no_return")
    assert Discard("QC") in t.options(BORIS)


def test_a_swapped_wild_must_be_laid_before_anything_else() -> None:
    run = meld(BORIS, "run", "4H 5H 2S(6H) 7H")
    queens = meld(CLARA, "set", "QD QH QC")
    t = table("black-twos", ["6H KD", "JC JD", "TC TD"], melds=[run, queens], down=[ANNA, BORIS, CLARA])
    t.answer(ANNA, SwapWild("m1", "2S", as_="6H", card="6H"))
    assert t.hand(ANNA) == ("KD", "2S")
    assert t.refusal(ANNA, Discard("KD")) == IllegalMove("wild_must_be_melded")
    assert t.refusal(ANNA, Discard("2S")) == IllegalMove("wild_must_be_melded")
    assert all(isinstance(move, LayOff) and move.meld_id == "m2" for move in t.options(ANNA))
    t.answer(ANNA, LayOff("m2", (Placed("2S", "Q"),)))
    t.answer(ANNA, Discard("KD"))
    assert ended(t) == (ANNA, "out")


def test_a_wild_without_another_place_stays_where_it_is() -> None:
    run = meld(BORIS, "run", "4H 5H 2S(6H) 7H")
    t = table("black-twos", ["6H KD", "JC JD", "TC TD"], melds=[run], down=[ANNA, BORIS])
    assert t.refusal(ANNA, SwapWild("m1", "2S", as_="6H", card="6H")) == IllegalMove("no_place_for_wild")
    assert not any(isinstance(move, SwapWild) for move in t.options(ANNA))


def test_only_opponents_wilds_are_swapped_and_only_once_down() -> None:
    run, queens = meld(ANNA, "run", "4H 5H 2S(6H) 7H"), meld(BORIS, "set", "QD QH QC")
    swap = SwapWild("m1", "2S", as_="6H", card="6H")
    own = table("black-twos", ["6H KD", "JC JD", "TC TD"], melds=[run, queens], down=[ANNA, BORIS])
    assert own.refusal(ANNA, swap) == IllegalMove("swap_not_allowed")
    not_down = table("black-twos", ["6H KD", "JC JD", "TC TD"], melds=[run, queens], down=[BORIS], turn=ANNA)
    assert not_down.refusal(ANNA, swap) == IllegalMove("not_down")
