"""Copies of a database and what stays of them; a password is not for everybody's eyes."""

from pathlib import Path

import pytest

from infra import backups
from infra.backups import BackupRefused, copies, copy
from infra.embedded.engines import Engines


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


def test_a_password_stands_in_no_command_line() -> None:
    arguments, variables = backups._login("postgresql://anna:s%40t@a,b:5433/shanghai?sslmode=verify-full")
    assert arguments == ["--dbname=postgresql://anna@a,b:5433/shanghai?sslmode=verify-full"]
    assert variables == {"PGPASSWORD": "s@t"}
    assert backups._login("postgresql:///postgres?host=/run") == (["--dbname=postgresql:///postgres?host=/run"], {})
