"""The process `relay`: leads or stands by, for ever."""

import asyncio
import sys

from infra.jobs import open_jobs
from infra.postgres.relay import YoungerCluster, leading_relay
from infra.settings import Settings
from infra.watching.counted import CountedJobs, CountedPublisher
from infra.watching.tracing import open_traces
from infra.watching.watched import watched_leader
from services.handouts import HandOuts
from services.relay import OrderBroken, Relay
from workers.running import keep_leading, run


async def relay(settings: Settings) -> None:
    """Relays whenever this process is the leader; whatever it loses, it starts again from its checkpoint."""
    jobs = CountedJobs(open_jobs(settings.broker_url))
    bus = CountedPublisher(settings.bus_url, shards=settings.bus_shards, maxlen=settings.bus_maxlen)
    traces = bus.traces = open_traces(settings, "shanghai relay")
    hand_outs = HandOuts(jobs)
    try:
        async with watched_leader(settings, "relay") as watched, asyncio.TaskGroup() as group:
            group.create_task(hand_outs.run())

            async def lead() -> None:
                async with leading_relay(settings.database_url, stands_by=watched.stands_by) as log:
                    await Relay(log, bus, hand_outs, watched.beat).run()

            await keep_leading(lead, "the log is away")
    finally:
        await bus.close()
        await jobs.close()
        if traces is not None:
            traces.close()


if __name__ == "__main__":
    sys.exit(run(relay, "relay", refusals=(OrderBroken, YoungerCluster)))
