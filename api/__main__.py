"""`python -m api`: one API process, with the settings of the environment."""

import asyncio
import gc
import sys

import uvloop

from api.access import facts
from api.app import run
from infra.settings import settings_or_exit
from infra.watching.logs import configure_logs
from infra.watching.port import PortRefused

# Objects made before cycles are looked for: an event that goes to a thousand streams makes thousands, none in a cycle.
COLLECTED_AFTER = (20_000, 20, 50)


def main() -> None:
    """Runs the process until a signal comes; a setting that cannot be used is one line."""
    settings = settings_or_exit()
    configure_logs(settings, "api", facts)
    gc.freeze()  # what is loaded by now stays
    gc.set_threshold(*COLLECTED_AFTER)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run(settings))
    except PortRefused as error:
        sys.exit(f"shanghai: {error}")


if __name__ == "__main__":
    main()
