"""What is damaged, not ours or too small is one line and an exit code: no traceback, and nothing half-made is left."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import pytest

from infra.backups import LOG, copy
from infra.embedded.data_folder import secret_key
from infra.embedded.engines import short_folder
from infra.embedded.ports import free_port
from infra.embedded.postgres import start_postgres
from infra.embedded.running import StartFailed
from infra.embedded.soundness import postgres_version
from infra.embedded.valkey import start_redis
from infra.migrations import migrate
from infra.recovery import recover
from tests.another_user import bar_user_namespaces
from tests.engines import UNSAFE, run
from tests.small_disk import ROOT, on_a_small_disk

BOUND = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
MAY_BE_REFUSED = BOUND if os.geteuid() == 0 else []  # before a command of root, who else may write everywhere


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A short one, which others may pass through."""
    with short_folder() as path:
        path.chmod(0o711)
        yield path


@pytest.fixture(scope="module")
def clean(folder: Path) -> Path:
    """A cluster that was stopped in good order."""
    (folder / "clean").mkdir()
    start_postgres(folder / "clean/postgres", folder, settings=UNSAFE).stop()
    return folder / "clean/postgres"


@pytest.fixture
def cluster(clean: Path, folder: Path) -> Iterator[Path]:
    """A copy of it, to be damaged."""
    path = folder / "damaged/postgres"
    path.parent.mkdir()
    shutil.copytree(clean, path, symlinks=True)
    yield path
    shutil.rmtree(path.parent)


@pytest.fixture(scope="module")
def backups(folder: Path) -> Path:
    """A copy of a migrated cluster, and two files of the log after it, in each of which a player has come."""
    (folder / "backed-up").mkdir()
    server = start_postgres(folder / "backed-up/postgres", folder, settings=UNSAFE)
    run(migrate(server.url))
    copy(server.url, folder / "backups", keep=1, say=lambda _: None)
    (folder / "backups" / LOG).mkdir(mode=0o700)
    for _ in range(2):
        for path in run(_add_player(server.url)):
            shutil.copy(folder / "backed-up/postgres/pg_wal" / path, folder / "backups" / LOG)
    server.stop()
    return folder / "backups"


async def _add_player(url: str) -> list[str]:
    """Adds one, and names the file of the log that is full with it."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("INSERT INTO player (player_id, name) VALUES (gen_random_uuid(), 'Anna')")
        return [await connection.fetchval("SELECT pg_walfile_name(pg_switch_wal())")]
    finally:
        await connection.close()


def refusal(*command: str | Path, limits: list[str] = MAY_BE_REFUSED) -> str:
    """Runs a `shanghai` command that must end with exit code 1 and one line."""
    words = [*limits, sys.executable, "-m", "infra.cli", *command]
    return only_line(subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False))


def only_line(ended: subprocess.CompletedProcess[str]) -> str:
    assert ended.returncode == 1, ended.stdout + ended.stderr
    [line] = ended.stderr.splitlines()
    assert line.startswith("shanghai: ")
    return line.removeprefix("shanghai: ")


def _no_wal(cluster: Path) -> None:
    for path in (cluster / "pg_wal").glob("0*"):
        path.unlink()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda cluster: os.truncate(cluster / "global/pg_control", 0), "pg_control"),
        (lambda cluster: os.truncate(cluster / "global/pg_control", 100), "pg_control"),
        (lambda cluster: (cluster / "global/pg_control").write_bytes(b"x" * 8192), "incompatible|checksum|pg_control"),
        (_no_wal, "could not locate a valid checkpoint record"),
        (lambda cluster: shutil.rmtree(cluster / "pg_wal"), '"pg_wal" does not exist'),
        (lambda cluster: (cluster / "PG_VERSION").write_text("none\n"), "not a valid data directory"),
    ],
    ids=[
        "pg_control empty",
        "pg_control cut off",
        "pg_control garbled",
        "no log",
        "no folder of the log",
        "no version",
    ],
)
def test_a_damaged_cluster_is_told_in_postgres_own_words(
    cluster: Path, folder: Path, damage: Callable[[Path], object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.embedded.postgres.RESTART_BOUND_S", 0.0)
    damage(cluster)
    with pytest.raises(StartFailed, match=rf"^postgres did not start: [^\n]*({words})[^\n]*$"):
        start_postgres(cluster, folder)


def test_lock_files_that_hold_nonsense_disturb_no_start(cluster: Path, folder: Path) -> None:
    (cluster / "postmaster.pid").write_bytes(b"\xffnonsense\n")
    start_postgres(cluster, folder).stop()
    (folder / "redis").mkdir()
    (folder / "redis/redis.pid").write_text("nonsense")
    start_redis(folder / "redis", folder).stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_cluster_of_another_user(cluster: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.embedded.postgres.RESTART_BOUND_S", 0.0)
    os.chown(cluster, 12345, 12345)
    with pytest.raises(StartFailed, match=r"^postgres did not start: [^\n]*(wrong ownership|Permission denied)[^\n]*$"):
        start_postgres(cluster, folder)


def test_a_redis_whose_file_is_cut_off_goes_on_and_one_without_it_says_what_may_be_done(folder: Path) -> None:
    data = folder / "cut"
    start_redis(data, folder).stop()
    [file] = (data / "appendonlydir").glob("*.incr.aof")
    set_ = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"
    file.write_bytes(set_ + set_[:-5])
    start_redis(data, folder).stop()
    [manifest] = (data / "appendonlydir").glob("*.manifest")
    manifest.write_text("nonsense")
    with pytest.raises(StartFailed, match=r"^redis did not start: [^\n]*may be removed[^\n]*$"):
        start_redis(data, folder)


@pytest.mark.parametrize("version", [None, "", "eighteen\n"])
def test_a_cluster_without_a_version_is_damaged_and_not_new(tmp_path: Path, version: str | None) -> None:
    (tmp_path / "postgres/base").mkdir(parents=True)
    if version is not None:
        (tmp_path / "postgres/PG_VERSION").write_text(version)
    secret_key(tmp_path)
    assert refusal("up", "--data", tmp_path, "--port", str(free_port())) == (
        f"{tmp_path}/postgres is damaged: its PG_VERSION names no version;"
        " `shanghai recover` makes a new folder from backups"
    )


def test_a_key_that_others_may_read(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres/PG_VERSION").write_text(postgres_version())
    key = tmp_path / "secret.key"
    secret_key(tmp_path)
    key.chmod(0o644)
    assert refusal("up", "--data", tmp_path, "--port", str(free_port())).endswith(f": chmod go-rwx {key}")


def test_folders_that_may_not_be_written(tmp_path: Path) -> None:
    """The system refuses each; nothing of it is a traceback."""
    logs, locked, data = tmp_path / "logs/logs", tmp_path / "locked", tmp_path / "run"
    logs.mkdir(parents=True, mode=0o700)
    logs.chmod(0o500)
    assert refusal("up", "--data", logs.parent, "--port", str(free_port())).startswith(f"cannot use {logs}/")
    locked.mkdir()
    locked.chmod(0o500)
    assert refusal("up", "--data", locked / "data") == f"cannot use {locked / 'data'}: Permission denied"
    (data / "run").mkdir(parents=True)
    assert refusal("up", "--data", data, "--port", str(free_port())).endswith(": File exists")


def test_a_disk_without_room_for_a_new_server(tmp_path: Path) -> None:
    words = ("-m", "infra.cli", "up", "--data", tmp_path / "data", "--port", str(free_port()))
    line = only_line(on_a_small_disk(tmp_path, "8m", *words))
    assert line.endswith(f" MiB are free at {tmp_path}/data: Postgres needs 200 to start")


def test_a_disk_without_room_for_a_recovery(backups: Path, tmp_path: Path) -> None:
    look = (
        "import sys; from infra.cli import main\ntry: main()\nfinally: print(*__import__('os').listdir(sys.argv[-1]))"
    )
    ended = on_a_small_disk(tmp_path, "8m", "-c", look, "recover", backups, "--into", tmp_path)
    assert only_line(ended).endswith("No space left on device")
    assert "postgres" not in ended.stdout.splitlines()[-1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the user")
def test_a_recovery_by_root_without_user_namespaces_reads_the_log_to_its_end(
    backups: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that the other user may not read would look as if it had ended with the copy."""
    bar_user_namespaces(folder, monkeypatch)
    recover(backups, folder / "found", None, say=lambda _: None)
    assert [path.name for path in (folder / "found").iterdir()] == ["postgres"]
    assert (backups / LOG).stat().st_uid == 0
    server = start_postgres(folder / "found/postgres", folder / "found", log=folder / "found.log")
    try:
        assert run(_players(server.url)) == 2
    finally:
        server.stop()


def test_a_log_with_a_hole_is_not_taken_for_one_that_has_ended(backups: Path, tmp_path: Path) -> None:
    shutil.copytree(backups, tmp_path / "backups")
    lost = min((tmp_path / "backups" / LOG).iterdir())
    lost.unlink()
    line = refusal("recover", tmp_path / "backups", "--into", tmp_path / "found", limits=[])
    assert f"lacks the file …{lost.name[8:]}" in line
    assert not (tmp_path / "found").exists()


async def _players(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        count: int = await connection.fetchval("SELECT count(*) FROM player")
        return count
    finally:
        await connection.close()


def test_make_refuses_a_python_that_is_too_old(tmp_path: Path) -> None:
    fake = tmp_path / "python3.10"
    fake.write_text(
        f"#!/bin/sh\nshift\nexec {sys.executable} -c \"import sys; sys.version_info = (3, 10, 14, 'final', 0); $1\"\n"
    )
    fake.chmod(0o755)
    venv = tmp_path / "venv"
    ended = subprocess.run(
        ["make", "--no-print-directory", f"PYTHON={fake} nowhere", f"VENV={venv}", f"{venv}/bin/python"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert ended.stdout.splitlines()[-1].startswith("Shanghai needs Python 3.11 or newer and found none: ")
    assert "Traceback" not in ended.stderr
    assert not venv.exists()
