"""Months that are taken out of the log and put back: every row as it was, and nobody is kept waiting for it."""

import asyncio
import gzip
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from msgspec.structs import replace

from domain.events import Event, GameOpened
from infra.embedded.engines import Engines
from infra.postgres import archive as archiving
from infra.postgres.archive import ArchiveRefused, archive, restore
from infra.postgres.database import Database
from infra.postgres.projector import leading_projector, rebuild
from infra.postgres.work import PostgresWork
from infra.settings import Settings, environment
from infra.wiring import Services, open_services
from services.ids import new_uuid, public_id, uuid_of
from services.lobby import GameFilter
from services.ports import Append, NewEvent
from services.projections import Projector
from tests.engines import new_database, settings_of
from tests.infra.projecting import PEOPLE, whole_game

MONTH = "2026-03"
ALL = "SELECT tableoid::regclass::text, * FROM event ORDER BY game_id, version"


@pytest.fixture
def settings(engines: Engines) -> Settings:
    """Settings of a server whose database is new for this test."""
    return settings_of(engines, new_database(engines))


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings) as services:
        yield services


@pytest.fixture
async def owner(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    """A connection with all rights, to a log that has a month of the past."""
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute(f"SELECT make_month('{MONTH}'); SELECT attach_month('{MONTH}')")
    yield connection
    await connection.close()


def game_of(year: int, month: int, number: int = 0) -> str:
    """Names a game that was opened in that month."""
    stamp = int(datetime(year, month, 1 + number % 28, tzinfo=UTC).timestamp() * 1000)
    return public_id("gam", UUID(int=stamp << 80 | new_uuid().int & (1 << 80) - 1))


async def write(services: Services, game: str, seed: int, *, is_over: bool = True) -> str:
    """Appends a whole game, or all of it but its end."""
    opened, *rest = whole_game(seed)
    assert isinstance(opened, GameOpened)
    events: list[Event] = [replace(opened, game_id=game), *rest]
    for after in range(0, len(events) - (not is_over), 40):
        piece = events[after : min(after + 40, len(events) - (not is_over))]
        new = tuple(NewEvent(event, "bot", 1, new_uuid(), 0) for event in piece)
        await services.log.append(Append(game, after, new))
    return game


async def everybody_is_told(settings: Settings, owner: asyncpg.Connection) -> None:
    """Brings the projector, and for the record the relay, to the end of the log."""
    async with leading_projector(settings.projector_database_url) as log:
        await Projector(log).catch_up()
    await owner.execute("UPDATE relay_checkpoint SET xid = place.xid, gseq = place.gseq FROM projection AS place")


@pytest.fixture
async def month(settings: Settings, services: Services, owner: asyncpg.Connection) -> list[str]:
    """Games of the past month, all over, and one of today that is not."""
    games = [await write(services, game_of(2026, 3, n), seed=n % 3) for n in range(6)]
    await write(services, public_id("gam", new_uuid()), seed=1, is_over=False)
    await everybody_is_told(settings, owner)
    return games


async def test_a_restored_month_is_the_same_row_by_row(
    settings: Settings, services: Services, owner: asyncpg.Connection, month: list[str], tmp_path: Path
) -> None:
    before = await owner.fetch(ALL)
    listed = await services.lobby.page(PEOPLE[0], GameFilter(), None, 100)
    results = [await services.lobby.results(player, 100) for player in PEOPLE]
    assert any(results)
    said: list[str] = []
    manifest = await archive(settings.database_url, MONTH, tmp_path / "kept", said.append)
    assert "of 6 games" in said[0]

    assert {row["game_id"] for row in await owner.fetch(ALL)}.isdisjoint({uuid_of("gam", game) for game in month})
    assert await owner.fetchval("SELECT to_regclass('event_2026_03')") is None
    assert await services.log.read(month[0]) == []
    gone = await services.lobby.page(PEOPLE[0], GameFilter(), None, 100)
    assert {game.game_id for game in listed.games} - {game.game_id for game in gone.games} == set(month)
    assert await owner.fetch("SELECT * FROM lobby_seat WHERE game_id = $1", uuid_of("gam", month[0])) == []
    await rebuild(settings.projector_database_url)
    assert [await services.lobby.results(player, 100) for player in PEOPLE] == results

    assert (await restore(settings.database_url, manifest)).games == 6
    assert await owner.fetch(ALL) == before
    await rebuild(settings.projector_database_url)
    assert await services.lobby.page(PEOPLE[0], GameFilter(), None, 100) == listed
    assert [await services.lobby.results(player, 100) for player in PEOPLE] == results


async def test_nothing_is_written_any_more_to_a_month_that_was_taken_out(
    settings: Settings, services: Services, owner: asyncpg.Connection, month: list[str], tmp_path: Path
) -> None:
    """Also not by a request that was sent in that month and is repeated now."""
    manifest = await archive(settings.database_url, MONTH, tmp_path)
    with pytest.raises(asyncpg.RaiseError, match="belongs to a month that was archived"):
        await write(services, game_of(2026, 3), seed=1)
    await restore(settings.database_url, manifest)
    await write(services, game_of(2026, 3), seed=1)
    assert await owner.fetchval("SELECT count(*) FROM event_default") == 0


async def test_a_restored_month_can_be_archived_again_and_looks_as_if_it_had_never_left(
    settings: Settings, owner: asyncpg.Connection, month: list[str], tmp_path: Path
) -> None:
    async def shape() -> list[Any]:
        return [
            await owner.fetch("SELECT indexdef FROM pg_indexes WHERE tablename = 'event_2026_03' ORDER BY 1"),
            await owner.fetch(
                "SELECT pg_get_constraintdef(oid) FROM pg_constraint "
                "WHERE conrelid = 'event_2026_03'::regclass ORDER BY 1"
            ),
            await owner.fetchval("SELECT relacl FROM pg_class WHERE relname = 'event_2026_03'"),
        ]

    before = await shape()
    first = await archive(settings.database_url, MONTH, tmp_path)
    rows = (tmp_path / f"events-{MONTH}.copy.gz").read_bytes()
    await restore(settings.database_url, first)
    assert await shape() == before
    await archive(settings.database_url, MONTH, tmp_path)
    assert gzip.decompress((tmp_path / f"events-{MONTH}.copy.gz").read_bytes()) == gzip.decompress(rows)


@pytest.mark.parametrize("what", ["unfinished", "untold", "unknown", "future", "nonsense"])
async def test_a_month_that_is_not_done_stays(
    settings: Settings, services: Services, owner: asyncpg.Connection, month: list[str], tmp_path: Path, what: str
) -> None:
    name, text = MONTH, ""
    if what == "unfinished":
        game = await write(services, game_of(2026, 3, 3), seed=2, is_over=False)
        await everybody_is_told(settings, owner)
        text = f"not all games of 2026-03 are over: {game}"
    elif what == "untold":
        game = await write(services, game_of(2026, 3, 3), seed=2)
        text = f"behind: game {game}"
    elif what == "unknown":
        name, text = "2026-02", "the log has no month 2026-02"
    elif what == "future":
        name = f"{datetime.now(UTC):%Y-%m}"
        text = "is not over yet"
    else:
        name, text = "march", "is no month"
    before = await owner.fetch(ALL)
    with pytest.raises(ArchiveRefused, match=text):
        await archive(settings.database_url, name, tmp_path)
    assert await owner.fetch(ALL) == before
    assert files_in(tmp_path) == []


async def test_an_archive_that_was_cut_short_is_finished_by_the_next(
    settings: Settings, owner: asyncpg.Connection, month: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await owner.fetch(ALL)
    for step in ("unfinished", "detach", "unlist", "drop"):
        for is_done in (False, True):
            with killed_at(step, monkeypatch, is_done=is_done), pytest.raises(Killed):
                await archive(settings.database_url, MONTH, tmp_path)
    with pytest.raises(ArchiveRefused, match="archived before"):
        await archive(settings.database_url, MONTH, tmp_path)
    manifest = tmp_path / f"events-{MONTH}.json"
    for step in ("drop", "make", "attach"):
        for is_done in (False, True):
            with killed_at(step, monkeypatch, is_done=is_done), pytest.raises(Killed):
                await restore(settings.database_url, manifest)
    assert await owner.fetch(ALL) == before
    with pytest.raises(ArchiveRefused, match="part of the log already"):
        await restore(settings.database_url, manifest)


def files_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


class Killed(Exception):
    """The command ends here."""


@contextmanager
def killed_at(step: str, monkeypatch: pytest.MonkeyPatch, *, is_done: bool) -> Iterator[None]:
    """Has a command end at a statement: before it is carried out, or after."""
    real = asyncpg.Connection.fetch, asyncpg.Connection.fetchrow

    def mortal(ask: Any) -> Any:
        async def asked(connection: asyncpg.Connection, statement: str, *arguments: Any) -> Any:
            is_last = statement == archiving._SQL[step]
            if is_last and not is_done:
                raise Killed
            answer = await ask(connection, statement, *arguments)
            if is_last:
                raise Killed
            return answer

        return asked

    with monkeypatch.context() as patch:
        patch.setattr(asyncpg.Connection, "fetch", mortal(real[0]))
        patch.setattr(asyncpg.Connection, "fetchrow", mortal(real[1]))
        yield


async def test_a_damaged_archive_is_refused(
    settings: Settings, owner: asyncpg.Connection, month: list[str], tmp_path: Path
) -> None:
    manifest = await archive(settings.database_url, MONTH, tmp_path)
    rows = tmp_path / f"events-{MONTH}.copy.gz"
    whole = rows.read_bytes()
    changed = gzip.compress(gzip.decompress(whole).replace(b"\t1\t", b"\t2\t", 1))
    for damage in (whole[:-20], changed, b"", whole[:100] + b"\0" + whole[101:]):
        rows.write_bytes(damage)
        with pytest.raises(ArchiveRefused):
            await restore(settings.database_url, manifest)
        assert await owner.fetchval("SELECT to_regclass('event_2026_03')") is None
    rows.write_bytes(whole)
    await restore(settings.database_url, manifest)


async def test_events_that_came_while_a_month_was_written_keep_it_in_the_log(
    settings: Settings, services: Services, owner: asyncpg.Connection, month: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    real = archiving.look_into

    def meanwhile(rows: Path) -> archiving.Contents:
        late = write_now(settings, game_of(2026, 3, 5))
        assert late
        monkeypatch.setattr(archiving, "look_into", real)
        return real(rows)

    monkeypatch.setattr(archiving, "look_into", meanwhile)
    with pytest.raises(ArchiveRefused, match="meanwhile"):
        await archive(settings.database_url, MONTH, tmp_path)
    assert (
        await owner.fetchval("SELECT count(*) FROM event WHERE version = 1 AND tableoid = 'event_2026_03'::regclass")
        == 7
    )
    assert await owner.fetchval("SELECT count(*) FROM archived_month") == 0


def write_now(settings: Settings, game: str) -> int:
    """Opens a game from another process."""
    code = f"""
import asyncio, asyncpg
async def main():
    connection = await asyncpg.connect({settings.database_url!r})
    await connection.execute("INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
        "VALUES ($1, 1, 1, 1, 1, 0, $1, '{{}}')", {str(uuid_of("gam", game))!r})
    await connection.close()
asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
    return 1


async def test_no_step_holds_back_the_relay_or_the_writers_for_a_second(
    settings: Settings, services: Services, owner: asyncpg.Connection, month: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Somebody reads the log; meanwhile a month is archived, then restored, and a partition is to be made."""
    monkeypatch.setattr(archiving, "_ROWS_AT_ONCE", 200)
    monkeypatch.setattr(archiving, "_PAUSE_S", 0.2)
    [[last]] = await owner.fetch("SELECT max(relname) FROM pg_class WHERE relname ~ '^event_[0-9]{4}_[0-9]{2}$'")
    async with watched(settings) as longest:
        for step in (
            archive(settings.database_url, MONTH, tmp_path),
            restore(settings.database_url, tmp_path / f"events-{MONTH}.json"),
        ):
            async with reading(settings):
                working = asyncio.create_task(step)
                await asyncio.sleep(1.5)
                assert not working.done()
            await asyncio.wait_for(working, 20)
        await owner.execute(f"DROP TABLE {last}")
        database = Database(settings.database_url, size=1, name="test")
        async with reading(settings):
            assert await PostgresWork(database).make_partitions() == 0
        assert await PostgresWork(database).make_partitions() == 1
        await database.close()
    assert longest["barrier"] < 1, longest
    assert longest["append"] < 1, longest
    assert longest["looks"] > 100


@asynccontextmanager
async def reading(settings: Settings) -> AsyncIterator[None]:
    """Holds a lock on the whole log as a dump does."""
    connection = await asyncpg.connect(settings.database_url)
    transaction = connection.transaction()
    await transaction.start()
    await connection.fetch("SELECT count(*) FROM event")
    try:
        yield
    finally:
        await transaction.rollback()
        await connection.close()


@asynccontextmanager
async def watched(settings: Settings) -> AsyncIterator[dict[str, float]]:
    """Measures the longest time that one transaction held the relay's barrier, and that an append took."""
    longest = {"barrier": 0.0, "append": 0.0, "looks": 0.0}

    async def watch_barrier(connection: asyncpg.Connection) -> None:
        held, since = None, time.monotonic()
        while True:
            now = await connection.fetchval(
                "SELECT CASE WHEN pg_snapshot_xmin(s) < pg_snapshot_xmax(s) THEN pg_snapshot_xmin(s) END "
                "FROM pg_current_snapshot() AS s"
            )
            if now is None or now != held:
                held, since = now, time.monotonic()
            longest["barrier"] = max(longest["barrier"], time.monotonic() - since)
            longest["looks"] += 1
            await asyncio.sleep(0.01)

    async def append() -> None:
        async with open_services(settings) as services:
            while True:
                begun = time.monotonic()
                await write(services, public_id("gam", new_uuid()), seed=1)
                longest["append"] = max(longest["append"], (time.monotonic() - begun) / 6)
                await asyncio.sleep(0.01)

    connection = await asyncpg.connect(settings.database_url)
    tasks = [asyncio.create_task(watch_barrier(connection)), asyncio.create_task(append())]
    try:
        yield longest
    finally:
        for task in tasks:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        await connection.close()
        assert all(isinstance(one, asyncio.CancelledError) for one in done), done


async def test_the_commands_say_in_a_line_what_they_did_or_why_not(
    settings: Settings, owner: asyncpg.Connection, month: list[str], tmp_path: Path
) -> None:
    variables = {"SHANGHAI_OPERATOR_DATABASE_URL": settings.database_url, "SHANGHAI_DATABASE_URL": "postgresql:///none"}

    async def shanghai(*arguments: str | Path) -> tuple[int, str]:
        command = [sys.executable, "-m", "infra.cli", *map(str, arguments)]
        ran = await asyncio.to_thread(
            subprocess.run, command, env=environment(variables), capture_output=True, text=True, timeout=60, check=False
        )
        return ran.returncode, ran.stdout + ran.stderr

    before, manifest = await owner.fetch(ALL), tmp_path / f"events-{MONTH}.json"
    assert await shanghai("archive", "2026-02", "--to", tmp_path) == (1, "shanghai: the log has no month 2026-02\n")
    code, said = await shanghai("archive", MONTH, "--to", tmp_path)
    assert (code, said.splitlines()[1:]) == (0, [f"archived {manifest}"])
    code, said = await shanghai("restore", manifest)
    assert (code, "restored" in said) == (0, True)
    assert await owner.fetch(ALL) == before
    code, said = await shanghai("restore", tmp_path / "events-2026-02.json")
    assert (code, said.count("\n"), "cannot be read" in said) == (1, 1, True)
