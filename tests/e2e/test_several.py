"""Two of every process at one database and one Redis: players meet whichever API they came to, and leaders may die."""

import sys
from collections.abc import Iterator
from functools import partial

import asyncpg
import pytest

from infra.settings import Settings
from tests.e2e.history import faults_in, live_through, sitting
from tests.e2e.roof import EVERYBODY, Roof, roof
from tests.engines import run
from tests.stack_watching import eventually

SECONDS, PAUSE_S = 8.0, 1.5  # a machine that stands still for some seconds has time for both faults, too

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


@pytest.fixture
def leaders(settings: Settings) -> Iterator[Roof]:
    with roof(settings, EVERYBODY) as running:
        yield running


@pytest.fixture
def standbys(settings: Settings, leaders: Roof) -> Iterator[Roof]:
    """As many once more, started when the first ones lead."""
    with roof(settings, EVERYBODY) as running:
        yield running


def test_players_of_two_apis_lose_nothing_while_the_leading_relay_and_a_worker_die(
    settings: Settings, leaders: Roof, standbys: Roof
) -> None:
    one_of_two = {"relay": (1, 1), "clock": (1, 1), "projector": (1, 1)}
    eventually(lambda: run(_leading_and_standing_by(settings)) == one_of_two, what="leaders and standbys")
    killed: list[str] = []

    def dies(name: str) -> None:
        if name not in killed:
            leaders.kill(name)
            killed.append(name)

    with sitting([*leaders.base_urls, *standbys.base_urls], tables=2) as players:
        faults = [partial(dies, "relay"), partial(dies, "worker")]
        live_through(players, faults, seed=1, seconds=SECONDS, pause_s=PAUSE_S)
    accepted = sum(bool(sent.accepted) for player in players for sent in player.sent)
    sys.stdout.write(f"{accepted} moves accepted\n")
    assert sorted(killed) == ["relay", "worker"]
    assert faults_in(players) == []
    assert accepted > 10


async def _leading_and_standing_by(settings: Settings) -> dict[str, tuple[int, int]]:
    """Counts for each kind of leader who holds the lock and who waits for it."""
    connection = await asyncpg.connect(settings.database_url)
    rows = await connection.fetch(
        """SELECT application_name AS name, count(*) FILTER (WHERE leads) AS leading,
            count(*) FILTER (WHERE NOT leads) AS waiting
        FROM (
            SELECT application_name, EXISTS (
                SELECT FROM pg_locks WHERE pg_locks.pid = pg_stat_activity.pid AND locktype = 'advisory'
            ) AS leads FROM pg_stat_activity
        ) AS sessions
        WHERE application_name = ANY ($1) GROUP BY name""",
        [f"shanghai {name}" for name in ("relay", "clock", "projector")],
    )
    await connection.close()
    return {row["name"].removeprefix("shanghai "): (row["leading"], row["waiting"]) for row in rows}
