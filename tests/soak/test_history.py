"""Players at their tables for a long time, while every process is killed again and again."""

from functools import partial
from time import monotonic

import pytest

from tests.e2e.conftest import Server, server
from tests.e2e.history import faults_in, live_through, sitting
from tests.e2e.test_faults import FAULTS

__all__ = ["server"]

SHARE = 1 / 20  # of the soak's minutes
SECONDS = 60.0  # of one round, which has tables and a seed of its own
PAUSE_S = 3.0  # `up` gives up on a process that dies five times in a minute

pytestmark = [pytest.mark.soak, pytest.mark.xdist_group("history")]


def test_nothing_acknowledged_is_lost_however_long_it_goes_on(request: pytest.FixtureRequest, server: Server) -> None:
    until = monotonic() + request.config.getoption("--soak-minutes") * 60 * SHARE
    faults, seed = [partial(fault, server) for fault in FAULTS], 0
    while seed == 0 or monotonic() < until:
        seed += 1
        with sitting([server.base_url], tables=3) as players:
            live_through(players, faults, seed=seed, seconds=SECONDS, pause_s=PAUSE_S)
        assert faults_in(players) == [], f"seed {seed}"
