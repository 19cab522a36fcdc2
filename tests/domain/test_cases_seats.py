"""People leave for good, hand their seat over and come back, in every phase of a game."""

import pytest
from msgspec.structs import replace

from domain import events as e
from domain.commands import (
    Buy,
    ChangeController,
    Discard,
    DrawStock,
    LayOff,
    LeaveForGood,
    Pass,
    ScoreRound,
    SwapWild,
    TakeDiscard,
)
from domain.decide import decide
from domain.presets import Json
from domain.refusals import GameFinished, GameNotStarted, Refused, SeatNotFound, SeatNotHeld
from tests.domain.begun import deal, sitting
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, kinds, meld, open_discard, placed, table

FOUR = ["KC KD", "QC QD", "JC JD", "TC TD"]
OUT: dict[str, Json] = {"leaver": "out"}


def end_round(t: Table, went_out: int | None = None) -> None:
    hands = tuple(seat.hand for seat in t.game.seats)
    t.happens(e.RoundEnded(went_out, "out" if went_out is not None else "exhausted", hands, t.round.secret))


def test_a_leaver_in_turn_is_passed_over_and_one_out_of_turn_changes_nothing_for_the_others() -> None:
    t = table("davis", FOUR, turn=BORIS, overrides=OUT)
    assert kinds(t.carry_out(LeaveForGood(BORIS))) == ["SeatChanged", "TurnEnded", "TurnBegan"]
    assert t.round.turn == CLARA
    assert len(t.pile) == 1
    t.carry_out(LeaveForGood(ANNA))
    assert t.round.turn == CLARA
    assert t.asked() == {CLARA: "draw"}


def test_a_bot_sits_in_for_a_leaver_and_the_turn_goes_on() -> None:
    t = table("davis", FOUR, turn=BORIS)
    before = t.decision(BORIS)
    t.carry_out(LeaveForGood(BORIS))
    seat = t.game.seats[BORIS]
    assert (seat.controller, seat.player_id, seat.level) == ("bot", "ply_1", "normal")
    assert t.decision(BORIS) == before
    assert t.hand(BORIS) == ("QC", "QD")


def test_a_seat_keeps_hand_points_and_pending_buys_whoever_controls_it() -> None:
    t = open_discard("davis", FOUR, "7H", down=[CLARA])
    t.answer(CLARA, Buy("7H"))
    before = t.game.seats[CLARA]
    t.carry_out(LeaveForGood(CLARA))
    t.carry_out(ChangeController(CLARA, "human", "ply_2", None, "reclaimed"))
    assert t.game.seats[CLARA] == before
    t.answer(BORIS, DrawStock())
    assert "7H" in t.hand(CLARA)
    assert t.game.seats[CLARA].buys == 1


@pytest.mark.parametrize("phase", ["between rounds", "draw", "claims", "play", "owed", "offered", "scoring"])
def test_a_seat_is_handed_over_in_any_phase(phase: str) -> None:
    t = in_phase(phase)
    asked = t.asked()
    for seat in range(4):
        t.carry_out(ChangeController(seat, "human", f"ply_new{seat}", None, "handed_over"))
        assert t.game.seats[seat].player_id == f"ply_new{seat}"
    assert t.asked() == asked


@pytest.mark.parametrize("phase", ["between rounds", "draw", "claims", "play", "owed", "offered", "scoring"])
@pytest.mark.parametrize("seat", [ANNA, BORIS, CLARA, DAVID])
def test_the_table_goes_on_whoever_leaves_for_good_in_any_phase(phase: str, seat: int) -> None:
    t = in_phase(phase)
    t.carry_out(LeaveForGood(seat))
    assert seat not in t.asked()
    assert t.asked() or phase in ("between rounds", "scoring")
    for other in list(t.asked()):
        assert t.options(other)


def in_phase(phase: str) -> Table:
    """Boris is in turn wherever somebody is."""
    queens, run = meld(CLARA, "set", "QS QH QC"), meld(ANNA, "run", "4H 5H JK(6H) 7H")
    swap: dict[str, Json] = {"swap": {"whose": "any", "re_meld": True, "offer": "on_turn"}, **OUT}
    match phase:
        case "between rounds":
            return sitting(overrides=OUT)
        case "draw":
            return open_discard("davis", FOUR, "7H", overrides=OUT)
        case "claims":
            t = open_discard("davis", FOUR, "7H", overrides=OUT)
            t.answer(DAVID, Buy("7H"))
            t.answer(BORIS, DrawStock())
            return t
        case "owed":
            hands = ["KC KD", "6H QD", "JC JD", "TC TD"]
            t = table("jokers", hands, turn=BORIS, melds=[run, queens], down=range(4), overrides=swap)
            t.answer(BORIS, SwapWild("m1", "JK", as_="6H", card="6H"))
            return t
        case "offered":
            t = table("king-rummy", ["KC KD", "JK QD", "JC JD", "TC TD"], turn=BORIS, melds=[queens], down=range(4),
                      overrides=OUT)  # fmt: skip
            t.answer(BORIS, LayOff("m1", placed("JK")))
            assert t.asked() == {CLARA: "claim"}
            return t
        case "scoring":
            t = table("davis", FOUR, turn=BORIS, overrides=OUT)
            end_round(t, ANNA)
            return t
        case _:
            return table("davis", FOUR, turn=BORIS, overrides=OUT)


def test_pending_buys_of_a_leaver_lapse_and_the_window_goes_on() -> None:
    t = open_discard("davis", FOUR, "7H", overrides=OUT)
    t.answer(DAVID, Buy("7H"))
    t.answer(BORIS, DrawStock())
    t.carry_out(LeaveForGood(DAVID))
    assert t.asked() == {CLARA: "claim"}
    assert kinds(t.answer(CLARA, Pass())) == ["Passed", "ClaimsClosed", "CardDrawn"]


def test_the_window_closes_when_the_last_seat_that_was_waited_for_leaves() -> None:
    t = open_discard("davis", FOUR, "7H", overrides=OUT)
    t.answer(BORIS, DrawStock())
    t.answer(DAVID, Pass())
    assert kinds(t.carry_out(LeaveForGood(CLARA))) == ["SeatChanged", "ClaimsClosed", "CardDrawn"]


def test_when_the_player_in_turn_leaves_the_next_one_is_asked_about_the_same_card() -> None:
    t = open_discard("davis", FOUR, "7H", overrides=OUT)
    t.answer(DAVID, Buy("7H"))
    assert kinds(t.carry_out(LeaveForGood(BORIS))) == ["SeatChanged", "ClaimsClosed", "TurnEnded", "TurnBegan"]
    assert t.asked() == {CLARA: "draw", DAVID: "claim"}
    assert TakeDiscard() in t.options(CLARA)
    assert Buy("7H") in t.options(DAVID)


def test_a_leaver_can_be_skipped_no_more_and_who_plays_is_asked_anew() -> None:
    hands = ["X 1R 2R", "1Y 2Y", "1G 2G", "1B 2B"]
    t = table("ten-phases", hands, pile=((DAVID, "12R"),), stock="4R 5R 6R", overrides=OUT)
    before = t.decision(ANNA)
    assert Discard("X", skip=CLARA) in t.options(ANNA)
    t.carry_out(LeaveForGood(CLARA))
    assert Discard("X", skip=CLARA) not in t.options(ANNA)
    assert t.decision(ANNA) != before


def test_where_only_those_who_miss_a_turn_are_left_the_first_of_them_plays() -> None:
    hands = ["X 1R 2R", "X 1Y 2Y", "1G 2G", "1B 2B"]
    t = table("ten-phases", hands, pile=((DAVID, "12R"),), stock="4R 5R 6R", overrides=OUT)
    t.answer(ANNA, Discard("X", skip=DAVID))
    t.answer(BORIS, DrawStock())
    t.answer(BORIS, Discard("X", skip=ANNA))
    t.carry_out(LeaveForGood(BORIS))
    assert t.asked() == {CLARA: "draw"}
    t.carry_out(LeaveForGood(CLARA))
    assert t.asked() == {DAVID: "draw"}


def test_an_offer_goes_on_to_the_next_when_the_asked_seat_leaves() -> None:
    t = in_phase("offered")
    assert kinds(t.carry_out(LeaveForGood(CLARA))) == ["SeatChanged", "SwapDeclined", "SwapOffered"]
    assert t.asked() == {DAVID: "claim"}
    t.carry_out(LeaveForGood(DAVID))
    t.carry_out(LeaveForGood(ANNA))
    assert isinstance(t.events[-1], e.RoundEnded)


def test_the_hand_of_a_leaver_is_counted_this_round_and_nothing_is_dealt_to_it_later() -> None:
    t = sitting(overrides=OUT | {"points": {"go_out_bonus": [10]}})
    deal(t, 1)
    t.carry_out(LeaveForGood(BORIS))
    end_round(t, ANNA)
    scored = t.carry_out(ScoreRound(1))[0]
    assert isinstance(scored, e.RoundScored)
    assert scored.points[BORIS] > 0
    deal(t, 2)
    assert [len(seat.hand) for seat in t.game.seats] == [11, 0, 11, 11]
    end_round(t, ANNA)
    again = t.carry_out(ScoreRound(2))[0]
    assert isinstance(again, e.RoundScored)
    assert again.points[BORIS] == 0
    assert again.totals[BORIS] == scored.totals[BORIS]


def test_a_leaver_is_skipped_as_dealer_and_as_forehand() -> None:
    t = sitting(overrides=OUT)
    deal(t, 1)
    first = t.round.dealer
    leaver = (first + 1) % 4
    t.carry_out(LeaveForGood(leaver))
    dealers = [first]
    for number in (1, 2, 3, 4):
        end_round(t, first)
        t.carry_out(ScoreRound(number))
        deal(t, number + 1)
        dealers.append(t.round.dealer)
        assert t.round.turn != leaver
    assert dealers == [(first + passed) % 4 for passed in (0, 2, 3, 0, 2)]


def test_a_leaver_before_the_first_deal_is_neither_dealer_nor_forehand() -> None:
    for leaver in range(4):
        t = sitting(overrides=OUT)
        t.carry_out(LeaveForGood(leaver))
        deal(t, 1)
        assert leaver not in (t.round.dealer, t.round.turn)
        assert t.hand(leaver) == ()


def test_a_leaver_cannot_win() -> None:
    t = table("davis", ["", "2C", "2D 3D", "KC KD"], number=7, overrides=OUT)
    t.carry_out(LeaveForGood(BORIS))
    seats = t.game.seats
    t.game = replace(t.game, seats=(replace(seats[ANNA], score=100), *seats[1:]))
    end_round(t, ANNA)
    assert t.carry_out(ScoreRound(7))[-1] == e.GameFinished((CLARA,), (100, 5, 10, 20))


def test_a_leaver_who_would_be_through_ends_no_game() -> None:
    t = table("ship-captain-crew", ["KC KD", "QC", "JC"], number=7, overrides=OUT, down=[BORIS])
    t.carry_out(LeaveForGood(BORIS))
    end_round(t)
    assert kinds(t.carry_out(ScoreRound(7))) == ["RoundScored"]


def test_with_one_seat_left_the_game_ends_in_the_middle_of_a_round() -> None:
    t = table("davis", FOUR, turn=BORIS, overrides=OUT)
    for seat in (BORIS, CLARA):
        t.carry_out(LeaveForGood(seat))
    assert kinds(t.carry_out(LeaveForGood(ANNA))) == ["SeatChanged", "RoundEnded"]
    assert kinds(t.carry_out(ScoreRound(1))) == ["RoundScored", "GameFinished"]
    assert t.game.result is not None
    assert t.game.result.winners == (DAVID,)


def test_with_one_seat_left_the_game_ends_between_two_rounds() -> None:
    t = sitting(overrides=OUT, players=2)
    assert kinds(t.carry_out(LeaveForGood(ANNA))) == ["SeatChanged", "GameFinished"]
    assert t.game.result is not None
    assert t.game.result.winners == (BORIS,)


def test_the_last_seat_need_not_leave() -> None:
    t = table("davis", FOUR[:2], overrides=OUT)
    t.carry_out(LeaveForGood(BORIS))
    assert t.carry_out(LeaveForGood(ANNA)) == []
    assert kinds(t.carry_out(ScoreRound(1))) == ["RoundScored", "GameFinished"]


def test_two_seats_left_play_as_two() -> None:
    t = table("davis", FOUR, overrides=OUT)
    t.carry_out(LeaveForGood(CLARA))
    t.carry_out(LeaveForGood(DAVID))
    t.answer(ANNA, Discard("KC"))
    assert t.asked() == {BORIS: "draw"}


def test_a_seat_that_is_out_is_nobodys_to_take_over() -> None:
    t = table("davis", FOUR, overrides=OUT)
    t.carry_out(LeaveForGood(CLARA))
    for command in (ChangeController(CLARA, "human", "ply_9", None, "reclaimed"), LeaveForGood(CLARA)):
        with pytest.raises(Refused) as refused:
            decide(command, t.game)
        assert refused.value.broken == SeatNotHeld(CLARA)


def test_nobody_leaves_a_game_that_waits_or_is_over_or_a_seat_that_is_none() -> None:
    t = table("davis", FOUR)
    for game, broken in (
        (replace(t.game, status="waiting"), GameNotStarted()),
        (replace(t.game, status="finished"), GameFinished()),
    ):
        with pytest.raises(Refused) as refused:
            decide(LeaveForGood(ANNA), game)
        assert refused.value.broken == broken
    with pytest.raises(Refused) as unknown:
        decide(LeaveForGood(9), t.game)
    assert unknown.value.broken == SeatNotFound(9)
