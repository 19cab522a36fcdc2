"""The projector on a real log: whatever dies, it ends with the rows of one that never did; a rebuild makes the same."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from itertools import islice, product
from random import Random
from typing import Any, TypeVar

import asyncpg
import pytest

from domain.commands import Visibility
from domain.events import Event, GameFinished, GameOpened, SeatChanged
from domain.presets import preset
from domain.simulation import as_bot, play
from domain.state import Status
from infra.postgres import leading
from infra.postgres.lobby import PostgresLobby
from infra.postgres.projector import AheadOfCluster, PostgresProjectedLog, leading_projector, rebuild
from infra.settings import Settings, environment
from infra.wiring import Services, open_services
from services import projections
from services.codec import encode_event
from services.ids import new_uuid, public_id, uuid_of
from services.lobby import GameFilter, list_games
from services.ports import Append, NewEvent, Principal, Unavailable
from services.projections import Batch, Changes, Projector
from services.relay import OrderBroken, Position
from services.tables import Tables
from tests.appends import new_game
from tests.engines import eventually, new_database, settings_of

T = TypeVar("T")

TABLES = ("lobby_game", "lobby_seat", "player_result", "standing", "rated_game", "rating")
PEOPLE = [public_id("ply", new_uuid()) for _ in range(5)]


@pytest.fixture
def settings(engines: Any) -> Settings:
    """Settings of a server whose database is new for this test."""
    return settings_of(engines, new_database(engines))


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings) as services:
        yield services


@pytest.fixture
async def owner(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(settings.database_url)
    yield connection
    await connection.close()


@cache
def whole_game(seed: int) -> tuple[Event, ...]:
    """Plays a round or two of bots, on whose seats people sit for the record; a seat changes hands, all is over."""
    random = Random(seed)
    rules = preset(random.choice(["davis", "jokers"]))
    steps = islice(play(rules, ["normal"] * 3, seed, as_bot), 120)
    events = [event for step in steps for event in step.events]
    people = random.sample(PEOPLE, 3)
    seated = [
        SeatChanged(event.seat, "human", people[event.seat], None, "opened")
        if isinstance(event, SeatChanged)
        else event
        for event in events
    ]
    left = SeatChanged(2, "bot", people[2], "normal", "abandoned")
    back = SeatChanged(2, "human", people[2], None, "reclaimed")
    end = [left, back] if seed % 2 else [left]
    return (*seated[:60], *end, *seated[60:], GameFinished((0,), (5, 10, 15)))


class Writer:
    """Appends games bit by bit, all at once; a part of them stays unfinished."""

    def __init__(self, services: Services, seed: int, games: int = 6) -> None:
        self.services = services
        self.random = Random(seed)
        self.rest: dict[str, list[Event]] = {}
        self.heads: dict[str, int] = {}
        for number in range(games):
            game = new_game()
            [opened, *events] = whole_game(seed * 10 + number % 3)
            assert isinstance(opened, GameOpened)
            visible: Visibility = "private" if number == 2 else "public"
            named = GameOpened(game, opened.rules, opened.pace, opened.commitment, 3, PEOPLE[4], visible, "public")
            kept = events if number % 3 else events[: len(events) // 2]
            self.rest[game], self.heads[game] = [named, *kept], 0

    async def write(self, appends: int = 10_000) -> None:
        """Appends so many times to some game."""
        for _ in range(appends):
            if not self.rest:
                return
            game = self.random.choice(sorted(self.rest))
            count = self.random.randint(1, 30)
            now, self.rest[game] = self.rest[game][:count], self.rest[game][count:]
            new = tuple(NewEvent(event, "table", None, new_uuid(), 0) for event in now)
            await self.services.log.append(Append(game, self.heads[game], new))
            self.heads[game] += len(now)
            if not self.rest[game]:
                del self.rest[game]


class Mortal:
    """A log that is lost at a call drawn by lot: before it was carried out, or after."""

    def __init__(self, log: PostgresProjectedLog, random: Random) -> None:
        self.log = log
        self.random = random

    async def place(self) -> Position:
        return await self._mortal(self.log.place())

    async def batch(self, after: Position, limit: int) -> Batch:
        return await self._mortal(self.log.batch(after, limit))

    async def beginning(self, game_id: str, before: int) -> list[Any]:
        return await self._mortal(self.log.beginning(game_id, before))

    async def ratings(self, subjects: Any) -> Any:
        return await self._mortal(self.log.ratings(subjects))

    async def save(self, changes: Changes, place: Position) -> None:
        await self._mortal(self.log.save(changes, place))

    async def _mortal(self, call: Coroutine[Any, Any, T]) -> T:
        fate = self.random.random()
        if fate < 0.04:
            call.close()
            raise Unavailable("lost before")
        answer = await call
        if fate > 0.96:
            raise Unavailable("lost after")
        return answer


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
    assert all(rows[table] for table in TABLES)
    await rebuild(settings.database_url)
    assert await dump(owner) == rows


async def test_a_killed_process_goes_on_where_it_was(
    settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    writer = Writer(services, seed=4, games=12)
    for _ in range(3):
        with process(settings):
            before = await place(owner)
            await writer.write(15)
            await eventually(lambda before=before: has_moved(owner, before))  # type: ignore[misc]
            await writer.write(15)
    await writer.write()
    with process(settings):
        await eventually(lambda: has_caught_up(owner))
    rows = await dump(owner)
    with process(settings, "--rebuild") as rebuilding:
        await eventually(lambda: _is(rebuilding.poll() is not None))
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
    for table in TABLES:
        assert await owner.fetch(f"SELECT DISTINCT build FROM {table}") == [(2,)]


async def test_a_late_commit_is_not_skipped(settings: Settings, services: Services, owner: asyncpg.Connection) -> None:
    async with projecting(settings) as looks:
        late = owner.transaction()
        await late.start()
        late_game = await insert_opened(owner)
        writer = Writer(services, seed=1, games=2)
        await writer.write()
        before = len(looks)
        await eventually(lambda: _is(len(looks) > before + 3))
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


class Explaining:
    """A database that counts the blocks that the statement of a page has read."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection = connection
        self.pages = 0
        self.plan = ""

    async def fetch(self, statement: str, *arguments: Any) -> list[Any]:
        if "lobby_game" in statement:
            await self.connection.execute(f"PREPARE page (uuid, uuid, integer, text, text, boolean) AS {statement}")
            given = ", ".join("NULL" if argument is None else f"'{argument}'" for argument in arguments)
            lines = await self.connection.fetch(f"EXPLAIN (ANALYZE, BUFFERS) EXECUTE page ({given})")
            await self.connection.execute("DEALLOCATE page")
            self.plan = "\n".join(line[0] for line in lines)
            top = next(line[0] for line in lines if "Buffers:" in line[0])
            self.pages = sum(int(count) for count in re.findall(r"(?:hit|read)=(\d+)", top))
        return []


async def insert_opened(owner: asyncpg.Connection) -> str:
    """Opens a game on a connection of the test's own."""
    game = new_game()
    opened = GameOpened(game, preset("davis"), whole_game(1)[0].pace, "00", 3, PEOPLE[0], "public", "public")  # type: ignore[union-attr]
    type_, schema, payload = encode_event(opened)
    await owner.execute(
        "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
        "VALUES ($1, 1, $2, $3, 1, 0, gen_random_uuid(), $4)",
        *(uuid_of("gam", game), type_, schema, payload),
    )
    return game


async def dump(owner: asyncpg.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Reads all rows of the served build."""
    build = await owner.fetchval("SELECT max(build) FROM projection WHERE is_served")
    rows = {table: await owner.fetch(f"SELECT * FROM {table} WHERE build = $1", build) for table in TABLES}
    return {table: sorted(tuple(row)[1:] for row in those) for table, those in rows.items()}


async def place(owner: asyncpg.Connection) -> tuple[int, int]:
    row = await owner.fetchrow("SELECT xid, gseq FROM projection WHERE is_served ORDER BY build DESC LIMIT 1")
    return tuple(row)


async def has_moved(owner: asyncpg.Connection, before: tuple[int, int]) -> bool:
    return await place(owner) > before


async def has_caught_up(owner: asyncpg.Connection) -> bool:
    last = await owner.fetchrow("SELECT xid, gseq FROM event ORDER BY xid DESC, gseq DESC LIMIT 1")
    return await place(owner) == tuple(last)


@asynccontextmanager
async def projecting(settings: Settings) -> AsyncIterator[list[None]]:
    """Projects as the process does until the block ends; gives a list that grows with each look at the log."""
    looks: list[None] = []

    async def work() -> None:
        while True:
            with suppress(Unavailable):
                async with leading_projector(settings.database_url) as log:
                    await Projector(log, lambda: looks.append(None)).run()

    task = asyncio.create_task(work())
    try:
        yield looks
    finally:
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()


@contextmanager
def process(settings: Settings, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs a projector, and kills it with -9."""
    variables = {
        "SHANGHAI_DATABASE_URL": settings.database_url,
        "SHANGHAI_REDIS_URL": settings.bus_url,
        "SHANGHAI_SECRET_KEY": settings.secret_key.hex(),
    }
    command = [sys.executable, "-m", "workers.projector", *arguments]
    running = subprocess.Popen(command, env=environment(variables))
    try:
        yield running
    finally:
        running.kill()
        running.wait()


async def _take_lead(settings: Settings) -> None:
    async with leading_projector(settings.database_url):
        pass


async def _is(value: bool) -> bool:
    return value
