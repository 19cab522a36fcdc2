"""What keeps the server's processes running, and ends them."""

import signal
import sys
from collections.abc import Iterable
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from infra.embedded import kept, running
from infra.embedded.running import Running, StartFailed, start, wait_until
from tests.stack_watching import command, eventually

STOPPABLE = """
import time
from infra import ending
with ending.stoppable():
    try:
        print("started", flush=True)
        time.sleep(60)
    finally:
        print("stopping", flush=True)
        time.sleep(0.2)
"""
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(60)
"""


def test_a_child_that_ends_before_it_is_ready_is_told_with_its_last_words(tmp_path: Path) -> None:
    child = start("relay", [sys.executable, "-c", "raise SystemExit('no bus')"], log=tmp_path / "relay.log")
    with pytest.raises(StartFailed, match=r"^relay did not start: no bus \(more in .*relay\.log\)$"):
        wait_until(child, lambda: False)


def test_a_child_that_lives_is_waited_for_some_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Postgres reads a gigabyte of its log after a crash, on whatever disk; begun anew it would take as long again."""
    child = start("postgres", [sys.executable, "-c", "import time; time.sleep(600)"], log=tmp_path / "postgres.log")
    minutes, looks = count(step=60), iter([False] * 5 + [True])
    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: next(minutes), sleep=lambda _: None))
    try:
        assert wait_until(child, lambda: next(looks)) is child
    finally:
        child.stop(0)


def test_a_child_whose_work_is_its_end_may_end_at_any_moment(tmp_path: Path) -> None:
    child = start("migrate", [sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "migrate.log")

    def has_ended() -> bool:
        was_over = child.process.poll() is not None
        child.stop(0)  # ends right after it was looked at
        return was_over

    assert wait_until(child, has_ended) is child


def test_a_child_that_does_not_listen_is_killed_at_the_bound(tmp_path: Path) -> None:
    child = start("deaf", [sys.executable, "-c", DEAF], log=tmp_path / "log")
    eventually(lambda: "deaf" in child.log.read_text())
    child.stop(0.1)
    assert child.process.returncode == -signal.SIGKILL


def test_a_dead_process_is_started_again_after_a_pause_that_grows(tmp_path: Path) -> None:
    said: list[str] = []
    relay = dying("relay", tmp_path)
    pauses = []
    for now in (0.0, 10.0, 20.0, 30.0):
        relay.running.process.wait(30)
        kept.revive(relay, now=now, say=said.append)
        pauses.append(round((relay.restart_at or now) - now, 3))
        former = relay.running
        kept.revive(relay, now=now + pauses[-1] - 0.01, say=said.append)
        assert relay.running is former
        kept.revive(relay, now=now + pauses[-1], say=said.append)
        assert relay.running is not former
    assert pauses == [0.2, 0.6, 1.8, 5.0]
    assert said == ["relay ended (exit code 3), starting it again"] * 4
    relay.running.stop()


def test_the_fifth_death_in_a_minute_names_the_process_and_its_log(tmp_path: Path) -> None:
    relay = dying("relay", tmp_path)
    with pytest.raises(kept.GaveUp, match=r"relay died 5 times in a minute(.|\n)*relay\.log(.|\n)*no bus"):
        die_at(relay, range(0, 50, 10))


def test_deaths_that_are_more_than_a_minute_ago_do_not_count(tmp_path: Path) -> None:
    relay = dying("relay", tmp_path)
    die_at(relay, range(0, 800, 61))
    assert len(relay.deaths) == 1
    relay.running.stop()


def test_an_engine_that_does_not_come_back_dies_again_and_is_given_up(tmp_path: Path) -> None:
    engine = dying("postgres", tmp_path)

    def fail() -> Running:
        raise StartFailed("postgres did not start")

    engine.start = fail
    with pytest.raises(kept.GaveUp, match="postgres died 5 times"):
        die_at(engine, range(0, 50, 10))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_stop_ends_well_however_often_it_is_told(number: signal.Signals) -> None:
    with command("-c", STOPPABLE) as stopping:
        stopping.line("started")
        stopping.process.send_signal(number)
        stopping.line("stopping")
        stopping.process.send_signal(number)
        stopping.line("stopped")
        assert stopping.process.wait(30) == 0


def dying(name: str, folder: Path) -> kept.Kept:
    words = "import sys; print('no bus'); sys.exit(3)"
    return kept.keep(partial(start, name, [sys.executable, "-ISc", words], log=folder / f"{name}.log"))


def die_at(process: kept.Kept, moments: Iterable[int]) -> None:
    for now in moments:
        process.running.process.wait(30)
        kept.revive(process, now=now, say=print)
        kept.revive(process, now=now + kept.LONGEST_PAUSE_S, say=print)
