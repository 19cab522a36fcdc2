"""What `shanghai doctor` sees of the machine itself."""

from pathlib import Path

import pytest

from infra.doctor import machine
from infra.doctor.finding import Finding, exit_code, ok


def test_a_clock_that_goes_wrong_is_told() -> None:
    assert [machine.look_at_clock("redis", skew).level for skew in (0.2, -2.0, 31.0)] == ["ok", "warn", "bad"]
    assert "behind" in machine.look_at_clock("redis", -2.0).found


def test_a_disk_that_is_nearly_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.look_at_room("disk", tmp_path / "gone").level == "warn"
    monkeypatch.setattr(machine, "LITTLE_ROOM", 1 << 62)
    assert machine.look_at_room("disk", tmp_path).level == "warn"
    monkeypatch.setattr(machine, "NO_ROOM", 1 << 62)
    assert machine.look_at_room("disk", tmp_path).level == "bad"


def test_a_data_folder_that_others_may_read_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)  # where Postgres runs as another user it passes through
    (tmp_path / "secret.key").touch(mode=0o600)
    assert [finding.level for finding in machine.look_at_rights(tmp_path)] == ["ok"]
    (tmp_path / "secret.key").chmod(0o640)
    [found] = machine.look_at_rights(tmp_path)
    assert (found.level, found.todo) == ("bad", f"chmod go-rwx {tmp_path / 'secret.key'}")


def test_a_misspelled_variable_is_told() -> None:
    known = {"SHANGHAI_PORT": "1", "SHANGHAI_SECRET_KEY_FILE": "x", "SHANGHAI_REDIS_URL": "x", "HOME": "x"}
    assert machine.look_at_variables(known).level == "ok"
    found = machine.look_at_variables({**known, "SHANGHAI_PROT": "1", "SHANGHAI_PORT_FILE": "1"})
    assert (found.level, found.found) == ("warn", "nothing reads SHANGHAI_PORT_FILE, SHANGHAI_PROT")


def test_the_worst_finding_is_the_exit_code() -> None:
    warning, failure = Finding("warn", "a", "b", "c"), Finding("bad", "a", "b", "c")
    assert [exit_code(found) for found in ([], [ok("a", "b")], [warning, ok("a", "b")], [failure, warning])] == [
        0, 0, 1, 2,
    ]  # fmt: skip
