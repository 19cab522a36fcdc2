"""Ratings on a real log: an archive, a restore and every rebuild leave them as they were, to the last digit."""

import re
from pathlib import Path

import asyncpg

from infra.postgres.archive import archive, restore
from infra.postgres.projector import rebuild
from infra.settings import Settings
from infra.sql import statements
from infra.wiring import Services
from services.ids import new_uuid, public_id
from tests.infra.afresh import services, settings
from tests.infra.months import MONTH, everybody_is_told, game_of, owner, write
from tests.infra.projecting import PEOPLE

__all__ = ["owner", "services", "settings"]

_SQL = statements("projections")


async def test_games_of_an_archived_month_are_rated_among_the_others_where_they_ended(
    settings: Settings, services: Services, owner: asyncpg.Connection, tmp_path: Path
) -> None:
    for n in range(5):  # of the past month and of today, by turns
        await write(services, game_of(2026, 3, n), seed=n)
        await write(services, public_id("gam", new_uuid()), seed=n + 1)
    await everybody_is_told(settings, owner)
    before = await everything(services)
    assert len(before) > 4
    manifest = await archive(settings.database_url, MONTH, tmp_path)
    await rebuild(settings.database_url)
    assert await everything(services) == before
    await rebuild(settings.database_url)
    assert await everything(services) == before
    await restore(settings.database_url, manifest)
    await rebuild(settings.database_url)
    assert await everything(services) == before
    assert await owner.fetchval("SELECT count(DISTINCT build) FROM rating") == 1
    assert await owner.fetchval("SELECT count(*) FROM rated_game") == 10


async def everything(services: Services) -> list[object]:
    """Reads all ratings."""
    return [each for player in PEOPLE for each in await services.lobby.ratings(player)]


async def test_a_page_of_a_leaderboard_is_found_by_its_index(services: Services, owner: asyncpg.Connection) -> None:
    """50,000 players of one ruleset: a page in the middle looks at little more than its own rows."""
    await owner.execute(
        "INSERT INTO rating SELECT 1, gen_random_uuid(), 'davis', 25, 8, 1, n / 1e3 FROM generate_series(1, 50000) n;"
        "ANALYZE rating"
    )
    assert len(await services.lobby.leaderboard("davis", (25.0, PEOPLE[0]), 20)) == 20
    await owner.execute(f"PREPARE board (text, double precision, uuid, integer) AS {_SQL['leaderboard']}")
    lines = await owner.fetch("EXPLAIN (ANALYZE, BUFFERS) EXECUTE board ('davis', 25, gen_random_uuid(), 20)")
    top = next(line[0] for line in lines if "Buffers:" in line[0])
    assert sum(map(int, re.findall(r"(?:hit|read)=(\d+)", top))) < 100, lines
