"""The embedded engines and the folder they live in: started, killed, refused, and nothing left behind."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import asyncpg
import pytest
import redis

from infra.embedded import kept
from infra.embedded.data_folder import secret_key, socket_folder
from infra.embedded.engines import SHORT_FOLDER, embedded_services, short_folder
from infra.embedded.ports import free_port
from infra.embedded.postgres import start_postgres
from infra.embedded.running import StartFailed
from infra.embedded.valkey import start_redis
from tests.another_user import bar_user_namespaces
from tests.stack_watching import command, crash, descendants, eventually, is_running

CLI = ("-m", "infra.cli")
ENGINES_AND_A_CHILD = """
import sys, time
from pathlib import Path
from infra.embedded.engines import embedded_services
from infra.embedded.running import start
with embedded_services() as engines:
    start("child", [sys.executable, "-c", "import time; time.sleep(60)"], log=Path("/dev/null"))
    print("started", engines.redis.log.parent, flush=True)
    time.sleep(60)
"""
FOLDER_HELD = """
import sys, time
from pathlib import Path
from infra.embedded.data_folder import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


def test_both_engines_start_answer_and_leave_nothing_behind() -> None:
    with embedded_services() as engines:
        pids = (engines.postgres.pid, engines.redis.pid)
        home = engines.postgres.log.parent
        assert sql(engines.postgres.url, "SHOW listen_addresses") == ""
        assert sql(engines.postgres.url, "SHOW fsync") == "on"
        with redis.Redis.from_url(engines.redis.url) as client:
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert not any(map(is_running, pids))
    assert not home.exists()


def test_postgres_keeps_what_was_committed_when_it_is_killed(folder: Path) -> None:
    first = start_postgres(folder / "postgres", folder)
    sql(first.url, "CREATE TABLE kept AS SELECT 7 AS card")
    crash(first.pid)
    second = start_postgres(folder / "postgres", folder)
    try:
        assert second.url == first.url
        assert sql(second.url, "SELECT card FROM kept") == 7
    finally:
        second.stop()
        first.stop()


def test_postgres_starts_beside_a_lock_file_of_a_number_that_is_another_process_now(folder: Path) -> None:
    start_postgres(folder / "postgres", folder).stop()
    (folder / "postgres/postmaster.pid").write_text(f"{os.getpid()}\n{folder / 'postgres'}\n")
    (folder / ".s.PGSQL.5432.lock").write_text(f"{os.getpid()}\n{folder / 'postgres'}\n")
    again = start_postgres(folder / "postgres", folder)
    assert sql(again.url, "SELECT 1") == 1
    again.stop()


def test_postgres_starts_after_the_making_of_its_cluster_was_cut_short(folder: Path) -> None:
    (folder / "postgres.new/base").mkdir(parents=True)
    started = start_postgres(folder / "postgres", folder)
    assert sql(started.url, "SELECT 1") == 1
    started.stop()


def test_a_setting_that_postgres_refuses_is_told_with_the_end_of_its_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.embedded.postgres.RESTART_BOUND_S", 0.0)
    with pytest.raises(
        StartFailed, match=r'^postgres did not start: [^\n]*"no_such_setting" \(more in .*postgres\.log\)$'
    ):
        start_postgres(folder / "postgres", folder, settings={"no_such_setting": "1"})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the user")
def test_postgres_runs_under_another_user_where_user_namespaces_are_barred(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar_user_namespaces(folder, monkeypatch)
    (folder / "run").mkdir()
    (folder / "data").mkdir(mode=0o700)
    folder.chmod(0o711)
    started = start_postgres(folder / "data/postgres", folder / "run", log=folder / "postgres.log")
    assert sql(started.url, "SELECT 1") == 1
    assert (folder / "data/postgres").stat().st_uid != 0
    started.stop()


def test_redis_keeps_its_stream_when_it_is_killed(folder: Path) -> None:
    first = start_redis(folder / "redis", folder)
    with redis.Redis.from_url(first.url) as client:
        client.xadd("bus", {"card": "7H"}, id="731-1")
    crash(first.pid)
    second = start_redis(folder / "redis", folder)
    with redis.Redis.from_url(second.url) as client:
        assert client.xrange("bus") == [(b"731-1", {b"card": b"7H"})]
    second.stop()
    first.stop()


def test_redis_waits_for_a_former_one_on_its_way_out(folder: Path) -> None:
    first = start_redis(folder / "redis", folder)
    first.ask_to_stop()
    second = start_redis(folder / "redis", folder)
    assert not is_running(first.pid)
    second.stop()
    first.stop()


def test_nothing_is_left_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    with command("-c", ENGINES_AND_A_CHILD) as parent:
        left = parent.line("started")
        children = descendants(parent.process.pid)
        assert len(children) > 3
        crash(parent.process.pid)
        eventually(lambda: not any(map(is_running, children)), what=f"{children} gone")
        shutil.rmtree(left)


def test_a_killed_engine_is_watched_back_onto_its_socket_and_data(folder: Path) -> None:
    postgres = kept.keep(partial(start_postgres, folder / "postgres", folder))
    sql(postgres.running.url, "CREATE TABLE kept AS SELECT 7 AS card")
    first = postgres.running
    crash(first.pid)
    kept.watch([postgres], say=print, until=lambda: postgres.running is not first)
    assert sql(first.url, "SELECT card FROM kept") == 7
    postgres.running.stop()


def test_a_second_server_on_a_data_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    with command("-c", FOLDER_HELD, tmp_path / "data") as holder:
        holder.line("held")
        refused = shanghai("up", "--port", str(free_port()), "--data", str(tmp_path / "data"))
        assert refused.returncode == 1
        assert refused.stderr == f"shanghai: {tmp_path / 'data'} is in use by process {holder.process.pid}\n"


def test_a_taken_port_is_refused_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = shanghai("up", "--port", str(port), "--data", str(tmp_path / "data"))
    assert refused.returncode == 1
    assert refused.stderr == f"shanghai: cannot listen on 127.0.0.1 port {port}: it is taken\n"


def test_a_bad_setting_is_refused_in_one_line_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHANGHAI_BUS_SHARDS", "many")
    refused = shanghai("up", "--port", str(free_port()), "--data", str(tmp_path / "data"))
    assert refused.returncode == 2
    assert re.fullmatch(r"shanghai: SHANGHAI_BUS_SHARDS: [^\n]*\n", refused.stderr)


def test_the_secret_key_is_made_once_and_read_by_its_owner_only(tmp_path: Path) -> None:
    key = secret_key(tmp_path)
    assert secret_key(tmp_path) == key
    assert re.fullmatch("[0-9a-f]{64}", key)
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600


def test_the_sockets_of_a_killed_server_are_removed_by_the_next_one(tmp_path: Path) -> None:
    left = Path(SHORT_FOLDER + f"left-{os.getpid()}")
    left.mkdir()
    (tmp_path / "run").symlink_to(left)
    with socket_folder(tmp_path) as run:
        assert not left.exists()
        assert (tmp_path / "run").resolve() == run
    assert not run.exists()
    assert not (tmp_path / "run").is_symlink()


def sql(url: str, statement: str) -> object:
    async def fetch() -> object:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    return asyncio.run(fetch())


def shanghai(*arguments: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parent.parent
    return subprocess.run(
        [sys.executable, *CLI, *arguments], capture_output=True, text=True, timeout=20, cwd=root, check=False
    )
