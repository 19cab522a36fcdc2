"""The relay between a real log and a real bus: nothing is lost, nothing comes twice, whatever dies."""

import asyncio
import signal
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
from infra.postgres import leading
from infra.postgres.leading import RELAY_LOCK
from infra.postgres.relay import Superseded, YoungerCluster, leading_relay
from infra.postgres.rows import ACTORS
from infra.settings import Settings, environment
from infra.wiring import Services, open_services
from services.ids import new_uuid, uuid_of
from services.lag import ALERT_S, LagWatch
from services.memory import MemoryJobs
from services.ports import Append, NewEvent, Unavailable, Work
from services.relay import OrderBroken
from tests.appends import append, new_game
from tests.engines import eventually, with_redis
from tests.infra.dying_relay import STEPS
from tests.infra.telling import redis, relaying, told

pytestmark = [pytest.mark.usefixtures("owner"), pytest.mark.xdist_group("relay")]

_CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{}'"
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
        await eventually(lambda: _told_at_least(own_settings, 3))
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
    assert now == _by_game(now)


async def test_of_two_relays_one_leads(own_settings: Settings) -> None:
    async with leading_relay(own_settings.database_url) as leader:
        second = asyncio.create_task(_take_lead(own_settings))
        done, _ = await asyncio.wait([second], timeout=0.6)
        assert not done
        await leader.save((7, 7))
    assert await second == (7, 7)


async def test_two_relays_lose_and_double_nothing_while_the_lock_is_cut_off_them(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    written: list[tuple[str, int]] = []
    with relay_process(own_settings), relay_process(own_settings):
        await eventually(lambda: _leads(owner))
        for _ in range(4):
            writing = asyncio.create_task(write(services, games=10, appends=5))
            await eventually(lambda: _leads(owner))
            await owner.execute(_CUT.format("shanghai relay"))
            written += await writing
        await eventually(lambda: has_told(own_settings, written))
    now = await told(own_settings)
    assert len(now) == len(written)
    assert now == _by_game(now)


async def test_a_leader_that_hangs_is_replaced(own_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert leading._LEADER["idle_session_timeout"] == "5s"
    monkeypatch.setitem(leading._LEADER, "idle_session_timeout", "300ms")
    async with leading_relay(own_settings.database_url) as hung:
        assert await _take_lead(own_settings) is not None
        with pytest.raises(Unavailable):
            await hung.save((9, 9))


async def test_a_poke_that_is_cut_off_delays_nobody_for_long(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    async with relaying(own_settings):
        written = await write(services, games=1)
        for _ in range(3):
            await eventually(lambda: _is_connected(owner, "shanghai poke"))
            await owner.execute(_CUT.format("shanghai poke"))
            written += await write(services, games=1)
            await eventually(partial(has_told, own_settings, written), within_s=1)


@pytest.mark.parametrize("step", STEPS)
async def test_a_relay_killed_at_any_step_loses_and_doubles_nothing(
    own_settings: Settings, services: Services, step: str
) -> None:
    games = [new_game() for _ in range(6)]
    for after in range(3):
        await asyncio.gather(*(services.log.append(append(game, after, work=Work("bots", 5_000))) for game in games))
    with relay_process(own_settings, "tests.infra.dying_relay", step) as dying:
        await eventually(lambda: _is(dying.poll() is not None))
        assert dying.returncode == -signal.SIGKILL
    jobs = MemoryJobs()
    async with relaying(own_settings, jobs):
        written = [(game, version) for version in (1, 2, 3) for game in games]
        await eventually(lambda: has_told(own_settings, written))
        if step != "saved":  # then they have been handed out before
            await eventually(lambda: _is(set(jobs.handed_out) == set(games)))
    now = await told(own_settings)
    assert len(now) == len(written)
    assert now == _by_game(now)


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
    for times in range(1, 3):
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


def _by_game(entries: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Gives the same entries with each game's versions in order, and no version twice."""
    versions = {game: iter(sorted({version for name, version in entries if name == game})) for game, _ in entries}
    return [(game, next(versions[game], 0)) for game, _ in entries]


async def _leads(owner: asyncpg.Connection) -> bool:
    lock = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = $1"
    return bool(await owner.fetchval(lock, RELAY_LOCK))


async def _is_connected(owner: asyncpg.Connection, name: str) -> bool:
    return bool(await owner.fetchval("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", name))


async def _lags(services: Services, seconds: float) -> bool:
    """Tells whether the lag is longer; for 0, whether there is none."""
    lag = (await services.relay_lag()).seconds
    return lag > seconds if seconds else lag == 0


@contextmanager
def relay_process(
    settings: Settings, module: str = "workers.relay", *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    variables = {
        "SHANGHAI_DATABASE_URL": settings.database_url,
        "SHANGHAI_REDIS_URL": settings.bus_url,
        "SHANGHAI_SECRET_KEY": settings.secret_key.hex(),
    }
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], env=environment(variables))
    try:
        yield process
    finally:
        process.kill()
        process.wait()
