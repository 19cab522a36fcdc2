"""Those who run the server look into a game, end it, seat bots: the table is told of each, and nothing else changes."""

import pytest

from domain import events as e
from domain.commands import EndGame, NoteOperator, OpenGame, Pace, SeatBotForAbsent, SeatPlan, TableCommand
from domain.decide import decide
from domain.decisions import open_decisions
from domain.evolve import fold
from domain.presets import preset
from domain.refusals import GameFinished, GameNotStarted, Refused, SeatNotFound, SeatNotHeld
from domain.state import Game, Unopened
from domain.view import view_for
from tests.domain.begun import deal, sitting
from tests.domain.table import ANNA, BORIS, Table

COMMANDS: list[TableCommand] = [EndGame(), NoteOperator("log_read"), SeatBotForAbsent(ANNA, "normal")]


def refused(t: Table, command: TableCommand) -> object:
    with pytest.raises(Refused) as refusal:
        t.carry_out(command)
    return refusal.value.broken


def test_a_look_into_the_hands_is_told_and_changes_no_decision() -> None:
    t = sitting()
    deal(t, 1)
    before = open_decisions(t.game), [view_for(t.game, seat).decisions for seat in range(4)]
    assert t.carry_out(NoteOperator("log_read")) == [e.OperatorActed("log_read")]
    assert (open_decisions(t.game), [view_for(t.game, seat).decisions for seat in range(4)]) == before


def test_a_game_is_ended_in_the_middle_of_a_round_and_asks_nobody_any_more() -> None:
    t = sitting()
    deal(t, 1)
    assert t.carry_out(EndGame()) == [e.OperatorActed("ended"), e.GameCancelled("operator")]
    view = view_for(t.game, ANNA)
    assert (view.status, view.decisions, view.result) == ("cancelled", (), None)
    assert view.round is not None
    assert view.round.waiting_for is None
    assert refused(t, EndGame()) == GameFinished()


def test_a_bot_sits_in_for_a_person_who_keeps_the_seat() -> None:
    t = sitting()
    deal(t, 1)
    assert t.carry_out(SeatBotForAbsent(BORIS, "easy")) == [
        e.OperatorActed("bot_seated"),
        e.SeatChanged(BORIS, "bot", "ply_1", "easy", "sat_in"),
    ]
    assert t.carry_out(SeatBotForAbsent(BORIS, "easy")) == []


def test_no_bot_sits_down_where_nobody_is_away() -> None:
    t = sitting(overrides={"leaver": "out"})
    deal(t, 1)
    t.happens(e.SeatChanged(BORIS, "open", None, None, "out"))
    assert refused(t, SeatBotForAbsent(BORIS, "easy")) == SeatNotHeld(BORIS)
    assert refused(t, SeatBotForAbsent(9, "easy")) == SeatNotFound(9)


def test_before_the_start_a_game_can_be_ended_but_no_bot_sits_in() -> None:
    game = fold(decide(OpenGame("gam_x", preset("davis"), Pace(), (SeatPlan("open"),) * 4, "ab" * 32), Unopened()))
    assert isinstance(game, Game)
    waiting = Table(game)
    assert refused(waiting, SeatBotForAbsent(ANNA, "easy")) == GameNotStarted()
    assert waiting.carry_out(EndGame())[-1] == e.GameCancelled("operator")


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_done_to_a_game_that_is_over(command: TableCommand) -> None:
    t = sitting()
    t.happens(e.GameFinished((ANNA,), (0, 0, 0, 0)))
    assert refused(t, command) == GameFinished()
