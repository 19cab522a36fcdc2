"""Two of every process at one database and one Redis: players meet whichever API they came to, and leaders may die."""

import sys
from collections.abc import Iterator
from functools import partial

import asyncpg
import pytest

from infra.embedded.engines import embedded_services
from infra.migrations import migrate
from infra.settings import Settings
from tests.e2e.history import faults_in, live_through, sit_down
from tests.e2e.roof import Roof, roof
from tests.engines import UNSAFE, run, settings_of

TWO_OF_EACH = ("relay", "clock", "projector", "worker", "api") * 2  # the first relay is there before the second
SECONDS, PAUSE_S = 4.5, 1.5

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


@pytest.fixture
def settings() -> Iterator[Settings]:
    with embedded_services(UNSAFE) as engines:
        run(migrate(engines.postgres.url))
        yield settings_of(engines, engines.postgres.url)


@pytest.fixture
def two_of_each(settings: Settings) -> Iterator[Roof]:
    with roof(settings, TWO_OF_EACH) as running:
        yield running


def test_players_of_two_apis_lose_nothing_while_the_leading_relay_and_a_worker_die(
    settings: Settings, two_of_each: Roof
) -> None:
    players = sit_down(two_of_each.base_urls, tables=2)
    assert run(_leading_and_standing_by(settings)) == {"relay": (1, 1), "clock": (1, 1), "projector": (1, 1)}
    killed: list[str] = []

    def dies(name: str) -> None:
        if name not in killed:
            two_of_each.kill(name)
            killed.append(name)

    try:
        faults = [partial(dies, "relay"), partial(dies, "worker")]
        live_through(players, faults, seed=1, seconds=SECONDS, pause_s=PAUSE_S)
    finally:
        for player in players:
            player.client.close()
    accepted = sum(bool(sent.accepted) for player in players for sent in player.sent)
    sys.stdout.write(f"{accepted} moves accepted\n")
    assert sorted(killed) == ["relay", "worker"]
    assert faults_in(players) == []
    assert accepted > 20


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
