"""The process `worker`: a Celery worker with a pool of forked processes."""

import logging
import sys
import warnings

from celery.exceptions import SecurityWarning

from infra.settings import settings_or_exit
from infra.watching.port import PortRefused, serving
from infra.watching.process import pages_of
from infra.watching.vital import Vital
from workers.celery_app import worker_app


def main() -> int:
    """Works until SIGTERM or SIGINT, then finishes the jobs under way."""
    settings = settings_or_exit()
    level = logging.getLevelName(settings.log_level.upper())
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("celery").setLevel(max(level, logging.WARNING))  # it has lines for every job
    warnings.simplefilter("ignore", SecurityWarning)  # of root: messages are JSON, and `up` runs as anybody
    vital = Vital("worker")
    try:
        with serving(settings.metrics_host, settings.metrics_port, pages_of(vital)) as let_go_of_port:
            worker = worker_app(settings, vital, let_go_of_port).Worker(
                pool="prefork",
                concurrency=settings.worker_concurrency,
                loglevel=level,
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
    sys.exit(main())
