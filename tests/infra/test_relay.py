"""The relay between a real log and a real bus: nothing is lost, nothing comes twice, whatever dies."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial

import asyncpg
import msgspec
import pytest

from domain.events import CardDrawn, Event, RoundDealt, StockRenewed, TurnEnded
from infra.embedded.engines import short_folder
from infra.embedded.valkey import start_redis
from infra.postgres.relay import Superseded, YoungerCluster, leading_relay
from infra.postgres.rows import ACTORS
from infra.settings import Settings, environment
from infra.wiring import Services, open_services
from services.ids import new_uuid, uuid_of
from services.memory import MemoryJobs
from services.ports import Append, NewEvent, Work
from services.relay import OrderBroken
from tests.appends import append, new_game
from tests.engines import eventually, with_redis
from tests.infra.telling import redis, relaying, told

pytestmark = [pytest.mark.usefixtures("owner"), pytest.mark.xdist_group("relay")]

_INSERT = (
    "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
    "VALUES (gen_random_uuid(), 1, 19, 1, 1, 0, gen_random_uuid(), '{\"seat\":0}')"
)


@pytest.fixture(autouse=True)
async def _empty_bus(own_settings: Settings) -> None:
    await redis(own_settings, "FLUSHALL")


@pytest.fixture
async def services(own_settings: Settings) -> AsyncIterator[Services]:
    async with open_services(own_settings) as services:
        yield services


async def write(services: Services, games: int, appends: int = 1) -> list[tuple[str, int]]:
    """Appends two events at a time to new games; gives all games and versions."""
    names = [new_game() for _ in range(games)]
    for after in range(0, appends * 2, 2):
        await asyncio.gather(*(services.log.append(append(game, after, count=2)) for game in names))
    return [(game, version) for game in names for version in range(1, appends * 2 + 1)]


async def test_all_events_are_told_and_each_games_in_order(own_settings: Settings, services: Services) -> None:
    async with relaying(own_settings):
        written = await write(services, games=20, appends=5)
        await eventually(lambda: has_told(own_settings, written))
    told_now = await told(own_settings)
    for game in {game for game, _ in written}:
        assert [version for name, version in told_now if name == game] == list(range(1, 11))


async def test_the_bus_tells_an_event_as_the_log_has_it_and_no_deck(own_settings: Settings, services: Services) -> None:
    dealt = RoundDealt(number=1, contracts=(), dealer=0, secret="00", hands=(("7H",),), upcard=None, stock=("KC",))
    told: tuple[Event, ...] = (TurnEnded(seat=0), CardDrawn(seat=1, source="stock", card="7H", stock_count=50))
    decks: tuple[Event, ...] = (dealt, StockRenewed("shuffle", ("KC", "7H"), 1))
    game, command = new_game(), new_uuid()
    rounds: tuple[int | None, ...] = (None, 1, 1, 32_000)
    events = tuple(
        NewEvent(*new, command, n) for n, new in enumerate(zip(told + decks, ACTORS.values(), rounds, strict=False))
    )
    async with relaying(own_settings):
        batches = services.bus.entries()
        following = asyncio.ensure_future(anext(batches))
        await eventually(lambda: _is_blocked(own_settings))
        await services.log.append(Append(game, 0, events))
        entries = await following
    stored = await services.log.read(game)
    assert [entry.recorded for entry in entries] == [*stored[:2], None, None]
    assert [(entry.game_id, entry.version) for entry in entries] == [(game, version) for version in (1, 2, 3, 4)]


async def test_a_late_commit_is_not_skipped(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    async with relaying(own_settings) as relay:
        late = owner.transaction()
        await late.start()
        await owner.execute(_INSERT)
        written = await write(services, games=3)
        looks = relay.looks
        await eventually(lambda: _is(relay.looks > looks + 30))
        assert await told(own_settings) == []
        await late.commit()
        await eventually(lambda: _told_at_least(own_settings, 7))
    first, *rest = await told(own_settings)
    assert first not in written
    assert sorted(rest) == sorted(written)


async def test_of_two_relays_one_leads(own_settings: Settings) -> None:
    async with leading_relay(own_settings.database_url) as leader:
        second = asyncio.create_task(_take_lead(own_settings))
        done, _ = await asyncio.wait([second], timeout=0.6)
        assert not done
        await leader.save((7, 7))
    assert await second == (7, 7)


async def test_a_superseded_relay_cannot_save_its_checkpoint(own_settings: Settings, owner: asyncpg.Connection) -> None:
    async with leading_relay(own_settings.database_url) as old:
        await owner.execute("UPDATE relay_checkpoint SET epoch = epoch + 1")
        with pytest.raises(Superseded):
            await old.save((9, 9))


async def test_redelivery_doubles_nothing(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    written = await write(services, games=10, appends=20)
    for _ in range(2):
        await owner.execute("UPDATE relay_checkpoint SET xid = '0', gseq = 0")
        async with relaying(own_settings) as relay:
            await eventually(lambda: _is(relay.looks > 3))
            written += await write(services, games=1)
            await eventually(partial(has_told, own_settings, written))
    assert len(await told(own_settings)) == len(written)


async def test_a_killed_relay_leaves_no_gap(own_settings: Settings, services: Services) -> None:
    written: list[tuple[str, int]] = []
    for times in range(1, 4):
        with relay_process(own_settings):
            written += await write(services, games=5, appends=4)
            await eventually(partial(_told_at_least, own_settings, times * 80 - 40))
            written += await write(services, games=5, appends=4)
    with relay_process(own_settings):
        await eventually(lambda: has_told(own_settings, written))
    assert len(await told(own_settings)) == len(written)


async def test_an_emptied_bus_is_told_the_last_minute_again(own_settings: Settings, services: Services) -> None:
    async with relaying(own_settings):
        written = await write(services, games=5)
        await eventually(lambda: has_told(own_settings, written))
        await redis(own_settings, "FLUSHALL")
        await redis(own_settings, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        written += await write(services, games=5)
        await eventually(lambda: has_told(own_settings, written))


async def test_the_relay_waits_for_a_bus_that_is_away(own_settings: Settings, services: Services) -> None:
    with short_folder() as run:
        bus = start_redis(run / "redis", run)
        settings = with_redis(own_settings, bus.url)
        async with relaying(settings):
            written = await write(services, games=2)
            await eventually(lambda: has_told(settings, written))
            bus.stop()
            written += await write(services, games=2)
            bus = start_redis(run / "redis", run)
            written += await write(services, games=2)
            await eventually(lambda: has_told(settings, written))
        bus.stop()


async def test_a_full_bus_is_filled_up_when_there_is_room(own_settings: Settings, services: Services) -> None:
    async with relaying(own_settings):
        await redis(own_settings, "CONFIG", "SET", "maxmemory", 1)
        written = await write(services, games=5)
        await redis(own_settings, "CONFIG", "SET", "maxmemory", 0)
        await eventually(lambda: has_told(own_settings, written))


async def test_a_bus_that_forgets_by_itself_is_not_used(
    own_settings: Settings, services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    await redis(own_settings, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    async with relaying(own_settings):
        written = await write(services, games=1)
        await eventually(lambda: _is("noeviction" in caplog.text))
        assert await told(own_settings) == []
        await redis(own_settings, "CONFIG", "SET", "maxmemory-policy", "noeviction")
        await eventually(lambda: has_told(own_settings, written))


async def test_streams_may_be_split(own_settings: Settings, services: Services) -> None:
    split = msgspec.structs.replace(own_settings, bus_shards=4)
    async with relaying(split):
        written = await write(services, games=20, appends=3)
        await eventually(lambda: has_told(split, written))
    keys = await redis(split, "KEYS", "es:*")
    assert sorted(key[-4:] for key in keys) == [b"{00}", b"{01}", b"{02}", b"{03}"]


async def test_a_job_follows_its_event(own_settings: Settings, services: Services) -> None:
    jobs, game, polite, finished = MemoryJobs(), new_game(), new_game(), new_game()
    async with relaying(own_settings, jobs):
        await services.log.append(append(polite, work=Work("bots", 5_000 + 300)))
        await services.log.append(append(finished, work=None))
        await services.log.append(append(game, work=Work("bots", 5_000)))
        await eventually(lambda: _is(jobs.handed_out == [game]))
        await eventually(lambda: _is(jobs.handed_out == [game, polite]))


async def test_rows_from_an_older_cluster_are_refused(own_settings: Settings, owner: asyncpg.Connection) -> None:
    await owner.execute(_INSERT.replace("payload)", "payload, xid)").replace("}')", "}', '9999999')"))
    with pytest.raises(YoungerCluster):
        await _take_lead(own_settings)


async def test_a_hole_in_a_game_stops_the_relay(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    [(game, _), *_] = await write(services, games=1)
    await owner.execute(_INSERT.replace("gen_random_uuid(), 1,", "$1, 4,"), uuid_of("gam", game))
    with pytest.raises(OrderBroken):
        async with relaying(own_settings) as relay:
            await relay.task


async def has_told(settings: Settings, written: list[tuple[str, int]]) -> bool:
    return set(written) <= set(await told(settings))


async def _told_at_least(settings: Settings, count: int) -> bool:
    return len(await told(settings)) >= count


async def _is(value: bool) -> bool:
    return value


async def _is_blocked(settings: Settings) -> bool:
    return b"blocked_clients:0" not in await redis(settings, "INFO", "clients")


async def _take_lead(settings: Settings) -> tuple[int, int]:
    async with leading_relay(settings.database_url) as log:
        return await log.checkpoint()


@contextmanager
def relay_process(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    variables = {
        "SHANGHAI_DATABASE_URL": settings.database_url,
        "SHANGHAI_REDIS_URL": settings.bus_url,
        "SHANGHAI_SECRET_KEY": settings.secret_key.hex(),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "workers.relay"], env=environment(variables), stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
