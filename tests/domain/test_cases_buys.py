"""Who is asked about the open discard, who may buy it, and what a buy costs."""

import pytest

from domain import events as e
from domain.bots import choose
from domain.commands import Answer, Buy, CallShanghai, Discard, DrawStock, Pass, TakeDiscard
from domain.decide import decide
from domain.presets import Json
from domain.refusals import DecisionClosed, IllegalMove, Refused
from domain.view import view_for
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, meld, open_discard, table

FOUR = ["KC KD", "QC QD", "JC JD", "TC TD"]
NO_BUYS: dict[str, Json] = {"buy": {"allowed": False}}
SPADES = meld(ANNA, "run", "5S 6S 7S 8S")


def opening(t: Table, card: str = "KC") -> Table:
    """Lets Anna discard, so that the window opens as the rules have it."""
    t.answer(ANNA, Discard(card))
    return t


def test_only_seats_with_a_right_are_asked() -> None:
    assert opening(table("davis", FOUR)).asked() == {BORIS: "draw", CLARA: "claim", DAVID: "claim"}
    assert opening(table("davis", FOUR, overrides=NO_BUYS)).asked() == {BORIS: "draw"}


def test_a_card_that_fits_a_meld_is_asked_of_everybody_down_or_not() -> None:
    hands = ["4S KD", "QC QD", "JC JD", "TC TD"]
    t = opening(table("davis", hands, melds=[SPADES], down=[ANNA, CLARA], overrides=NO_BUYS), "4S")
    assert t.asked() == {BORIS: "draw", CLARA: "claim", DAVID: "claim"}
    assert t.options(DAVID) == (CallShanghai("m1", "low"), Pass(), Pass(rest_of_round=True))
    assert t.options(BORIS) == (DrawStock(), TakeDiscard(), CallShanghai("m1", "low"))


def test_who_has_used_up_all_buys_of_the_round_is_asked_only_where_the_card_can_be_called() -> None:
    t = table("davis", FOUR)
    t.has(DAVID, buys=2)
    assert opening(t).asked() == {BORIS: "draw", CLARA: "claim"}
    fits = table("davis", ["4S KD", "QC QD", "JC JD", "TC TD"], melds=[SPADES], down=[ANNA])
    fits.has(DAVID, buys=2)
    opening(fits, "4S")
    assert fits.options(DAVID) == (CallShanghai("m1", "low"), Pass(), Pass(rest_of_round=True))
    assert fits.refusal(DAVID, Buy("4S")) == IllegalMove("buy_limit_reached")


def test_buys_may_be_limited_for_the_whole_game() -> None:
    t = open_discard("davis", FOUR, "7H", overrides={"buy": {"per_game": 7}})
    t.has(CLARA, buys_in_game=7)
    t.has(DAVID, buys=1, buys_in_game=6)
    assert Buy("7H") not in t.options(CLARA)
    assert Buy("7H") in t.options(DAVID)


def test_the_limit_of_a_round_starts_anew_with_the_next_and_that_of_the_game_does_not() -> None:
    t = open_discard("davis", FOUR, "7H", overrides={"buy": {"per_game": 7}})
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert (t.game.seats[CLARA].buys, t.game.seats[CLARA].buys_in_game) == (1, 1)
    hands = tuple(seat.hand for seat in t.game.seats)
    t.happens(e.RoundDealt(2, t.round.contracts, BORIS, "00" * 32, hands, "7D", ("3C",)))
    assert (t.game.seats[CLARA].buys, t.game.seats[CLARA].buys_in_game) == (0, 1)


def test_everybody_sees_how_many_buys_a_seat_has_left() -> None:
    limits: dict[str, Json] = {"buy": {"per_round": 2, "per_game": 7}}
    t = table("davis", FOUR, overrides=limits)
    t.has(BORIS, buys=1, buys_in_game=3)
    t.has(CLARA, buys=0, buys_in_game=6)
    t.has(DAVID, buys=2, buys_in_game=2)
    assert [seat.buys_left for seat in view_for(t.game, ANNA).seats] == [2, 1, 1, 0]
    assert view_for(table("black-twos", FOUR).game, ANNA).seats[BORIS].buys_left is None
    assert view_for(table("carioca", FOUR).game, ANNA).seats[BORIS].buys_left == 0


@pytest.mark.parametrize("allowed", [True, False])
def test_whether_a_seat_that_is_down_may_buy_is_a_knob(allowed: bool) -> None:
    t = opening(table("davis", FOUR, down=[CLARA], overrides={"buy": {"down_may_buy": allowed}}))
    assert (CLARA in t.asked()) == allowed


def test_a_seat_that_may_not_buy_when_down_is_told_so_where_it_may_call() -> None:
    hands = ["4S KD", "QC QD", "JC JD", "TC TD"]
    no: dict[str, Json] = {"buy": {"down_may_buy": False}}
    t = opening(table("davis", hands, melds=[SPADES], down=[ANNA, CLARA], overrides=no), "4S")
    assert t.refusal(CLARA, Buy("4S")) == IllegalMove("buying_not_allowed")


def test_a_buyer_takes_what_penalty_the_stock_still_gives() -> None:
    t = open_discard("davis", FOUR, "7H", stock="3C", below=())
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert t.hand(CLARA) == ("3C", "JC", "JD", "7H")
    assert t.game.seats[CLARA].buys == 1


def test_buying_may_be_off_where_the_penalty_cannot_be_paid() -> None:
    short: dict[str, Json] = {"buy": {"when_short": "not_offered"}}
    hands = ["7H KD", "QC QD", "JC JD", "TC TD"]
    paid = opening(table("davis", hands, stock="3C 3D", pile=(), overrides=short), "7H")
    assert CLARA in paid.asked()
    renewed = opening(table("davis", hands, stock="3C", pile=((DAVID, "9D"), (ANNA, "9C")), overrides=short), "7H")
    assert CLARA in renewed.asked()
    unpaid = opening(table("davis", hands, stock="3C", pile=((DAVID, "9D"),), overrides=short), "7H")
    assert unpaid.asked() == {BORIS: "draw"}


@pytest.mark.parametrize(("number", "penalty"), [(1, 1), (6, 1), (7, 2)])
def test_the_penalty_may_go_by_the_round(number: int, penalty: int) -> None:
    t = open_discard("may-i", FOUR, "7H", number=number)
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert len(t.hand(CLARA)) == 2 + 1 + penalty


def test_a_buy_may_cost_no_penalty_at_all() -> None:
    t = open_discard("jokers", FOUR, "7H", overrides={"buy": {"penalty": [0]}})
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert t.hand(CLARA) == ("JC", "JD", "7H")


def test_a_buy_cannot_be_withdrawn() -> None:
    t = open_discard("davis", FOUR, "7H")
    decision = t.decision(CLARA)
    assert decision is not None
    t.answer(CLARA, Buy("7H"))
    for move in (Pass(), Buy("7H")):
        with pytest.raises(Refused) as refused:
            decide(Answer(CLARA, decision.decision_id, move), t.game)
        assert refused.value.broken == DecisionClosed(decision.decision_id)


def test_a_bot_that_is_down_lets_a_joker_go() -> None:
    t = open_discard("jokers", FOUR, "JK", down=[CLARA])
    decision = t.decision(CLARA)
    assert decision is not None
    assert Buy("JK") in t.options(CLARA)
    assert choose(view_for(t.game, CLARA), decision.decision_id, t.game.rules, "normal") == Pass()
