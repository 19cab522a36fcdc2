"""Copies of a database and what stays of them; a password is not for everybody's eyes."""

from pathlib import Path

import pytest

from infra import backups
from infra.backups import BackupRefused, ask, copies, copy
from infra.embedded.engines import Engines
from tests.small_disk import on_a_small_disk
from tests.stack_watching import eventually

SLOTS = "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'shanghai_backup'"


def test_old_copies_go_and_each_is_named_after_its_moment(engines: Engines, tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "unfinished").mkdir()  # of a backup that was cut short
    made = [copy(engines.postgres.url, tmp_path, keep=2, say=said.append) for _ in range(3)]
    assert list(copies(tmp_path).values()) == made[1:]
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in made[1:]]
    assert "nobody keeps the log" in said[0]


def test_a_server_that_is_away_is_refused_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(BackupRefused, match="No such file or directory"):
        copy(f"postgresql://anna@/postgres?host={tmp_path}", tmp_path / "backups", keep=1, say=print)


def test_the_keeper_of_the_log_tells_that_its_disk_is_full_and_leaves_nothing_running(
    engines: Engines, tmp_path: Path
) -> None:
    url = engines.postgres.url
    code = """if True:
        import sys
        from pathlib import Path
        from infra.backups import keep_log

        def say(line):
            print(line)
            if "No space left" in line:
                sys.exit(3)

        keep_log(sys.argv[1], Path(sys.argv[2]), say=say)
    """
    try:
        told = on_a_small_disk(tmp_path, "64k", "-c", code, url, tmp_path / "kept")
        assert told.returncode == 3, told.stdout + told.stderr
        eventually(lambda: ask(url, f"{SLOTS} AND active") == "0", what="nobody fetches the log")
    finally:
        ask(url, f"SELECT pg_drop_replication_slot(slot_name) FROM ({SLOTS.replace('count(*)', 'slot_name')}) AS found")


def test_a_password_stands_in_no_command_line() -> None:
    arguments, variables = backups._login("postgresql://anna:s%40t@a,b:5433/shanghai?sslmode=verify-full")
    assert arguments == ["--dbname=postgresql://anna@a,b:5433/shanghai?sslmode=verify-full"]
    assert variables == {"PGPASSWORD": "s@t"}
    assert backups._login("postgresql:///postgres?host=/run") == (["--dbname=postgresql:///postgres?host=/run"], {})
