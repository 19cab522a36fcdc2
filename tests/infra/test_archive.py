"""Months that are taken out of the log and put back: every row as it was."""

import asyncio
import gzip
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from infra.postgres import archive as archiving
from infra.postgres.archive import ArchiveRefused, archive, restore
from infra.postgres.projector import rebuild
from infra.settings import Settings, environment
from infra.wiring import Services
from services.ids import uuid_of
from services.lobby import GameFilter
from tests.infra.afresh import services, settings
from tests.infra.months import ALL, MONTH, everybody_is_told, game_of, month, owner, write
from tests.infra.projecting import PEOPLE

__all__ = ["month", "owner", "services", "settings"]


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
