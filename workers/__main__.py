"""The process `worker`: a Celery worker with a pool of forked processes. Its arguments: what it serves, or all."""

import logging
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack

from celery.exceptions import SecurityWarning

from infra.settings import Settings, settings_or_exit, share_numbers
from infra.watching.logs import configure_logs
from infra.watching.shared import shared_folder
from workers.at_hand import facts


def main(served: Sequence[str]) -> int:
    """Works until SIGTERM or SIGINT, then finishes the jobs under way."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until Celery has its own handler
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # it was held back since the command `shanghai`
    settings = settings_or_exit()
    configure_logs(settings, "worker", facts)
    warnings.simplefilter("ignore", SecurityWarning)  # of root: messages are JSON, and `up` runs as anybody
    with ExitStack() as exits:
        if settings.metrics_port:
            share_numbers(exits.enter_context(shared_folder()))
        return _work(settings, served)


def _work(settings: Settings, served: Sequence[str]) -> int:
    """Works; what makes numbers is imported here, since by now it is known whether they are shared."""
    from infra.jobs import QUEUES
    from infra.watching.numbers import reading
    from infra.watching.pool import pool_readings
    from infra.watching.port import PortRefused, serving
    from infra.watching.vital import Vital
    from infra.watching.watched import pages_of
    from workers.celery_app import worker_app

    vital = Vital("worker")
    try:
        with (
            reading(*pool_readings(os.getpid())),
            serving(settings.metrics_host, settings.metrics_port, pages_of(vital)) as let_go_of_port,
        ):
            worker = worker_app(settings, vital, let_go_of_port).Worker(
                pool="prefork",
                concurrency=settings.worker_concurrency,
                queues=[QUEUES[name] for name in served or QUEUES],
                loglevel=logging.getLevelName(settings.log_level.upper()),
                without_gossip=True,
                without_mingle=True,
                without_heartbeat=True,
                quiet=True,
            )
            worker.start()
            return int(worker.exitcode or 0)
    except PortRefused as refused:
        sys.exit(f"shanghai: {refused}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
