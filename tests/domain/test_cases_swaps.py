"""Taking a wild from the table for the card that it stands for, in all the forms that the games know."""

from collections.abc import Sequence

from domain import events as e
from domain.commands import ActForSeat, Discard, DrawStock, LayDown, LayOff, Pass, SwapWild, WarnTurn
from domain.meld import Meld, Placed
from domain.presets import Json
from domain.refusals import DecisionClosed, IllegalMove, NotYourTurn
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, lay_down, meld, open_discard, placed, table

ANYONES: dict[str, Json] = {"max_wilds": {"kind": "unlimited"}, "swap": {"whose": "any"}}
RUN = meld(BORIS, "run", "4H 5H 2S(6H) 7H")
SIX = SwapWild("m1", "2S", as_="6H", card="6H")


def swapping(
    hand: str, *melds: Meld, preset: str = "jokers", overrides: dict[str, Json] | None = None, down: Sequence[int] = ()
) -> Table:
    rules = ANYONES if overrides is None else overrides
    return table(preset, [hand, "QC QS", "JC JS"], melds=melds, down=down or [ANNA, BORIS], overrides=rules)


def test_the_very_card_takes_the_wilds_place() -> None:
    t = swapping("4H 9C", meld(BORIS, "run", "2H 3H JK(4H) 5H"))
    t.answer(ANNA, SwapWild("m1", "JK", as_="4H", card="4H"))
    assert t.lies("m1") == "2H 3H 4H 5H"
    assert t.hand(ANNA) == ("9C", "JK")


def test_any_other_card_does_not() -> None:
    t = swapping("6H 9C", meld(BORIS, "run", "2H 3H JK(4H) 5H"))
    assert t.refusal(ANNA, SwapWild("m1", "JK", as_="4H", card="6H")) == IllegalMove("not_represented")
    assert t.refusal(ANNA, SwapWild("m1", "JK", as_="6H", card="6H")) == IllegalMove("not_represented")
    assert t.refusal(ANNA, SwapWild("m1", "JK", as_="4H", card="4H")) == IllegalMove("card_not_in_hand")
    assert t.refusal(ANNA, SwapWild("m9", "JK", as_="4H", card="6H")) == IllegalMove("meld_not_found")
    assert not any(isinstance(move, SwapWild) for move in t.options(ANNA))


def test_a_swap_may_leave_more_wilds_than_a_first_laying_may_hold() -> None:
    first: dict[str, Json] = {
        "max_wilds": {"kind": "not_more_than_naturals", "at": "first_laying"}, "swap": {"whose": "any"},
    }  # fmt: skip
    run = meld(BORIS, "run", "5C 6C JK(7C) JK(8C) JK(9C) JK(TC) JK(JC) JK(QC)")
    t = swapping("7C 9S", run, overrides=first)
    t.answer(ANNA, SwapWild("m1", "JK", as_="7C", card="7C"))
    assert t.lies("m1") == "5C 6C 7C JK(8C) JK(9C) JK(TC) JK(JC) JK(QC)"


def test_swapping_in_sets_is_a_knob_and_takes_any_natural_of_the_rank() -> None:
    eights = meld(BORIS, "set", "8H 8D JK(8)")
    swap = SwapWild("m1", "JK", as_="8", card="8S")
    assert swapping("8S 9C", eights).refusal(ANNA, swap) == IllegalMove("swap_not_allowed")
    sets: dict[str, Json] = {"swap": {"whose": "any", "sets": True}}
    t = swapping("8S 9C", eights, overrides=sets)
    t.answer(ANNA, swap)
    assert sorted(t.lies("m1").split()) == ["8D", "8H", "8S"]
    assert t.hand(ANNA) == ("9C", "JK")


def test_whose_wilds_are_taken_is_a_knob() -> None:
    own, theirs = meld(ANNA, "run", "2H 3H JK(4H) 5H"), meld(BORIS, "run", "2H 3H JK(4H) 5H")
    for whose, mine, others in (("none", False, False), ("opponents", False, True), ("any", True, True)):
        t = swapping("4H 9C 9D", own, theirs, overrides={"swap": {"whose": whose}})
        for meld_id, allowed in (("m1", mine), ("m2", others)):
            swap = SwapWild(meld_id, "JK", as_="4H", card="4H")
            assert (swap in t.options(ANNA)) == allowed
            if not allowed:
                assert t.refusal(ANNA, swap) == IllegalMove("swap_not_allowed")


def test_only_a_player_who_is_down_swaps_in_turn_and_after_the_draw() -> None:
    run = meld(BORIS, "run", "2H 3H JK(4H) 5H")
    swap = SwapWild("m1", "JK", as_="4H", card="4H")
    assert swapping("4H 9C", run, down=[BORIS]).refusal(ANNA, swap) == IllegalMove("not_down")
    before_the_draw = open_discard(
        "jokers", ["KC", "4H 9C", "4H JS"], "8D", melds=[run], down=[BORIS, CLARA], overrides=ANYONES
    )
    assert before_the_draw.refusal(BORIS, swap) == IllegalMove("must_draw")
    assert before_the_draw.refusal(CLARA, swap) == NotYourTurn(CLARA, BORIS)


def test_a_wild_may_be_swapped_in_the_very_turn_of_going_down_unless_adding_waits_for_the_next() -> None:
    run, hand = meld(BORIS, "run", "2H 3H JK(4H) 5H"), "7C 7D 7S 9C 9D 9S 4H KC"
    down = lay_down(("set", "7C 7D 7S"), ("set", "9C 9D 9S"))
    swap = SwapWild("m1", "JK", as_="4H", card="4H")
    t = swapping(hand, run, down=[BORIS])
    t.answer(ANNA, down)
    t.answer(ANNA, swap)
    assert t.hand(ANNA) == ("KC", "JK")
    later = swapping(hand, run, down=[BORIS], overrides={**ANYONES, "lay_off": "later_turn"})
    later.answer(ANNA, down)
    assert later.refusal(ANNA, swap) == IllegalMove("later_turn")
    assert swap not in later.options(ANNA)


def test_a_natural_by_its_own_face_cannot_be_swapped_out() -> None:
    run, queens = meld(BORIS, "run", "AS 2S 3S 4S"), meld(CLARA, "set", "QH QD QC")
    t = swapping("2S KD KC", run, queens, preset="black-twos", overrides={})
    assert t.refusal(ANNA, SwapWild("m1", "2S", as_="2S", card="2S")) == IllegalMove("not_represented")


def test_the_owed_wild_is_laid_first_and_company_may_go_with_it() -> None:
    queens = meld(CLARA, "set", "QD QH QC")
    t = swapping("6H QS KD KC", RUN, queens, preset="black-twos", overrides={})
    t.answer(ANNA, SIX)
    for move in (Discard("KD"), Discard("2S"), LayOff("m2", placed("QS")), SIX, Pass(), lay_down(("set", "KD KC 2S"))):
        assert t.refusal(ANNA, move) == IllegalMove("wild_must_be_melded")
    t.answer(ANNA, LayOff("m2", placed("2S(Q) QS")))
    assert t.lies("m2") == "QD QH QC 2S(Q) QS"
    t.answer(ANNA, Discard("KD"))


def test_while_a_wild_is_owed_no_new_meld_is_offered() -> None:
    queens = meld(CLARA, "set", "QD QH QC")
    t = swapping("6H 9D KD KC KS", RUN, queens, preset="black-twos", overrides={"extra_melds": True})
    assert any(isinstance(move, LayDown) for move in t.options(ANNA))
    t.answer(ANNA, SIX)
    assert all(isinstance(move, LayOff) for move in t.options(ANNA))


def test_the_owed_wild_does_not_go_back_where_it_came_from() -> None:
    queens = meld(CLARA, "set", "QD QH QC")
    t = swapping("6H KD", RUN, queens, preset="black-twos", overrides={})
    t.answer(ANNA, SIX)
    assert t.refusal(ANNA, LayOff("m1", placed("2S(8H)"))) == IllegalMove("wild_must_be_melded")


def test_an_owed_wild_may_need_a_card_of_the_hand_beside_it() -> None:
    half: dict[str, Json] = {"max_wilds": {"kind": "not_more_than_naturals"}}
    full = meld(CLARA, "set", "QD 2C(Q)")
    alone = swapping("6H KD KC", RUN, full, preset="black-twos", overrides=half)
    assert alone.refusal(ANNA, SIX) == IllegalMove("no_place_for_wild")
    t = swapping("6H QS KC", RUN, full, preset="black-twos", overrides=half)
    assert SIX in t.options(ANNA)
    t.answer(ANNA, SIX)
    assert t.options(ANNA) == (LayOff("m2", placed("2S(Q) QS")),)
    t.answer(ANNA, t.options(ANNA)[0])
    assert t.options(ANNA)[-1] == Discard("KC")


def test_company_may_leave_the_owed_wild_two_places() -> None:
    half: dict[str, Json] = {"max_wilds": {"kind": "not_more_than_naturals"}}
    run = meld(CLARA, "run", "5D 6D 2C(7D) 2C(8D)")
    t = swapping("6H 4D KC", RUN, run, preset="black-twos", overrides=half)
    t.answer(ANNA, SIX)
    assert t.options(ANNA) == (LayOff("m2", placed("2S(3D) 4D")), LayOff("m2", placed("4D 2S(9D)")))
    t.answer(ANNA, t.options(ANNA)[1])
    assert t.lies("m2") == "4D 5D 6D 2C(7D) 2C(8D) 2S(9D)"


def test_a_black_two_in_its_own_suit_may_need_a_row_of_company() -> None:
    one_each: dict[str, Json] = {"max_wilds": {"kind": "per_meld", "n": 1}}
    run = meld(CLARA, "run", "7S 8S 9S 2C(TS)")
    t = swapping("6H 3S 4S 5S 6S KC", RUN, run, preset="black-twos", overrides=one_each)
    t.answer(ANNA, SIX)
    t.answer(ANNA, t.options(ANNA)[0])
    assert t.lies("m2") == "2S 3S 4S 5S 6S 7S 8S 9S 2C(TS)"


def test_a_swap_after_which_no_discard_would_be_left_is_refused() -> None:
    half: dict[str, Json] = {
        "max_wilds": {"kind": "not_more_than_naturals"}, "going_out": "discard_required", "last_round": "normal",
        "deal": {"cards": [13]},
    }  # fmt: skip
    t = swapping("6H QS", RUN, meld(CLARA, "set", "QD 2C(Q)"), preset="black-twos", overrides=half)
    assert t.refusal(ANNA, SIX) == IllegalMove("no_place_for_wild")
    assert SIX not in t.options(ANNA)


def test_the_timer_lays_an_owed_wild_on_the_first_listed_place() -> None:
    queens, kings = meld(CLARA, "set", "QD QH QC"), meld(CLARA, "set", "KD KH KC")
    t = swapping("6H 9D", RUN, queens, kings, preset="black-twos", overrides={})
    t.answer(ANNA, SIX)
    first = t.options(ANNA)[0]
    decision = t.decision(ANNA)
    assert decision is not None
    t.carry_out(ActForSeat(ANNA, decision.decision_id))
    assert first == LayOff("m2", (Placed("2S", "Q"),))
    assert t.lies("m2") == "QD QH QC 2S(Q)"
    assert t.round.turn == ANNA


def test_without_the_duty_the_wild_is_the_players_to_use() -> None:
    t = swapping("4H 9C", meld(BORIS, "run", "2H 3H JK(4H) 5H"))
    t.answer(ANNA, SwapWild("m1", "JK", as_="4H", card="4H"))
    assert Discard("JK") in t.options(ANNA)
    assert LayOff("m1", placed("JK(AH)"), "low") in t.options(ANNA)


MOVE: dict[str, Json] = {"swap": {"whose": "move"}, "last_round": "normal"}


def moving(hand: str, run: str, **more: Json) -> Table:
    return swapping(hand, meld(BORIS, "run", run), preset="contract-rummy", overrides={**MOVE, **more})


def test_a_moved_wild_goes_to_an_end_of_its_run() -> None:
    t = moving("4H 9C", "2H 3H JK(4H) 5H")
    t.answer(ANNA, SwapWild("m1", "JK", as_="4H", card="4H"))
    assert t.lies("m1") == "2H 3H 4H 5H JK(6H)"
    assert t.hand(ANNA) == ("9C",)


def test_a_moved_wild_goes_to_the_low_end_where_the_high_one_is_full() -> None:
    t = moving("QH 9C", "JH JK(QH) KH AH")
    t.answer(ANNA, SwapWild("m1", "JK", as_="QH", card="QH"))
    assert t.lies("m1") == "JK(TH) JH QH KH AH"


def test_a_wild_that_could_go_nowhere_is_not_moved() -> None:
    whole = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH JK(QH) KH AH"
    t = moving("QH 9C", whole)
    swap = SwapWild("m1", "JK", as_="QH", card="QH")
    assert t.refusal(ANNA, swap) == IllegalMove("meld_full")
    assert swap not in t.options(ANNA)


def test_a_hand_emptied_by_a_moved_wild_ends_the_round() -> None:
    t = moving("4H", "2H 3H JK(4H) 5H")
    t.answer(ANNA, SwapWild("m1", "JK", as_="4H", card="4H"))
    last = t.events[-1]
    assert isinstance(last, e.RoundEnded)
    assert (last.seat, last.reason) == (ANNA, "out")


def test_a_moved_wild_may_not_cost_the_discard_that_must_be_kept() -> None:
    t = moving("4H", "2H 3H JK(4H) 5H", going_out="discard_required", deal={"cards": [13]})
    swap = SwapWild("m1", "JK", as_="4H", card="4H")
    assert t.refusal(ANNA, swap) == IllegalMove("keep_a_discard")
    assert t.options(ANNA) == (Discard("4H"),)


EIGHTS = "8H 8D JK(8)"


def round_the_table(*hands: str, down: Sequence[int] = (ANNA, BORIS, CLARA, DAVID), **knobs: Json) -> Table:
    """Anna, who is down, can lay a joker on Boris's queens; the others hold eights or not."""
    melds = [meld(CLARA, "set", EIGHTS), meld(BORIS, "set", "QD QH QC")]
    return table("king-rummy", hands, melds=melds, down=down, overrides=knobs)


def test_after_wilds_were_laid_everybody_who_is_down_is_asked_in_turn() -> None:
    t = round_the_table("JK KC 9C", "8S KD", "8C KH", "KS 2C")
    t.answer(ANNA, LayOff("m2", placed("JK")))
    assert t.asked() == {BORIS: "claim"}
    swap = SwapWild("m1", "JK", as_="8", card="8S")
    assert t.options(BORIS) == (swap, Pass())
    t.answer(BORIS, swap)
    assert t.hand(BORIS) == ("KD", "JK")
    assert t.asked() == {CLARA: "claim"}
    assert t.options(CLARA) == (Pass(),)
    t.answer(CLARA, Pass())
    t.answer(DAVID, Pass())
    assert t.asked() == {ANNA: "play"}
    t.answer(ANNA, Discard("KC"))


def test_nobody_goes_on_before_an_offer_is_answered() -> None:
    t = round_the_table("JK KC 9C", "8S KD", "8C KH", "KS 2C")
    decision = t.decision(ANNA)
    assert decision is not None
    t.answer(ANNA, LayOff("m2", placed("JK")))
    assert isinstance(t.refusal(ANNA, Discard("KC")), DecisionClosed)
    assert t.refusal(BORIS, DrawStock()) == NotYourTurn(BORIS, ANNA)
    assert t.refusal(BORIS, Pass(rest_of_round=True)) == IllegalMove("pass_not_allowed")


def test_who_is_not_down_is_offered_nothing() -> None:
    t = round_the_table("JK KC 9C", "8S KD", "8C KH", "KS 2C", down=[ANNA, CLARA])
    t.answer(ANNA, LayOff("m2", placed("JK")))
    assert t.asked() == {CLARA: "claim"}
    t.answer(CLARA, Pass())
    assert t.asked() == {ANNA: "play"}


def test_a_lay_off_without_a_wild_offers_nothing() -> None:
    t = round_the_table("8C KC 9C", "8S KD", "2D KH", "KS 2C")
    t.answer(ANNA, LayOff("m1", placed("8C")))
    assert t.asked() == {ANNA: "play"}


def test_going_down_with_a_wild_offers_it_before_the_discard() -> None:
    hand = "7D 7S JK 5C 6C 7C 8C KC 9C"
    t = round_the_table(hand, "8S KD", "8C KH", "KS 2C", down=[BORIS])
    t.answer(ANNA, lay_down(("set", "7D 7S JK"), ("run", "5C 6C 7C 8C")))
    assert t.asked() == {BORIS: "claim"}


def test_who_has_just_gone_down_keeps_nobody_else_from_an_offer() -> None:
    hand = "7D 7S JK 5C 6C 7C 8C KC 9C"
    t = round_the_table(hand, "8S KD", "8C KH", "KS 2C", down=[BORIS], lay_off="later_turn")
    t.answer(ANNA, lay_down(("set", "7D 7S JK"), ("run", "5C 6C 7C 8C")))
    swap = SwapWild("m1", "JK", as_="8", card="8S")
    assert t.options(BORIS) == (swap, Pass())
    t.answer(BORIS, swap)
    assert t.hand(BORIS) == ("KD", "JK")


def test_the_timer_lets_an_offer_pass() -> None:
    t = round_the_table("JK KC 9C", "8S KD", "8C KH", "KS 2C", down=[ANNA, BORIS])
    t.answer(ANNA, LayOff("m2", placed("JK")))
    decision = t.decision(BORIS)
    assert decision is not None
    events = t.carry_out(ActForSeat(BORIS, decision.decision_id))
    assert events == [e.SwapDeclined(BORIS)]
    assert t.asked() == {ANNA: "play"}


def test_who_is_offered_a_wild_is_warned_and_not_the_player_in_turn() -> None:
    t = round_the_table("JK KC 9C", "8S KD", "8C KH", "KS 2C", down=[ANNA, BORIS])
    t.answer(ANNA, LayOff("m2", placed("JK")))
    assert t.carry_out(WarnTurn(t.round.clock_at)) == [e.TurnWarned(BORIS)]
