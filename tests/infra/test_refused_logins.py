"""A login that has not the right, or a database that has not the tables: one line, and a process that waits."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from infra.cli import main
from infra.embedded.engines import Engines
from infra.postgres.leading import RELAY_LOCK, leading
from infra.postgres.projector import rebuild
from infra.settings import Settings
from infra.wiring import open_services
from services.ports import Unavailable
from tests.engines import run

COMMANDS = [
    ("admin", "games"),
    ("archive", "2026-02", "--to", "kept"),
    ("token", "--scope", "play"),
    ("relay", "--repair"),
]


@pytest.fixture(scope="module")
def stranger(settings: Settings) -> Iterator[str]:
    """Is the address of the database for a login that is a member of no role."""
    run(_as_owner(settings, "CREATE ROLE stranger LOGIN NOSUPERUSER"))
    yield urlsplit(settings.database_url)._replace(netloc="stranger@").geturl()
    run(_as_owner(settings, "DROP ROLE stranger"))


@pytest.fixture
def no_tables(engines: Engines, settings: Settings) -> Iterator[str]:
    """Is the address of a database before its first migration, in a cluster that has the roles already."""
    run(_as_owner(settings, "CREATE DATABASE bare"))
    yield urlsplit(settings.database_url)._replace(path="/bare").geturl()
    run(_as_owner(settings, "DROP DATABASE bare WITH (FORCE)"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_login_without_the_right_is_one_line(
    command: tuple[str, ...], stranger: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "permission denied" in one_line(command, stranger, tmp_path, monkeypatch)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_login_that_there_is_not_is_one_line(
    command: tuple[str, ...], settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = urlsplit(settings.database_url)._replace(netloc="nobody@").geturl()
    assert 'role "nobody" does not exist' in one_line(command, url, tmp_path, monkeypatch)


@pytest.mark.parametrize("command", [("admin", "games"), ("token", "--scope", "play"), ("relay", "--repair")])
def test_a_database_without_tables_is_one_line(
    command: tuple[str, ...], no_tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "run `shanghai migrate` as its owner" in one_line(command, no_tables, tmp_path, monkeypatch)


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_an_archive_that_cannot_lie_where_it_is_to_is_one_line(
    folder: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    said = one_line(
        ("archive", "2026-02", "--to", str(tmp_path / folder)), settings.database_url, tmp_path, monkeypatch
    )
    assert f"cannot use {tmp_path / folder}: " in said


async def test_a_process_waits_for_the_rights_of_its_login(settings: Settings, stranger: str) -> None:
    with pytest.raises(Unavailable, match="permission denied to set role"):
        async with leading(stranger, RELAY_LOCK, name="relay"):
            pass
    with pytest.raises(Unavailable, match="permission denied to set role"):
        await rebuild(stranger)
    async with open_services(replace(settings, database_url=stranger)) as services:
        with pytest.raises(Unavailable, match="permission denied to set role"):
            await services.log.read("gam_" + "0" * 26)
        await _as_owner(settings, "GRANT shanghai_app TO stranger")
        assert await services.log.read("gam_" + "0" * 26) == []
        await _as_owner(settings, "REVOKE shanghai_app FROM stranger")


def one_line(command: tuple[str, ...], url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a command with this login for everything; gives the one line that it ends with."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SHANGHAI_DATABASE_URL", url)
    monkeypatch.delenv("SHANGHAI_OPERATOR_DATABASE_URL", raising=False)
    result = CliRunner().invoke(main, command)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1), result.output
    return result.stderr


async def _as_owner(settings: Settings, statement: str) -> None:
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute(statement)
    await connection.close()
