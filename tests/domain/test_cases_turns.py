"""Laying off, keeping a discard, and how the last card may leave, knob by knob."""

import pytest

from domain import events as e
from domain.commands import Buy, CallShanghai, Discard, DrawStock, LayDown, LayOff, Pass, SwapWild, TakeDiscard
from domain.meld import Placed
from domain.presets import Json
from domain.refusals import IllegalMove
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, lay_down, meld, open_discard, placed, table

HEARTS = meld(BORIS, "run", "5H 6H 7H 8H")
TWO_SETS = lay_down(("set", "2C 2D 2H"), ("set", "9C 9D 9H"))
SIX = "2C 2D 2H 9C 9D 9H"
THREE_RUNS = lay_down(("run", "2S 3S 4S 5S"), ("run", "7H 8H 9H TH"), ("run", "3D 4D 5D 6D"))
TWELVE = "2S 3S 4S 5S 7H 8H 9H TH 3D 4D 5D 6D"


def at_hand(hand: str, *, number: int = 1, down: bool = True, **knobs: Json) -> Table:
    """Anna has drawn; Boris's run of hearts lies on the table. The deal is large enough for every knob."""
    rules: dict[str, Json] = {"deal": {"cards": [13]}, "last_round": "normal", **knobs}
    return table(
        "davis", [hand, "JC JD", "TC TD"], number=number, melds=[HEARTS], down=[ANNA, BORIS] if down else [BORIS],
        overrides=rules,
    )  # fmt: skip


def is_out(t: Table, seat: int = ANNA) -> bool:
    last = t.events[-1]
    return isinstance(last, e.RoundEnded) and (last.seat, last.reason) == (seat, "out")


def test_cards_are_laid_off_in_the_order_in_which_they_fit() -> None:
    t = at_hand("3H 4H KC")
    assert t.refusal(ANNA, LayOff("m1", placed("3H"))) == IllegalMove("does_not_fit")
    t.answer(ANNA, LayOff("m1", placed("4H")))
    t.answer(ANNA, LayOff("m1", placed("3H")))
    assert t.lies("m1") == "3H 4H 5H 6H 7H 8H"


def test_several_cards_of_one_lay_off_are_judged_as_a_whole() -> None:
    run = meld(BORIS, "run", "JK(7C) 8C 9C TC")
    t = table("davis", ["5C 6C KC", "QC", "JC"], melds=[run], down=[ANNA, BORIS])
    assert t.refusal(ANNA, LayOff("m1", placed("5C"))) == IllegalMove("does_not_fit")
    t.answer(ANNA, LayOff("m1", placed("5C 6C")))
    assert t.lies("m1") == "5C 6C JK(7C) 8C 9C TC"


def test_a_lay_off_is_carried_out_whole_or_not_at_all() -> None:
    t = at_hand("4H 2H KC")
    before = t.game
    assert t.refusal(ANNA, LayOff("m1", placed("4H 2H"))) == IllegalMove("does_not_fit")
    assert t.refusal(ANNA, LayOff("m1", placed("4H 4H"))) == IllegalMove("card_not_in_hand")
    assert t.refusal(ANNA, LayOff("m1", placed("3H"))) == IllegalMove("card_not_in_hand")
    assert t.refusal(ANNA, LayOff("m1", ())) == IllegalMove("does_not_fit")
    assert t.refusal(ANNA, LayOff("m7", placed("4H"))) == IllegalMove("meld_not_found")
    assert t.game == before


def test_a_card_that_no_deck_has_is_told_from_one_that_is_not_held() -> None:
    t = at_hand("4H 2H KC")
    for card, reason in (("9S", "card_not_in_hand"), ("", "unknown_card"), ("10H", "unknown_card")):
        for move in (Discard(card), LayOff("m1", (Placed(card),))):
            broken = t.refusal(ANNA, move)
            assert isinstance(broken, IllegalMove)
            assert broken.reason == reason


def test_a_wild_is_laid_at_the_end_that_is_named() -> None:
    run = meld(BORIS, "run", "TS JS QS KS")
    t = table("jokers", ["JK 8S KC", "QC", "JC"], melds=[run], down=[ANNA, BORIS])
    t.answer(ANNA, LayOff("m1", placed("JK"), "low"))
    t.answer(ANNA, LayOff("m1", placed("8S")))
    assert t.lies("m1") == "8S JK(9S) TS JS QS KS"


def test_only_the_meld_that_is_named_grows() -> None:
    sevens = [meld(BORIS, "set", "7H 7D 7S"), meld(CLARA, "set", "7H 7C 7S")]
    t = table("jokers", ["JK KC", "QC", "JC"], melds=sevens, down=[ANNA, BORIS, CLARA])
    t.answer(ANNA, LayOff("m2", placed("JK")))
    assert (t.lies("m1"), t.lies("m2")) == ("7H 7D 7S", "7H 7C 7S JK(7)")


def test_a_full_run_takes_no_more() -> None:
    run = meld(BORIS, "run", "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH")
    t = table("jokers", ["JK KC", "QC", "JC"], melds=[run], down=[ANNA, BORIS])
    assert t.refusal(ANNA, LayOff("m1", placed("JK"))) == IllegalMove("meld_full")


def test_laying_off_from_the_next_turn_on() -> None:
    t = table(
        "davis", [f"{SIX} 4H KC", "JC JD"], melds=[HEARTS], down=[BORIS],
        overrides={"lay_off": "later_turn", "buy": {"allowed": False}},
    )  # fmt: skip
    t.answer(ANNA, TWO_SETS)
    assert t.refusal(ANNA, LayOff("m1", placed("4H"))) == IllegalMove("later_turn")
    assert not any(isinstance(move, LayOff) for move in t.options(ANNA))
    t.answer(ANNA, Discard("KC"))
    t.answer(BORIS, DrawStock())
    t.answer(BORIS, Discard("JC"))
    t.answer(ANNA, DrawStock())
    t.answer(ANNA, LayOff("m1", placed("4H")))
    assert t.lies("m1") == "4H 5H 6H 7H 8H"


def test_a_contract_laid_with_the_whole_hand_ends_the_round_unless_a_discard_is_required() -> None:
    for how in ("either", "no_discard"):
        t = at_hand(SIX, down=False, going_out=how)
        t.answer(ANNA, TWO_SETS)
        assert is_out(t)
    kept = at_hand(SIX, down=False, going_out="discard_required")
    assert kept.refusal(ANNA, TWO_SETS) == IllegalMove("keep_a_discard")
    assert not any(isinstance(move, LayDown) for move in kept.options(ANNA))


def test_laying_off_the_last_but_one_card_leaves_one_to_discard() -> None:
    t = at_hand("4H KC", going_out="discard_required")
    t.answer(ANNA, LayOff("m1", placed("4H")))
    assert t.options(ANNA) == (Discard("KC"),)
    t.answer(ANNA, Discard("KC"))
    assert is_out(t)


def test_a_lay_off_that_leaves_no_card_to_discard_is_refused() -> None:
    t = at_hand("4H 9H", going_out="discard_required")
    t.answer(ANNA, LayOff("m1", placed("4H")))
    assert t.refusal(ANNA, LayOff("m1", placed("9H"))) == IllegalMove("keep_a_discard")
    assert not any(isinstance(move, LayOff) for move in t.options(ANNA))
    both = at_hand("4H 9H", going_out="discard_required")
    assert both.refusal(ANNA, LayOff("m1", placed("4H 9H"))) == IllegalMove("keep_a_discard")


def test_where_no_discard_goes_out_two_cards_leave_by_one_and_the_last_one_waits_for_a_meld() -> None:
    t = at_hand("4H KC QC", going_out="no_discard")
    assert t.refusal(ANNA, Pass()) == IllegalMove("pass_not_allowed")
    t.answer(ANNA, LayOff("m1", placed("4H")))
    t.answer(ANNA, Discard("KC"))
    assert t.hand(ANNA) == ("QC",)
    last = at_hand("9H", going_out="no_discard")
    assert set(last.options(ANNA)) == {LayOff("m1", placed("9H"), "high"), Pass()}
    last.answer(ANNA, LayOff("m1", placed("9H"), "high"))
    assert is_out(last)


def test_a_pass_at_the_end_of_a_turn_is_for_that_turn_only() -> None:
    t = at_hand("KC", going_out="no_discard")
    assert t.refusal(ANNA, Pass(rest_of_round=True)) == IllegalMove("pass_not_allowed")
    t.answer(ANNA, Pass())
    assert t.round.turn == BORIS


def test_a_last_card_of_who_is_not_down_stays_in_hand_under_every_knob() -> None:
    for how in ("either", "discard_required", "no_discard"):
        t = at_hand("KC", down=False, going_out=how)
        assert t.options(ANNA) == (Pass(),)
        assert t.refusal(ANNA, Discard("KC")) == IllegalMove("not_down")


def test_the_card_just_taken_goes_back_only_where_nothing_else_is_left() -> None:
    knob: dict[str, Json] = {"no_return": True, "buy": {"allowed": False}}
    free = open_discard("davis", ["KC", "QC QD", "JC"], "7H", overrides={"buy": {"allowed": False}})
    free.answer(BORIS, TakeDiscard())
    assert Discard("7H") in free.options(BORIS)
    t = open_discard("davis", ["KC", "QC QD", "JC"], "7H", overrides=knob)
    t.answer(BORIS, TakeDiscard())
    assert t.refusal(BORIS, Discard("7H")) == IllegalMove("no_return")
    drawn = open_discard("davis", ["KC", "QC QD", "JC"], "7H", overrides=knob, stock="7H 3C")
    drawn.answer(BORIS, DrawStock())
    assert Discard("7H") in drawn.options(BORIS)
    only = open_discard("davis", ["KC", "7H", "JC"], "7H", down=[BORIS], overrides=knob)
    only.answer(BORIS, TakeDiscard())
    assert only.options(BORIS) == (Discard("7H"),)


def test_nothing_but_drawing_begins_a_turn_and_nothing_draws_later() -> None:
    t = open_discard("davis", ["KC KD", f"{SIX} KC", "JC JD"], "7H")
    for early in (TWO_SETS, LayOff("m1", placed("4H")), SwapWild("m1", "JK", as_="6H", card="6H"), Pass()):
        assert t.refusal(BORIS, early) == IllegalMove("must_draw")
    t.answer(BORIS, TakeDiscard())
    for late in (DrawStock(), TakeDiscard(), Buy("7H"), CallShanghai("m1")):
        assert t.refusal(BORIS, late) == IllegalMove("already_drawn")


def test_the_forehands_extra_card_is_bought_or_taken_like_any_discard() -> None:
    hands = ["4D 2H 9C 9D 9H 4C 4H 5H 6S 8D TD QC KC", *["2D 2H 9C 9D 9H 4C 4H 5H 6S 8D TD QC"] * 3]
    t = table("black-twos", hands, pile=())
    t.happens(e.TurnBegan(ANNA, "discard", discard_open=False, claimants=()))
    t.answer(ANNA, Discard("4D"))
    assert {len(t.hand(seat)) for seat in range(4)} == {12}
    assert t.asked() == {BORIS: "draw", CLARA: "claim", DAVID: "claim"}
    assert TakeDiscard() in t.options(BORIS)
    assert Buy("4D") in t.options(CLARA)


@pytest.mark.parametrize("hand", [TWELVE, f"{TWELVE} KC"])
def test_in_a_normal_last_round_the_contract_leaves_what_it_leaves(hand: str) -> None:
    t = at_hand(f"{hand} KD", number=7, down=False)
    t.answer(ANNA, THREE_RUNS)
    assert "KD" in t.hand(ANNA)
    assert not is_out(t)


def test_the_special_last_round_leads_over_how_one_goes_out() -> None:
    rules: dict[str, Json] = {"last_round": "empty_hand", "going_out": "no_discard", "deal": {"cards": [13]}}
    t = table("davis", [f"{TWELVE} KC", "JC", "TC"], number=7, overrides=rules)
    t.answer(ANNA, THREE_RUNS)
    assert t.options(ANNA) == (Discard("KC"),)
    t.answer(ANNA, Discard("KC"))
    assert is_out(t)
    required: dict[str, Json] = {**rules, "going_out": "discard_required"}
    none_left = table("davis", [TWELVE, "JC", "TC"], number=7, overrides=required)
    none_left.answer(ANNA, THREE_RUNS)
    assert is_out(none_left)


def test_in_the_special_last_round_every_card_is_laid_in_the_contracts_own_melds() -> None:
    t = table("jokers", [f"{TWELVE} 6S JH", "JC", "TC"], number=7)
    longer = lay_down(("run", "2S 3S 4S 5S 6S"), ("run", "7H 8H 9H TH JH"), ("run", "3D 4D 5D 6D"))
    t.answer(ANNA, longer)
    assert is_out(t)


def test_with_individual_contracts_the_special_last_round_is_that_of_the_last_contract() -> None:
    own: dict[str, Json] = {"progression": "individual", "end": "first_through"}
    t = table("davis", [f"{SIX} KC QC", "JC", "TC"], overrides=own)
    t.answer(ANNA, TWO_SETS)
    assert t.hand(ANNA) == ("QC", "KC")
    last = table("davis", [f"{TWELVE} KC", "JC", "TC"], number=7, overrides=own)
    assert last.refusal(ANNA, THREE_RUNS) == IllegalMove("must_empty_hand")
