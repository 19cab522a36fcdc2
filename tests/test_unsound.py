"""What `shanghai up` cannot run on is refused in one line that says what to do."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from infra.embedded import CannotRun, soundness
from infra.embedded.data_folder import secret_key
from infra.embedded.engines import Engines, short_folder
from infra.embedded.ports import free_port
from infra.embedded.postgres import start_postgres
from infra.embedded.running import StartFailed
from infra.embedded.soundness import postgres_version, refuse_unsound
from infra.embedded.stack import _migrate, running_stack
from infra.embedded.valkey import start_redis
from infra.migrations import NewerSchema, migrate
from infra.settings import environment
from tests.engines import engines, new_database, run

__all__ = ["engines"]


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder that looks as if a server had run on it."""
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres/PG_VERSION").write_text(f"{postgres_version()}\n")
    secret_key(tmp_path)
    return tmp_path


def refusal(data: Path, host: str = "127.0.0.1") -> str:
    """Tries to run the server, and gives the one line."""
    with pytest.raises(CannotRun) as refused, running_stack(data, host, free_port()):
        pass
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_sound_folder_is_not_refused(data: Path) -> None:
    refuse_unsound(data, has_key=False)


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert refusal(tmp_path / "data") == f"cannot use {tmp_path / 'data'}: File exists"


def test_a_folder_that_cannot_be_made() -> None:
    assert refusal(Path("/proc/nowhere/data")) == "cannot use /proc/nowhere: No such file or directory"


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soundness, "ROOM_FOR_NEW", 1 << 62)
    assert "MiB are free at" in refusal(tmp_path)
    assert not (tmp_path / "postgres").exists()


def test_a_cluster_of_another_postgres(data: Path) -> None:
    (data / "postgres/PG_VERSION").write_text("12\n")
    assert refusal(data).startswith(
        f"{data}/postgres was made by Postgres 12, and this is {postgres_version()}: dump it"
    )


def test_a_key_that_is_missing_beside_a_cluster_is_not_made_anew(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "secret.key").unlink()
    assert refusal(data).startswith(f"{data}/secret.key is missing: restore it from a backup")
    assert not (data / "secret.key").exists()
    refuse_unsound(data, has_key=True)


@pytest.mark.parametrize("content", [b"", b"0f0f\n", b"\xff" * 64])
def test_a_damaged_key(data: Path, content: bytes) -> None:
    (data / "secret.key").write_bytes(content)
    assert refusal(data) == f"{data}/secret.key does not hold 64 hex digits: restore it from a backup"


def test_an_address_of_another_machine(tmp_path: Path) -> None:
    assert refusal(tmp_path, "203.0.113.9").endswith(": Cannot assign requested address")


def test_a_cluster_that_is_damaged_or_whose_rights_are_wrong(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.embedded.postgres.RESTART_BOUND_S", 0.0)
    start_postgres(folder / "postgres", folder).stop()
    (folder / "postgres").chmod(0o755)
    with pytest.raises(StartFailed, match=r"^postgres did not start: .*invalid permissions[^\n]*$"):
        start_postgres(folder / "postgres", folder)
    (folder / "postgres").chmod(0o700)
    (folder / "postgres/global/pg_control").unlink()
    with pytest.raises(StartFailed, match=r"^postgres did not start: [^\n]*pg_control[^\n]*$"):
        start_postgres(folder / "postgres", folder)


def test_a_redis_whose_file_is_damaged(folder: Path) -> None:
    start_redis(folder / "redis", folder).stop()
    [file] = (folder / "redis/appendonlydir").glob("*.incr.aof")
    file.write_bytes(b"nonsense" * 100)
    with pytest.raises(StartFailed, match=r"^redis did not start: Bad file format[^\n]*may be removed[^\n]*$"):
        start_redis(folder / "redis", folder)


@pytest.mark.parametrize("is_refused", [True, False])
def test_a_database_of_a_newer_version(engines: Engines, tmp_path: Path, is_refused: bool) -> None:
    """It is refused where one program owns the data; the job of a cluster lets an older one run beside a newer."""
    url = new_database(engines)

    async def age() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute("INSERT INTO schema_migration (name, sha256) VALUES ('9999_later.sql', '')")
        await connection.close()

    run(age())
    if not is_refused:
        assert run(migrate(url)) == []
        return
    with pytest.raises(NewerSchema):
        run(migrate(url, refuses_newer=True))
    (tmp_path / "logs").mkdir()
    with pytest.raises(StartFailed, match=r"^migrate did not start: [^\n]*newer version \(9999_later.sql[^\n]*$"):
        _migrate(tmp_path, environment({"SHANGHAI_DATABASE_URL": url}))


def test_a_python_that_is_too_old() -> None:
    words = "import sys; sys.version_info = (3, 9, 2, 'final', 0); import infra.cli"
    ended = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "shanghai: needs Python 3.11 or newer, and this is 3.9\n"
