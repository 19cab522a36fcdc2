"""A state that somebody keeps stays as it is, whatever is recorded on top of it: only copies are changed in place."""

from contextlib import suppress
from random import Random

import pytest
from msgspec import msgpack

from domain.commands import ChangeController, LeaveForGood, WarnTurn
from domain.decide import unfold
from domain.decisions import open_decisions
from domain.evolve import evolve, fold
from domain.presets import preset, preset_names
from domain.refusals import Refused
from domain.state import Game, State, Unopened
from tests.domain.games import at_random, told_game

GAMES = [pytest.param(name, min(4, preset(name).players.max), id=name) for name in preset_names()]


@pytest.mark.parametrize(("name", "players"), GAMES)
def test_no_state_changes_after_it_was_given(name: str, players: int) -> None:
    state: State = Unopened()
    kept: list[tuple[State, bytes]] = []
    events = []
    for command, told, after in told_game(name, players, 11, at_random(Random(11), share=0.3), rounds=2):
        assert unfold(command, state) == (told, after)
        for event in told:
            kept.append((state, msgpack.encode(state)))
            state = evolve(state, event)
        kept.append((after, msgpack.encode(after)))
        assert state == after
        events += told
        for attempt in (
            WarnTurn(_clock(after)),
            LeaveForGood(0),
            ChangeController(0, "human", "ply_1", None, "sat_in"),
        ):
            with suppress(Refused):  # what is thought through is kept by nobody
                unfold(attempt, after)
    middle = len(events) // 2
    half = fold(events[:middle])
    before = msgpack.encode(half)
    assert fold(events[middle:], half) == state
    assert msgpack.encode(half) == before
    for state_, bytes_ in kept:
        assert msgpack.encode(state_) == bytes_


def _clock(game: Game) -> int:
    return game.round.clock_at if game.round is not None and open_decisions(game) else -1
