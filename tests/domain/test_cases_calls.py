"""Calling Shanghai on the open discard: who pays how, what a false call costs, what lies open afterwards."""

import pytest

from domain import events as e
from domain.commands import Buy, CallShanghai, Discard, DrawStock, LeaveForGood, Move, Pass, TakeDiscard
from domain.presets import Json
from domain.refusals import DecisionClosed, IllegalMove
from domain.visible import visible_data
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, meld, open_discard, table

SPADES = meld(ANNA, "run", "5S 6S 7S 8S")
HANDS = ["KC KD", "QC QD", "JC JD", "2H 3S KH"]
LOW = CallShanghai("m1", "low")


def four_of_spades(preset: str, *hands: str, by: int | None = BORIS, overrides: dict[str, Json] | None = None) -> Table:
    """Boris has discarded the four of spades, which fits Anna's run; Clara is in turn."""
    return open_discard(
        preset, hands or HANDS, "4S", by=by, turn=CLARA, below=((ANNA, "9D"),), melds=[SPADES], down=[ANNA],
        overrides=overrides,
    )  # fmt: skip


def called(events: list[e.Event]) -> e.ShanghaiCalled:
    return next(event for event in events if isinstance(event, e.ShanghaiCalled))


def test_where_the_caller_pays_he_draws_a_card_from_the_stock() -> None:
    t = four_of_spades("jokers")
    event = called(t.answer(DAVID, LOW))
    assert t.lies("m1") == "4S 5S 6S 7S 8S"
    assert (event.from_seat, event.to_seat, event.penalty_card) == (None, DAVID, "3C")
    assert t.hand(DAVID) == ("3C", "2H", "KH", "3S")


def test_where_the_culprit_pays_he_draws_a_card_of_the_caller_that_only_they_see() -> None:
    t = four_of_spades("davis")
    event = called(t.answer(DAVID, LOW))
    assert event.penalty_card is not None
    assert len(t.hand(DAVID)) == 2
    assert sorted([*t.hand(DAVID), event.penalty_card]) == ["2H", "3S", "KH"]
    assert sorted(t.hand(BORIS)) == sorted(["QC", "QD", event.penalty_card])
    seen = {viewer: '"' in repr(visible_data(event, viewer)) for viewer in (ANNA, BORIS, CLARA, DAVID, None)}
    told = {viewer: getattr(visible_data(event, viewer), "penalty_card", None) for viewer in seen}
    assert [viewer for viewer, card in told.items() if card == event.penalty_card] == [BORIS, DAVID]


def test_where_the_discarder_takes_the_card_back_he_draws_another_and_nothing_is_laid() -> None:
    hands = ["KC KD", "QC QD", "JC JD", "2H 3S KH"]
    t = four_of_spades("liverpool", *hands)
    event = called(t.answer(DAVID, LOW))
    assert event.taken_back
    assert t.lies("m1") == "5S 6S 7S 8S"
    assert sorted(t.hand(BORIS)) == ["3C", "4S", "QC", "QD"]
    assert t.hand(DAVID) == ("2H", "KH", "3S")
    assert t.options(CLARA) == (DrawStock(),)


def test_a_first_upcard_or_the_discard_of_who_has_left_is_not_taken_back() -> None:
    upcard = four_of_spades("liverpool", by=None)
    assert not any(isinstance(move, CallShanghai) for move in upcard.options(DAVID))
    assert upcard.refusal(DAVID, LOW) == IllegalMove("calling_not_allowed")
    left = four_of_spades("liverpool", overrides={"leaver": "out"})
    left.carry_out(LeaveForGood(BORIS))
    assert left.refusal(DAVID, LOW) == IllegalMove("calling_not_allowed")


def test_a_first_upcard_has_no_culprit_and_the_call_is_free() -> None:
    t = four_of_spades("davis", by=None)
    event = called(t.answer(DAVID, LOW))
    assert (event.from_seat, event.to_seat, event.penalty_card) == (None, None, None)
    assert t.hand(DAVID) == ("2H", "KH", "3S")


def test_a_culprit_who_has_left_for_good_draws_nothing() -> None:
    t = four_of_spades("davis", overrides={"leaver": "out"})
    t.carry_out(LeaveForGood(BORIS))
    assert called(t.answer(DAVID, LOW)).penalty_card is None
    assert len(t.hand(DAVID)) == 3


def test_a_caller_draws_nothing_where_nothing_is_left() -> None:
    t = open_discard(
        "jokers", HANDS, "4S", by=BORIS, turn=CLARA, below=(), stock="", melds=[SPADES], down=[ANNA]
    )  # fmt: skip
    event = called(t.answer(DAVID, LOW))
    assert (event.to_seat, event.penalty_card) == (None, None)
    assert len(t.hand(DAVID)) == 3


def test_a_callers_penalty_takes_the_last_stock_card_without_renewing() -> None:
    t = open_discard(
        "jokers", HANDS, "4S", by=BORIS, turn=CLARA, below=((CLARA, "9C"), (ANNA, "9D")), stock="6C", melds=[SPADES],
        down=[ANNA],
    )  # fmt: skip
    events = t.answer(DAVID, LOW)
    assert [type(event) for event in events] == [e.ClaimsClosed, e.ShanghaiCalled]
    assert called(events).stock_count == len(t.round.stock) == 0


def test_a_callers_penalty_renews_the_stock_and_the_called_card_is_gone_by_then() -> None:
    t = open_discard(
        "jokers", HANDS, "4S", by=BORIS, turn=CLARA, below=((CLARA, "9C"), (ANNA, "9D")), stock="", melds=[SPADES],
        down=[ANNA],
    )  # fmt: skip
    events = t.answer(DAVID, LOW)
    assert [type(event) for event in events] == [e.ClaimsClosed, e.StockRenewed, e.ShanghaiCalled]
    assert "9C" in t.hand(DAVID)
    assert t.pile == ("9D",)


def test_after_a_call_the_card_below_is_open_to_nobody() -> None:
    t = four_of_spades("davis")
    t.answer(DAVID, LOW)
    assert t.pile == ("9D",)
    assert t.asked() == {CLARA: "draw"}
    assert t.options(CLARA) == (DrawStock(),)
    assert t.refusal(CLARA, TakeDiscard()) == IllegalMove("discard_not_open")
    assert t.refusal(CLARA, LOW) == IllegalMove("discard_not_open")
    t.answer(CLARA, DrawStock())
    assert t.asked() == {CLARA: "play"}


def test_the_player_in_turn_may_call_and_draws_from_the_stock_as_well() -> None:
    t = four_of_spades("jokers")
    t.answer(CLARA, LOW)
    assert t.hand(CLARA) == ("3C", "JC", "JD")
    assert t.options(CLARA) == (DrawStock(),)
    t.answer(CLARA, DrawStock())
    assert t.hand(CLARA) == ("3C", "JC", "3D", "JD")


def test_between_two_players_the_one_in_turn_calls_alone() -> None:
    t = open_discard("jokers", ["KC KD", "QC QD"], "4S", by=ANNA, turn=BORIS, melds=[SPADES], down=[ANNA])
    assert t.asked() == {BORIS: "draw"}
    assert [type(event) for event in t.answer(BORIS, LOW)] == [e.ShanghaiCalled]
    assert t.options(BORIS) == (DrawStock(),)


def test_a_draw_chosen_before_the_call_follows_by_itself() -> None:
    t = four_of_spades("davis")
    t.answer(CLARA, DrawStock())
    events = t.answer(DAVID, LOW)
    assert [type(event) for event in events] == [e.ClaimsClosed, e.ShanghaiCalled, e.CardDrawn]
    assert t.asked() == {CLARA: "play"}


def test_the_first_accepted_call_wins() -> None:
    t = four_of_spades("davis")
    anna = t.decision(ANNA)
    t.answer(DAVID, LOW)
    assert anna is not None
    assert t.refusal(ANNA, LOW) == DecisionClosed("none")
    assert t.asked() == {CLARA: "draw"}


def test_a_call_comes_before_every_buy_and_leaves_the_counts_alone() -> None:
    t = four_of_spades("davis")
    t.answer(DAVID, Buy("4S"))
    t.answer(ANNA, LOW)
    assert "4S" not in t.hand(DAVID)
    assert [seat.buys for seat in t.game.seats] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        (CallShanghai("m1", "high"), "does_not_fit"),
        (CallShanghai("m1", "low", "5S"), "role_not_possible"),
        (CallShanghai("m9"), "meld_not_found"),
    ],
)
def test_a_call_names_the_meld_and_the_place(move: Move, reason: str) -> None:
    broken = four_of_spades("davis").refusal(DAVID, move)
    assert isinstance(broken, IllegalMove)
    assert broken.reason == reason


def test_a_call_is_judged_by_the_limits_of_laying_off() -> None:
    run = meld(ANNA, "run", "5S 6S JK(7S) 8S")
    t = open_discard("jokers", HANDS, "JK", by=BORIS, turn=CLARA, melds=[run], down=[ANNA])
    assert not any(isinstance(move, CallShanghai) for move in t.options(DAVID))
    assert t.refusal(DAVID, CallShanghai("m1", "low")) == IllegalMove("false_call")
    free: dict[str, Json] = {"max_wilds": {"kind": "unlimited"}}
    wild = open_discard("jokers", HANDS, "JK", by=BORIS, turn=CLARA, melds=[run], down=[ANNA], overrides=free)
    assert wild.refusal(DAVID, CallShanghai("m1")) == IllegalMove("ambiguous_wild", ("4S", "9S"))
    wild.answer(DAVID, CallShanghai("m1", "high", "9S"))
    assert wild.lies("m1") == "5S 6S JK(7S) 8S JK(9S)"


def test_calling_is_no_part_of_some_games() -> None:
    t = four_of_spades("may-i")
    assert not any(isinstance(move, CallShanghai) for seat in (CLARA, DAVID) for move in t.options(seat))
    assert t.refusal(DAVID, LOW) == IllegalMove("calling_not_allowed")


def test_a_caller_in_the_last_round_goes_out_too_but_has_met_no_contract() -> None:
    individual: dict[str, Json] = {"progression": "individual", "end": "first_through"}
    t = four_of_spades("davis", "KC KD", "QC QD", "JC JD", "KH", overrides=individual)
    events = t.answer(DAVID, LOW)
    ended = events[-1]
    assert isinstance(ended, e.RoundEnded)
    assert (ended.seat, ended.reason) == (DAVID, "out")
    assert not t.game.seats[DAVID].down
    assert "KH" in t.hand(BORIS)


def test_no_draw_follows_a_call_by_which_the_caller_goes_out() -> None:
    t = four_of_spades("davis", "KC KD", "QC QD", "JC JD", "KH")
    t.answer(CLARA, DrawStock())
    assert isinstance(t.answer(DAVID, LOW)[-1], e.RoundEnded)


FALSE: dict[str, Json] = {"shanghai": {"false_call": "caller_draws"}}


def test_a_false_call_is_refused_or_costs_the_caller_a_card() -> None:
    refused = open_discard("davis", HANDS, "KS", by=BORIS, turn=CLARA, melds=[SPADES], down=[ANNA])
    assert refused.refusal(DAVID, LOW) == IllegalMove("false_call")
    t = open_discard("davis", HANDS, "KS", by=BORIS, turn=CLARA, melds=[SPADES], down=[ANNA], overrides=FALSE)
    assert t.answer(DAVID, LOW) == [e.FalseCalled(DAVID, "m1", "KS", ("3C",), 9)]
    assert t.hand(DAVID) == ("3C", "2H", "KH", "3S")
    assert t.pile[-1] == "KS"
    assert t.asked() == {CLARA: "draw", ANNA: "claim"}


def test_the_card_of_a_false_call_is_the_callers_alone() -> None:
    t = open_discard("davis", HANDS, "KS", by=BORIS, turn=CLARA, melds=[SPADES], down=[ANNA], overrides=FALSE)
    event = t.answer(DAVID, LOW)[0]
    assert "3C" in repr(visible_data(event, DAVID))
    assert "3C" not in repr([visible_data(event, viewer) for viewer in (ANNA, BORIS, CLARA, None)])


def test_a_false_caller_has_had_his_say_and_the_window_may_close() -> None:
    t = open_discard("davis", HANDS, "KS", by=BORIS, turn=CLARA, melds=[SPADES], down=[ANNA], overrides=FALSE)
    t.answer(CLARA, DrawStock())
    t.answer(ANNA, Pass())
    events = t.answer(DAVID, LOW)
    assert [type(event) for event in events] == [e.FalseCalled, e.ClaimsClosed, e.CardDrawn]


def test_the_player_in_turn_calls_falsely_once_at_the_most_and_is_asked_anew() -> None:
    t = open_discard("davis", HANDS, "KS", by=BORIS, turn=CLARA, melds=[SPADES], down=[ANNA], overrides=FALSE)
    before = t.decision(CLARA)
    t.answer(CLARA, LOW)
    assert t.decision(CLARA) != before
    assert t.refusal(CLARA, LOW) == IllegalMove("false_call")
    t.answer(CLARA, TakeDiscard())
    assert t.hand(CLARA) == ("3C", "JC", "JD", "KS")


def test_a_false_call_of_the_player_in_turn_takes_nobody_elses() -> None:
    t = open_discard("davis", HANDS, "KS", by=BORIS, turn=CLARA, melds=[SPADES], down=[ANNA], overrides=FALSE)
    t.answer(CLARA, LOW)
    assert isinstance(t.answer(DAVID, LOW)[0], e.FalseCalled)


def test_a_card_drawn_for_a_false_call_is_a_card_drawn_in_the_lap() -> None:
    t = open_discard("davis", HANDS, "KS", by=BORIS, turn=CLARA, melds=[SPADES], down=[ANNA], overrides=FALSE)
    t.answer(DAVID, LOW)
    assert (t.round.idle_turns, t.round.stale_turns) == (0, 0)


def test_a_declared_card_is_the_callers_own_and_asks_nobody() -> None:
    t = table("davis", ["4S KC KD", "QC QD", "JC JD", "TC TD"], melds=[SPADES], down=[ANNA])
    assert Discard("4S", declare=True) in t.options(ANNA)
    assert Discard("KC", declare=True) not in t.options(ANNA)
    t.answer(ANNA, Discard("4S", declare=True))
    assert t.options(BORIS) == (DrawStock(),)
    assert t.refusal(BORIS, TakeDiscard()) == IllegalMove("protected_discard")
