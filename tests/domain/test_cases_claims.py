"""The window of the open discard: who is heard, what it waits for, when it closes, and what opens anew."""

import pytest

from domain import events as e
from domain.commands import (
    ActForSeat,
    Buy,
    CallShanghai,
    ChangeController,
    CloseClaims,
    Discard,
    DrawStock,
    Pass,
    TakeDiscard,
)
from domain.decide import decide
from domain.presets import Json
from domain.refusals import DecisionClosed, IllegalMove, NotYourTurn, Outdated, Refused
from domain.visible import seat_of, visible_data
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, kinds, meld, open_discard, table

FOUR = ["KC KD", "QC QD", "JC JD", "TC TD"]
NO_BUYS: dict[str, Json] = {"buy": {"allowed": False}}
SPADES = meld(ANNA, "run", "5S 6S 7S 8S")


def test_a_buy_is_heard_by_all_and_a_pass_by_nobody() -> None:
    t = open_discard("davis", FOUR, "7H")
    buy = t.answer(DAVID, Buy("7H"))[0]
    passed = t.answer(CLARA, Pass(rest_of_round=True))[0]
    for viewer in (ANNA, BORIS, DAVID, None):
        assert seat_of(buy, viewer) == DAVID
        assert seat_of(passed, viewer) is None
        assert visible_data(passed, viewer) == visible_data(e.Passed(DAVID, rest_of_round=False), None)
    assert seat_of(passed, CLARA) == CLARA


def test_the_decline_is_public_and_the_card_follows_when_the_window_closes() -> None:
    t = open_discard("davis", FOUR, "7H")
    assert kinds(t.answer(BORIS, DrawStock())) == ["DrawDeclined"]
    assert t.asked() == {CLARA: "claim", DAVID: "claim"}
    t.answer(CLARA, Pass())
    assert kinds(t.answer(DAVID, Pass())) == ["Passed", "ClaimsClosed", "CardDrawn"]


def test_a_draw_that_nobody_has_to_wait_for_is_carried_out_at_once() -> None:
    assert kinds(open_discard("davis", FOUR, "7H", overrides=NO_BUYS).answer(BORIS, DrawStock())) == ["CardDrawn"]
    assert kinds(open_discard("davis", FOUR[:2], "7H").answer(BORIS, DrawStock())) == ["CardDrawn"]


def test_with_a_window_of_full_length_nobody_is_waited_for_where_nobody_has_a_right() -> None:
    t = open_discard("davis", FOUR, "7H", overrides=NO_BUYS, claims="full")
    assert kinds(t.answer(BORIS, DrawStock())) == ["CardDrawn"]


def test_a_window_whose_time_is_over_before_the_decline_closes_with_the_decline() -> None:
    t = open_discard("davis", FOUR, "7H")
    assert t.round.window is not None
    close = CloseClaims(t.round.window.opened_at)
    with pytest.raises(Refused) as early:
        decide(close, t.game)
    assert early.value.broken == Outdated()
    t.answer(DAVID, Buy("7H"))
    t.answer(BORIS, DrawStock())
    assert kinds(t.carry_out(close)) == ["ClaimsClosed", "CardBought", "DiscardOpened"]


def test_a_silent_player_in_turn_is_declined_for_by_the_timer_and_the_others_keep_their_right() -> None:
    t = open_discard("davis", FOUR, "7H")
    decision = t.decision(BORIS)
    assert decision is not None
    assert kinds(t.carry_out(ActForSeat(BORIS, decision.decision_id))) == ["DrawDeclined"]
    assert t.asked() == {CLARA: "claim", DAVID: "claim"}
    assert Buy("7H") in t.options(CLARA)


def test_the_timer_passes_for_a_seat_that_does_not_answer() -> None:
    t = open_discard("davis", FOUR, "7H")
    decision = t.decision(CLARA)
    assert decision is not None
    assert t.carry_out(ActForSeat(CLARA, decision.decision_id)) == [e.Passed(CLARA, rest_of_round=False)]


def test_the_window_waits_while_a_nearer_seat_could_still_buy() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(BORIS, DrawStock())
    t.answer(DAVID, Buy("7H"))
    assert t.asked() == {CLARA: "claim"}
    t.answer(CLARA, Pass())
    assert "7H" in t.hand(DAVID)


def test_a_card_that_fits_keeps_no_window_open_in_a_game_without_calls() -> None:
    t = open_discard("may-i", FOUR, "4S", melds=[SPADES], down=[ANNA])
    t.answer(BORIS, DrawStock())
    assert "CardBought" in kinds(t.answer(CLARA, Buy("4S")))


def test_a_first_call_cannot_be_overtaken() -> None:
    t = open_discard("davis", FOUR, "7H", overrides={"buy": {"priority": "first_call"}})
    t.answer(BORIS, DrawStock())
    assert kinds(t.answer(DAVID, Buy("7H"))) == ["BuyRequested", "ClaimsClosed", "CardBought", "DiscardOpened"]


def test_the_window_waits_while_anybody_could_still_call_the_card() -> None:
    hands = ["KC KD", "QC QD", "JC JD", "TC TD"]
    t = open_discard("jokers", hands, "4S", melds=[SPADES], down=[ANNA])
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("4S"))
    assert t.asked() == {DAVID: "claim"}
    t.answer(DAVID, Pass())
    assert "4S" in t.hand(CLARA)


def test_a_pass_for_the_round_ends_with_the_round_or_with_a_new_controller() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(CLARA, Pass(rest_of_round=True))
    assert t.game.seats[CLARA].passes_round
    t.carry_out(ChangeController(CLARA, "human", "ply_other", None, "handed_over"))
    assert not t.game.seats[CLARA].passes_round
    t.answer(DAVID, Pass(rest_of_round=True))
    hands = tuple(seat.hand for seat in t.game.seats)
    t.happens(e.RoundDealt(2, t.round.contracts, BORIS, "00" * 32, hands, "7D", ("3C",)))
    assert not t.game.seats[DAVID].passes_round


def test_a_pass_for_the_round_gives_up_calls_too_but_no_turn() -> None:
    t = table("davis", ["4S KD", "QC QD", "JC JD", "TC TD"], melds=[SPADES], down=[ANNA])
    t.has(CLARA, passes_round=True)
    t.has(BORIS, passes_round=True)
    t.answer(ANNA, Discard("4S"))
    assert t.asked() == {BORIS: "draw", DAVID: "claim"}
    assert TakeDiscard() in t.options(BORIS)


def test_a_card_below_a_bought_one_opens_a_window_of_its_own_again_and_again() -> None:
    t = open_discard("davis", FOUR, "7H", below=((DAVID, "9C"), (CLARA, "4S")))
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert t.pile == ("9C", "4S")
    assert t.asked() == {BORIS: "draw", DAVID: "claim", ANNA: "claim"}
    t.answer(BORIS, DrawStock())
    t.answer(DAVID, Buy("4S"))
    assert "4S" not in t.pile
    assert t.asked() == {BORIS: "draw", CLARA: "claim", ANNA: "claim"}
    t.answer(BORIS, TakeDiscard())
    assert t.asked() == {BORIS: "play"}


def test_after_the_last_card_of_the_pile_was_bought_the_draw_follows() -> None:
    t = open_discard("davis", FOUR, "7H", below=())
    t.answer(BORIS, DrawStock())
    assert kinds(t.answer(CLARA, Buy("7H"))) == ["BuyRequested", "ClaimsClosed", "CardBought", "CardDrawn"]


def test_the_uncovered_card_may_be_the_discard_of_the_player_in_turn() -> None:
    """Boris may take back what he discarded a lap ago, but not call it."""
    t = open_discard(
        "davis", ["KC KD", "QC QD", "JC JD", "TC TD"], "7H", below=((BORIS, "4S"),), melds=[SPADES], down=[ANNA]
    )
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert t.options(BORIS) == (DrawStock(), TakeDiscard())
    assert t.refusal(BORIS, CallShanghai("m1", "low")) == IllegalMove("own_discard")


def test_a_declared_card_stays_protected_until_it_is_covered() -> None:
    hands = ["4S KD KH", "QC", "JC JD", "TC TD"]
    t = table("davis", hands, melds=[SPADES], down=[ANNA])
    t.answer(ANNA, Discard("4S", declare=True))
    t.answer(BORIS, DrawStock())
    t.has(BORIS, hand=("QC",))
    t.answer(BORIS, Pass())
    assert t.asked() == {CLARA: "draw"}
    assert t.options(CLARA) == (DrawStock(),)


def test_the_top_is_open_when_a_turn_begins_however_it_came_there() -> None:
    t = open_discard("davis", ["KC KD", "QC", "JC JD", "TC TD"], "7H", below=((DAVID, "9C"),))
    t.answer(BORIS, TakeDiscard())
    t.has(BORIS, hand=("QC",))
    t.answer(BORIS, Pass())
    assert t.asked() == {CLARA: "draw", ANNA: "claim", BORIS: "claim"}
    assert TakeDiscard() in t.options(CLARA)


def test_between_two_players_a_discard_that_nobody_covered_is_asked_of_the_player_in_turn_alone() -> None:
    t = open_discard("davis", ["KC KD", "QC"], "7H", below=())
    t.answer(BORIS, DrawStock())
    t.has(BORIS, hand=("QC",))
    t.answer(BORIS, Pass())
    assert t.pile == ("7H",)
    assert t.asked() == {ANNA: "draw"}
    assert TakeDiscard() in t.options(ANNA)


def test_who_buys_still_waits_for_his_turn_and_the_player_in_turn_still_acts() -> None:
    t = open_discard("jokers", FOUR, "7H")
    t.answer(CLARA, Buy("7H"))
    t.answer(BORIS, DrawStock())
    assert t.asked() == {BORIS: "play"}
    t.answer(BORIS, Discard("QC"))
    assert t.asked() == {CLARA: "draw", DAVID: "claim", ANNA: "claim"}


def test_answers_that_are_no_answer_to_the_question_are_refused() -> None:
    t = open_discard("davis", FOUR, "7H")
    for move in (DrawStock(), TakeDiscard(), Discard("JC")):
        assert t.refusal(CLARA, move) == NotYourTurn(CLARA, BORIS)
    for other in (Buy("7H"), Pass(), Discard("QC")):
        assert t.refusal(BORIS, other) == IllegalMove("must_draw")


def test_a_card_that_ends_the_round_opens_no_window() -> None:
    t = table("davis", ["KC", "QC QD", "JC JD", "TC TD"], down=[ANNA])
    decision = t.decision(ANNA)
    assert kinds(t.answer(ANNA, Discard("KC"))) == ["CardDiscarded", "RoundEnded"]
    assert t.asked() == {}
    assert decision is not None
    assert isinstance(t.refusal(CLARA, Buy("KC")), DecisionClosed)
