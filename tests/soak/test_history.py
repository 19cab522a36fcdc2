"""Players at their tables for a long time, while every process is killed or hangs again and again."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

import pytest

from tests.e2e.conftest import Server, server
from tests.e2e.history import PACE, faults_in, live_through, sitting
from tests.e2e.test_faults import FAULTS, wake
from tests.stack_watching import descendants

__all__ = ["server"]

SHARE = 1 / 20  # of the soak's minutes
SECONDS = 60.0  # of one round, which has tables and a seed of its own
PAUSE_S = 3.0  # `up` gives up on a process that dies five times in a minute
HANG_S = 15.0  # longer than any process waits for another
SLOW = {**PACE, "claim_window_s": 60, "turn_s": 600}  # while everything hangs no bot may sit in: who is away sees less
HANGING = [
    ("-m api",),
    ("-m workers ",),
    ("-m workers.relay",),
    ("-m workers.clock",),
    ("-m workers.projector",),
    ("redis.sock",),
    ("bin/postgres",),
    ("-m api", "-m workers.relay"),
    ("-m workers ", "-m workers.clock"),
    ("redis.sock", "bin/postgres"),
]

pytestmark = [pytest.mark.soak, pytest.mark.xdist_group("history")]


def hang(server: Server, commands: Sequence[str]) -> None:
    """Stops processes, and all below them, for a while."""
    roots = [server.process(command) for command in commands]
    pids = {pid for root in roots for pid in (root, *descendants(root))}
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(HANG_S)
    finally:
        for pid in pids:
            wake(pid)


@pytest.mark.parametrize(
    ("strikes", "pace"),
    [
        pytest.param(FAULTS, PACE, id="dying"),
        pytest.param([partial(hang, commands=commands) for commands in HANGING], SLOW, id="hanging"),
    ],
)
def test_nothing_acknowledged_is_lost_however_long_it_goes_on(
    request: pytest.FixtureRequest, server: Server, strikes: list[Callable[[Server], None]], pace: dict[str, int]
) -> None:
    until = monotonic() + request.config.getoption("--soak-minutes") * 60 * SHARE / 2
    faults, seed = [partial(fault, server) for fault in strikes], 0
    while seed == 0 or monotonic() < until:
        seed += 1
        with sitting([server.base_url], tables=3, pace=pace) as players:
            live_through(players, faults, seed=seed, seconds=SECONDS, pause_s=PAUSE_S)
        assert faults_in(players) == [], f"seed {seed}"
