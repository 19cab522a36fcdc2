"""What a killed worker leaves in shared memory is removed by the next one, and nothing else is."""

import fcntl
import os
from pathlib import Path

import pytest

from infra.watching.shared import PREFIX, shared_folder
from tests.stack_watching import Command, command, crash, eventually, is_running

HOLD = """
import sys, time
from pathlib import Path
from infra.watching.shared import shared_folder
with shared_folder(Path(sys.argv[1])) as folder:
    (folder / "counter_1.db").touch()
    print("holds", folder, flush=True)
    time.sleep(600)
"""


def held_by(worker: Command) -> Path:
    return Path(worker.line("holds"))


def test_what_a_killed_worker_left_is_removed_by_the_next(tmp_path: Path) -> None:
    with command("-c", HOLD, tmp_path) as living, command("-c", HOLD, tmp_path) as killed:
        kept, left = held_by(living), held_by(killed)
        crash(killed.process.pid)
        eventually(lambda: not is_running(killed.process.pid))
        assert left.exists()
        (left / "counter_1.db").rename(left / f"counter_{killed.process.pid}.db")
        (kept / "counter_1.db").rename(kept / f"counter_{killed.process.pid}.db")  # the lock alone speaks for it
        with shared_folder(tmp_path) as own:
            assert {*tmp_path.iterdir()} == {kept, own}
        assert {*tmp_path.iterdir()} == {kept}


def test_a_folder_without_a_lock_in_which_a_living_process_writes_stays(tmp_path: Path) -> None:
    earlier = tmp_path / f"{PREFIX}earlier"
    earlier.mkdir()
    (earlier / f"histogram_{os.getpid()}.db").touch()
    with shared_folder(tmp_path):
        assert earlier.exists()


def test_what_belongs_to_another_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    with shared_folder(tmp_path):
        assert left.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(precious)
    with shared_folder(tmp_path):
        assert precious.exists()


def test_a_start_that_another_takes_for_dead_before_it_has_its_lock_makes_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []
    lock = fcntl.flock

    def removed_meanwhile(held: int, how: int) -> None:
        if not made:
            [new] = tmp_path.iterdir()
            made.append(new)
            new.rmdir()
        lock(held, how)

    monkeypatch.setattr(fcntl, "flock", removed_meanwhile)
    with shared_folder(tmp_path) as own:
        assert made != [own]
        assert {*tmp_path.iterdir()} == {own}
