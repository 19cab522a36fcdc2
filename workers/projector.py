"""The process `projector`: leads or stands by, for ever; with `--rebuild` it makes the read models anew and ends."""

import logging
import sys

from infra.postgres.projector import AheadOfCluster, leading_projector, rebuild
from infra.settings import Settings
from infra.watching.watched import watched_leader
from services.codec import UnknownEvent
from services.ports import Unavailable
from services.projections import Projector
from services.relay import OrderBroken
from workers.running import keep_leading, run

_log = logging.getLogger(__name__)


async def projector(settings: Settings) -> None:
    """Projects whenever this process is the leader; whatever it loses, it starts again from the saved place."""
    async with watched_leader(settings, "projector") as watched:

        async def lead() -> None:
            async with leading_projector(settings.projector_database_url, stands_by=watched.stands_by) as log:
                await Projector(log, watched.beat).run()

        await keep_leading(lead, "the log is away")


async def rebuilt(settings: Settings) -> None:
    """Makes the read models anew, while the old ones serve."""
    build = await rebuild(settings.projector_database_url)
    _log.info("the read models are made anew: build %d is served", build)


if __name__ == "__main__":
    _main = rebuilt if "--rebuild" in sys.argv[1:] else projector
    sys.exit(run(_main, "projector", refusals=(OrderBroken, AheadOfCluster, UnknownEvent, Unavailable)))
