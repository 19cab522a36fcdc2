"""The relay between a real log and a real bus: nothing is lost, nothing comes twice, all in order."""

import asyncio
from functools import partial

import asyncpg
import msgspec
import pytest

from domain.events import CardDrawn, Event, RoundDealt, StockRenewed, TurnEnded
from infra.embedded.engines import short_folder
from infra.embedded.valkey import start_redis
from infra.postgres.relay import YoungerCluster
from infra.postgres.rows import ACTORS
from infra.settings import Settings
from infra.wiring import Services
from services.ids import new_uuid, uuid_of
from services.lag import ALERT_S, LagWatch
from services.memory import MemoryJobs
from services.ports import Append, NewEvent, Work
from services.relay import OrderBroken
from tests.appends import append, new_game
from tests.engines import eventually, with_redis
from tests.infra.telling import (
    cut_off,
    has_told,
    has_told_so_many,
    in_order,
    is_listened_to,
    redis,
    relaying,
    told,
    write,
)

pytestmark = [pytest.mark.usefixtures("owner", "empty_bus"), pytest.mark.xdist_group("relay")]

_INSERT = (
    "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
    "VALUES (gen_random_uuid(), 1, 19, 1, 1, 0, gen_random_uuid(), '{\"seat\":0}')"
)


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
        await eventually(lambda: is_listened_to(own_settings))
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
        await eventually(lambda: relay.looks > looks + 30)
        assert await told(own_settings) == []
        await late.commit()
        await eventually(lambda: has_told_so_many(own_settings, 7))
    first, *rest = await told(own_settings)
    assert first not in written
    assert sorted(rest) == sorted(written)


async def test_a_newer_transaction_with_lower_numbers_comes_later(
    own_settings: Settings, owner: asyncpg.Connection
) -> None:
    """Each session takes thirty-two numbers of the sequence at once, so this is an everyday thing."""
    newer = await asyncpg.connect(own_settings.database_url)
    await newer.execute(_INSERT)  # takes the lower numbers
    await owner.execute("DISCARD SEQUENCES")
    async with relaying(own_settings):
        async with owner.transaction():
            await owner.execute(_INSERT)
            await newer.execute(_INSERT)
        await eventually(lambda: has_told_so_many(own_settings, 3))
    await newer.close()
    [key] = await redis(own_settings, "KEYS", "es:*")
    places = [tuple(map(int, id_.split(b"-"))) for id_, _ in await redis(own_settings, "XRANGE", key, "-", "+")]
    assert places == sorted(places)
    assert places[1][1] > places[2][1]


async def test_an_open_writer_elsewhere_is_told_of_and_then_all_comes_in_order(
    own_settings: Settings, services: Services, owner: asyncpg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    await owner.execute("CREATE TABLE IF NOT EXISTS unrelated (n integer)")
    watch = LagWatch(services.relay_lag)
    async with relaying(own_settings):
        async with owner.transaction():
            await owner.execute("INSERT INTO unrelated VALUES (1)")
            written = await write(services, games=5, appends=4)
            await watch.look()
            assert caplog.text == ""  # not yet
            await eventually(lambda: _lags(services, ALERT_S))
            await watch.look()
            assert "an open transaction that writes holds it back" in caplog.text
            assert await told(own_settings) == []
        await eventually(lambda: has_told(own_settings, written))
        await eventually(lambda: _lags(services, 0))
        await watch.look()
    assert "the relay has caught up" in caplog.text
    now = await told(own_settings)
    assert now == in_order(now)


async def test_a_poke_that_is_cut_off_delays_nobody_for_long(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    async with relaying(own_settings):
        written = await write(services, games=1)
        for _ in range(3):
            await eventually(lambda: _is_connected(owner, "shanghai poke"))
            await cut_off(owner, "shanghai poke")
            written += await write(services, games=1)
            await eventually(partial(has_told, own_settings, written), within_s=20)


async def test_redelivery_doubles_nothing(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    written = await write(services, games=10, appends=20)
    for _ in range(2):
        await owner.execute("UPDATE relay_checkpoint SET xid = '0', gseq = 0")
        async with relaying(own_settings) as relay:
            await eventually(lambda: relay.looks > 3)
            written += await write(services, games=1)
            await eventually(partial(has_told, own_settings, written))
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


async def test_a_full_bus_is_filled_up_when_there_is_room(
    own_settings: Settings, services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    async with relaying(own_settings):
        await redis(own_settings, "CONFIG", "SET", "maxmemory", 1)
        written = await write(services, games=5)
        await eventually(lambda: "the bus is away" in caplog.text)
        await redis(own_settings, "CONFIG", "SET", "maxmemory", 0)
        await eventually(lambda: has_told(own_settings, written))


async def test_a_bus_that_forgets_by_itself_is_not_used(
    own_settings: Settings, services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    await redis(own_settings, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    async with relaying(own_settings):
        written = await write(services, games=1)
        await eventually(lambda: "noeviction" in caplog.text)
        assert await told(own_settings) == []
        await redis(own_settings, "CONFIG", "SET", "maxmemory-policy", "noeviction")
        await eventually(lambda: has_told(own_settings, written))


async def test_streams_may_be_split(own_settings: Settings, services: Services) -> None:
    split = msgspec.structs.replace(own_settings, bus_shards=4)
    async with relaying(split):
        written = await write(services, games=100)  # with fewer one stream may be without any
        await eventually(lambda: has_told(split, written))
    keys = await redis(split, "KEYS", "es:*")
    assert sorted(key[-4:] for key in keys) == [b"{00}", b"{01}", b"{02}", b"{03}"]


async def test_a_job_follows_its_event(own_settings: Settings, services: Services) -> None:
    jobs, game, polite, finished = MemoryJobs(), new_game(), new_game(), new_game()
    async with relaying(own_settings, jobs):
        await services.log.append(append(polite, work=Work("bots", 5_000 + 300)))
        await services.log.append(append(finished, work=None))
        await services.log.append(append(game, work=Work("bots", 5_000)))
        await eventually(lambda: jobs.handed_out == [game])
        await eventually(lambda: jobs.handed_out == [game, polite])


async def test_rows_from_an_older_cluster_are_refused(own_settings: Settings, owner: asyncpg.Connection) -> None:
    await owner.execute(_INSERT.replace("payload)", "payload, xid)").replace("}')", "}', '9999999')"))
    with pytest.raises(YoungerCluster):
        async with relaying(own_settings) as relay:
            await relay.task


async def test_a_hole_in_a_game_stops_the_relay(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    [(game, _), *_] = await write(services, games=1)
    await owner.execute(_INSERT.replace("gen_random_uuid(), 1,", "$1, 4,"), uuid_of("gam", game))
    with pytest.raises(OrderBroken):
        async with relaying(own_settings) as relay:
            await relay.task


async def _is_connected(owner: asyncpg.Connection, name: str) -> bool:
    return bool(await owner.fetchval("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", name))


async def _lags(services: Services, seconds: float) -> bool:
    """Tells whether the lag is longer; for 0, whether there is none."""
    lag = (await services.relay_lag()).seconds
    return lag > seconds if seconds else lag == 0
