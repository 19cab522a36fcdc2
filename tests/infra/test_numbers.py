"""The numbers follow what happens: each is moved here by the thing that it counts."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from infra.embedded.engines import short_folder
from infra.embedded.valkey import start_redis
from infra.jobs import CeleryJobs, ClosableJobs, RedisJobs
from infra.postgres.database import Database
from infra.settings import Settings
from infra.watching.cluster import Cluster
from infra.watching.counted import CountedTables
from infra.watching.numbers import Reading, reading
from infra.wiring import Services
from services.memory import MemoryLog
from services.outcomes import GameNotFound
from services.ports import Unavailable, VersionConflict, Work
from services.tables import Draft
from tests.appends import append, keyed, new_game
from tests.contract.tables import opened
from tests.engines import eventually, with_redis
from tests.exported import Since, number
from tests.infra.telling import redis
from workers.projector import projector
from workers.relay import relay

pytestmark = [pytest.mark.usefixtures("owner"), pytest.mark.xdist_group("numbers")]


@pytest.fixture
async def cluster(own_settings: Settings) -> AsyncIterator[Cluster]:
    database = Database(own_settings.database_url, size=1, name="test")
    jobs = RedisJobs(own_settings.broker_url)

    async def processes() -> dict[str, bool]:
        return {"worker": False, "relay": True}

    yield Cluster(database.fetch, jobs.length, processes)
    await jobs.close()
    await database.close()


async def test_appends_are_timed_by_what_became_of_them(services: Services) -> None:
    since, game = Since(), new_game()
    await services.log.append(append(game, count=3))
    with pytest.raises(VersionConflict):
        await services.log.append(append(game))
    assert since("shanghai_append_seconds_count", outcome="done") == 1
    assert since("shanghai_append_seconds_count", outcome="conflict") == 1
    assert since("shanghai_events_total") == 3
    assert since("shanghai_commands_total", actor="player") == 1


async def test_appends_that_go_together_are_one_batch(services: Services) -> None:
    since = Since()
    await asyncio.gather(*(services.log.append(append(new_game())) for _ in range(20)))
    assert since("shanghai_append_batch_sum") == 20
    assert since("shanghai_append_batch_count") < 20


async def test_a_database_that_is_away_is_counted() -> None:
    since, database = Since(), Database("postgresql://nobody@127.0.0.1:1/nothing", size=1, name="test")
    with pytest.raises(Unavailable):
        await database.run("SELECT 1")
    await database.close()
    assert since("shanghai_database_faults_total", cause="lost") == 1


async def test_players_moves_are_counted_by_ruleset_and_outcome() -> None:
    since, tables = Since(), CountedTables(MemoryLog())
    game = await opened(tables)

    def refuse(_: Draft) -> None:
        raise GameNotFound

    await tables.carry_out(game, _nothing, keyed())
    with pytest.raises(GameNotFound):
        await tables.carry_out(game, refuse, keyed())
    with pytest.raises(GameNotFound):
        await tables.carry_out("gam_nobody", refuse, keyed())
    await tables.carry_out(game, _nothing, keyed(operation="startGame"))
    assert since("shanghai_moves_total", ruleset="davis", outcome="accepted") == 1
    assert since("shanghai_moves_total", ruleset="davis", outcome="denied") == 1
    assert since("shanghai_moves_total", ruleset="other", outcome="denied") == 1


async def test_without_a_relay_the_lag_grows_and_with_one_it_is_gone(
    own_settings: Settings, services: Services, cluster: Cluster
) -> None:
    since = Since()
    await services.log.append(append(new_game(), count=5))
    with reading(*cluster.readings):
        await cluster.look()
        first = number("shanghai_relay_lag_seconds"), number("shanghai_projector_lag_seconds")
        await cluster.look()
        assert (number("shanghai_relay_lag_seconds"), number("shanghai_projector_lag_seconds")) > first > (0, 0)
        both = [asyncio.create_task(relay(own_settings)), asyncio.create_task(projector(own_settings))]

        async def is_caught_up() -> bool:
            await cluster.look()
            return number("shanghai_relay_lag_seconds") == number("shanghai_projector_lag_seconds") == 0

        await eventually(is_caught_up)
        for task in both:
            task.cancel()
        await asyncio.wait(both)
    assert since("shanghai_relayed_events_total") == since("shanghai_projected_events_total") == 5
    assert since("shanghai_publish_seconds_count") >= 1


async def test_a_writer_that_stops_lets_the_barrier_age(
    services: Services, cluster: Cluster, owner: asyncpg.Connection
) -> None:
    await cluster.look()
    async with owner.transaction():
        await owner.execute("SELECT pg_current_xact_id()")
        await services.log.append(append(new_game()))
        await cluster.look()
        await cluster.look()
        assert cluster.seen["barrier_age"] > 0
        assert cluster.seen["held_back"] == 1
    await services.log.append(append(new_game()))
    await cluster.look()
    assert cluster.seen["barrier_age"] == 0


async def test_overdue_work_is_told_by_kind_and_stalled_games_after_a_while(
    services: Services, cluster: Cluster, owner: asyncpg.Connection
) -> None:
    late, stalled, done = new_game(), new_game(), new_game()
    await services.log.append(append(late, work=Work("turn_timer", 0)))
    await services.log.append(append(stalled, work=Work("bots", 0)))
    await services.log.append(append(done, work=Work("bots", 0)))
    await services.log.append(append(done, 1))
    await owner.execute("UPDATE work SET due_at = now() - interval '5 s' WHERE kind <> 0")
    await owner.execute("UPDATE work SET due_at = now() - interval '1 h' WHERE kind = 1")
    with reading(*cluster.readings):
        await cluster.look()
        assert number("shanghai_overdue", kind="turn_timer") == number("shanghai_overdue", kind="bots") == 1
        assert number("shanghai_overdue", kind="score") == 0
        assert number("shanghai_games_stalled") == 1
        assert number("shanghai_overdue_longest_seconds") == pytest.approx(3600, abs=60)
        assert number("shanghai_games_live", status="playing") == 2
        assert number("shanghai_database_bytes") > 1_000_000
        assert number("shanghai_events_astray") == 0
        assert (number("shanghai_alive", process="relay"), number("shanghai_alive", process="worker")) == (1, 0)


@pytest.mark.parametrize("client", [RedisJobs, CeleryJobs])
async def test_the_queue_is_as_long_as_what_was_handed_out(
    own_settings: Settings, client: Callable[[str], ClosableJobs]
) -> None:
    await redis(own_settings, "FLUSHALL")
    jobs = client(own_settings.broker_url)
    for count in range(3):
        assert await jobs.length() == count
        await jobs.hand_out(new_game())
    await jobs.close()
    await redis(own_settings, "FLUSHALL")


async def test_what_cannot_be_read_is_no_number_and_not_an_old_one(own_settings: Settings) -> None:
    with short_folder() as run:
        engine = start_redis(run / "redis", run)
        jobs = RedisJobs(with_redis(own_settings, engine.url).broker_url)
        is_away = False

        async def fetch(*_: object) -> list[object]:
            if is_away:
                raise Unavailable
            return await database.fetch(*_)  # type: ignore[arg-type]

        async def processes() -> dict[str, bool]:
            return {}

        database = Database(own_settings.database_url, size=1, name="test")
        cluster = Cluster(fetch, jobs.length, processes)
        with reading(*cluster.readings):
            await cluster.look()
            assert (number("shanghai_queue_length"), number("shanghai_relay_lag_seconds")) == (0, 0)
            is_away = True
            engine.stop()
            await cluster.look()
            assert math.isnan(number("shanghai_queue_length"))
            assert math.isnan(number("shanghai_relay_lag_seconds"))
        await jobs.close()
        await database.close()


async def test_a_number_that_is_read_is_gone_with_its_owner() -> None:
    with reading(Reading("gauge", "shanghai_test", "Of this test", lambda: 7)):
        assert number("shanghai_test") == 7
    assert number("shanghai_test") == 0


def _nothing(_: Draft) -> None:
    """Plans nothing, which is carried out."""
