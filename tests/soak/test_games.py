"""Many whole games of bots, of every preset and number of players: each comes to an end and is counted right."""

import os
from collections.abc import Callable
from random import Random
from time import monotonic

import pytest

from domain.commands import Level
from domain.events import Event, RoundScored
from domain.evolve import fold
from domain.fairness import check
from domain.presets import preset, preset_names
from domain.simulation import as_bot, play
from services.codec import decode_event, encode_event
from tests.domain.exports import as_shown, exported

pytestmark = pytest.mark.soak

TABLES = [
    (name, players)
    for name in preset_names()
    for players in range(preset(name).players.min, preset(name).players.max + 1)
]
LOOKED_INTO = 20  # every so manieth game is also stored, read, and verified, which costs as much as a game


@pytest.fixture(scope="session")
def seconds(request: pytest.FixtureRequest) -> float:
    """A table's share of the time."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    minutes: float = request.config.getoption("--soak-minutes")
    return minutes * 60 * workers / len(TABLES)


@pytest.mark.parametrize(("name", "players"), TABLES, ids=[f"{name}-{players}" for name, players in TABLES])
def test_every_game_of_bots_comes_to_its_end(
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
    seconds: float,
    name: str,
    players: int,
) -> None:
    begun, played = monotonic(), 0
    for seed in range(1, request.config.getoption("--soak") + 1):
        if monotonic() > begun + seconds:
            break
        try:
            play_one(name, players, seed)
        except Exception as error:
            raise AssertionError(f"{name}, {players} players, seed {seed}") from error
        played = seed
    record_property(f"{name}-{players}", played)
    assert played, f"no game of {name} with {players} players came to its end in {seconds:.0f} s"


def play_one(name: str, players: int, seed: int) -> None:
    random = Random(seed)
    levels: list[Level] = [random.choice(("normal", "normal", "easy")) for _ in range(players)]
    events: list[Event] = []
    for step in play(preset(name), levels, seed, as_bot):
        events += step.events
    game = step.game
    assert game.status == "finished"
    assert game.result is not None
    points = [event.points for event in events if isinstance(event, RoundScored)]
    assert game.result.totals == tuple(map(sum, zip(*points, strict=True)))
    if seed % LOOKED_INTO == 1:
        assert fold(decode_event(*encode_event(event)) for event in events) == game
        viewer = random.choice((None, *range(players)))
        assert check(as_shown(exported(game.game_id, events, viewer))).findings == ()
