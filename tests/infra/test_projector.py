"""The projector on a real log: whatever dies, it ends with the rows of one that never did; a rebuild makes the same."""

import asyncio
from contextlib import suppress
from itertools import product
from random import Random

import asyncpg
import pytest

from domain.state import Status
from infra.postgres import leading
from infra.postgres.lobby import PostgresLobby
from infra.postgres.projector import READ_MODELS, AheadOfCluster, leading_projector, rebuild
from infra.settings import Settings
from infra.wiring import Services
from services import projections
from services.ids import uuid_of
from services.lobby import GameFilter, list_games
from services.ports import Principal, Unavailable
from services.projections import Projector
from services.relay import OrderBroken
from services.tables import Tables
from tests.engines import eventually
from tests.infra.afresh import owner, services, settings
from tests.infra.projecting import (
    PEOPLE,
    Explaining,
    Mortal,
    Writer,
    dump,
    has_caught_up,
    has_moved,
    insert_opened,
    place,
    projecting,
)
from tests.processes import server

__all__ = ["owner", "services", "settings"]


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_projector_that_dies_at_any_step_ends_with_the_rows_of_one_that_never_did(
    settings: Settings, services: Services, owner: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(projections, "BATCH", 47)
    monkeypatch.setattr(leading, "_STANDBY_S", 0.01)
    writer, random, deaths = Writer(services, seed), Random(seed), 0
    writing = asyncio.create_task(writer.write())
    is_behind = True
    while is_behind:
        is_last = writing.done()
        with suppress(Unavailable):
            async with leading_projector(settings.database_url) as log:
                await Projector(Mortal(log, random)).catch_up()
                is_behind = not is_last
                continue
        deaths += 1
    await writing
    assert deaths > 5
    rows = await dump(owner)
    assert {game: version for game, version, *_ in rows["lobby_game"]} == {
        uuid_of("gam", game): version for game, version in writer.heads.items()
    }
    assert all(rows[table] for table in READ_MODELS)
    await rebuild(settings.database_url)
    assert await dump(owner) == rows


async def test_a_killed_process_goes_on_where_it_was(
    settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    writer = Writer(services, seed=4, games=12)
    for _ in range(3):
        with server("workers.projector", settings):
            before = await place(owner)
            await writer.write(15)
            await eventually(lambda before=before: has_moved(owner, before))  # type: ignore[misc]
            await writer.write(15)
    await writer.write()
    with server("workers.projector", settings):
        await eventually(lambda: has_caught_up(owner))
    rows = await dump(owner)
    with server("workers.projector", settings, "--rebuild") as rebuilding:
        await eventually(lambda: rebuilding.poll() is not None)
        assert rebuilding.returncode == 0
    assert await owner.fetchval("SELECT max(build) FROM projection") == 2
    assert await dump(owner) == rows


async def test_the_old_read_models_serve_until_the_new_ones_are_there(
    settings: Settings, services: Services, owner: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer(services, seed=1)
    await writer.write()
    anna, sizes = Principal(PEOPLE[4], "", ()), set()
    async with projecting(settings):
        await eventually(lambda: has_caught_up(owner))
        standings = [await services.lobby.standings(player) for player in PEOPLE]
        assert any(standings)
        monkeypatch.setattr(projections, "BATCH", 50)
        making = asyncio.create_task(rebuild(settings.database_url))
        while not making.done():
            found, _ = await list_games(services.lobby, Tables(services.log), anna, GameFilter(), None, 100)
            sizes.add(len(found))
            assert [await services.lobby.standings(player) for player in PEOPLE] == standings
        assert await making == 2
        assert sizes == {len(writer.heads)}
        assert await owner.fetch("SELECT build, is_served FROM projection") == [(2, True)]
        later = Writer(services, seed=2, games=3)
        await later.write()
        await eventually(lambda: has_caught_up(owner))
    assert {row[0] for row in (await dump(owner))["lobby_game"]} == {
        uuid_of("gam", game) for game in (*writer.heads, *later.heads)
    }


async def test_what_a_rebuild_that_was_cut_short_has_left_is_cleared(
    settings: Settings, services: Services, owner: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Writer(services, seed=1).write()
    async with leading_projector(settings.database_url) as log:
        await Projector(log).catch_up()
    rows = await dump(owner)
    monkeypatch.setattr(projections, "BATCH", 100)
    making = asyncio.create_task(rebuild(settings.database_url))
    await eventually(lambda: owner.fetchval("SELECT count(*) FROM lobby_game WHERE build = 2"))
    making.cancel()
    await asyncio.gather(making, return_exceptions=True)
    assert await dump(owner) == rows
    assert await rebuild(settings.database_url) == 2
    assert await dump(owner) == rows
    for table in READ_MODELS:
        assert await owner.fetch(f"SELECT DISTINCT build FROM {table}") == [(2,)]


async def test_a_late_commit_is_not_skipped(settings: Settings, services: Services, owner: asyncpg.Connection) -> None:
    async with projecting(settings) as looks:
        late = owner.transaction()
        await late.start()
        late_game = await insert_opened(owner)
        writer = Writer(services, seed=1, games=2)
        await writer.write()
        before = len(looks)
        await eventually(lambda: len(looks) > before + 3)
        assert (await dump(owner))["lobby_game"] == []
        await late.commit()
        await eventually(lambda: has_caught_up(owner))
    games = {row[0] for row in (await dump(owner))["lobby_game"]}
    assert games == {uuid_of("gam", game) for game in (late_game, *writer.heads)}


async def test_of_two_projectors_one_leads_and_a_superseded_one_saves_nothing(
    settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    await Writer(services, seed=1, games=1).write()
    async with leading_projector(settings.database_url) as old:
        second = asyncio.create_task(_take_lead(settings))
        done, _ = await asyncio.wait([second], timeout=0.6)
        assert not done
        await owner.execute("UPDATE projection SET epoch = epoch + 1")
        with pytest.raises(Unavailable):
            await Projector(old).catch_up()
    await second
    assert (await dump(owner))["lobby_game"] == []


async def test_a_place_from_an_older_cluster_is_refused_until_a_rebuild(
    settings: Settings, owner: asyncpg.Connection
) -> None:
    await owner.execute("UPDATE projection SET xid = '9999999999'")
    with pytest.raises(AheadOfCluster, match="--rebuild"):
        await _take_lead(settings)
    await rebuild(settings.database_url)
    await _take_lead(settings)


async def test_a_hole_in_a_game_stops_the_projector(settings: Settings, owner: asyncpg.Connection) -> None:
    game = await insert_opened(owner)
    await owner.execute(
        "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
        "VALUES ($1, 4, 19, 1, 1, 0, gen_random_uuid(), '{\"seat\":0}')",
        uuid_of("gam", game),
    )
    with pytest.raises(OrderBroken, match=r"version 4 came after version 1"):
        async with leading_projector(settings.database_url) as log:
            await Projector(log).catch_up()


async def test_events_that_make_no_game_are_left_out_and_named(
    settings: Settings, services: Services, owner: asyncpg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    broken = await insert_opened(owner)
    await owner.execute(
        "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
        "VALUES ($1, 2, 19, 1, 1, 0, gen_random_uuid(), '{\"seat\":7}')",
        uuid_of("gam", broken),
    )
    writer = Writer(services, seed=1, games=1)
    await writer.write()
    async with leading_projector(settings.database_url) as log:
        await Projector(log).catch_up()
    assert f"{broken} is no game any more at version 2" in caplog.text
    assert {row[0]: row[1] for row in (await dump(owner))["lobby_game"]} == {
        uuid_of("gam", broken): 1, **{uuid_of("gam", game): head for game, head in writer.heads.items()},
    }  # fmt: skip


async def test_rows_of_another_shape_are_read_from_the_log(
    settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    writer = Writer(services, seed=1, games=2)
    await writer.write()
    async with leading_projector(settings.database_url) as log:
        await Projector(log).catch_up()
    await owner.execute('UPDATE lobby_game SET shown = \'{"seats": [{"chair": 1}]}\'')
    anna = Principal(PEOPLE[4], "", ())
    found, _ = await list_games(services.lobby, Tables(services.log), anna, GameFilter(), None, 100)
    assert {game.game_id: game.version for game in found} == writer.heads


async def test_a_page_is_found_by_an_index_among_many_games(settings: Settings, owner: asyncpg.Connection) -> None:
    """30,000 finished games and none that waits: no list may look at all of them."""
    await owner.execute(
        "INSERT INTO lobby_game SELECT 1, gen_random_uuid(), 5, 'finished', 'davis', true, '{}' "
        "FROM generate_series(1, 30000);"
        "INSERT INTO lobby_seat SELECT 1, gen_random_uuid(), game_id, true, true FROM lobby_game;"
        "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
        "SELECT game_id, 1, 1, 1, 1, 0, game_id, '{}' FROM lobby_game;"
        "ANALYZE lobby_game, lobby_seat, event"
    )
    connection = Explaining(owner)
    lobby = PostgresLobby(connection)  # type: ignore[arg-type]
    statuses: tuple[Status | None, ...] = (None, "waiting")
    for mode in ("force_custom_plan", "force_generic_plan"):
        await owner.execute(f"SET plan_cache_mode = {mode}")
        for status, ruleset, mine in product(statuses, (None, "jokers"), (False, True)):
            await lobby.page(PEOPLE[0], GameFilter(status, ruleset, mine=mine), None, 20)
            assert connection.pages < 300, connection.plan


async def _take_lead(settings: Settings) -> None:
    async with leading_projector(settings.database_url):
        pass
