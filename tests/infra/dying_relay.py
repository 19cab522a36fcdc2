"""A relay that ends itself with kill -9 at one step of its first batch: `python -m tests.infra.dying_relay STEP`."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from infra.bus.publisher import RedisPublisher
from infra.jobs import open_jobs
from infra.postgres.relay import PostgresRelayLog, leading_relay
from infra.settings import read_settings
from services.handouts import HandOuts
from services.relay import LogEntry, Position, Relay

STEPS = (
    "connected",
    "read",
    "half_published",
    "published",
    "handed_out",
    "saving",
    "saved",
)
STEP = sys.argv[1] if len(sys.argv) > 1 else ""


def step(name: str) -> None:
    """Is the end, where this is the step."""
    if name == STEP:
        os.kill(os.getpid(), signal.SIGKILL)


class Log(PostgresRelayLog):
    async def batch(self, after: Position, limit: int) -> list[LogEntry]:
        entries = await super().batch(after, limit)
        if entries:
            step("read")
        return entries

    async def save(self, checkpoint: Position) -> None:
        step("saving")
        await super().save(checkpoint)
        step("saved")


class Bus(RedisPublisher):
    async def connect(self, generation: str) -> None:
        await super().connect(generation)
        step("connected")

    async def publish(self, entries: Sequence[LogEntry]) -> None:
        await super().publish(entries[: len(entries) // 2])
        step("half_published")
        await super().publish(entries[len(entries) // 2 :])
        step("published")


class Jobs(HandOuts):
    def hand_out(self, game_id: str, *, delay_s: float = 0) -> None:
        super().hand_out(game_id, delay_s=delay_s)
        step("handed_out")


async def main() -> None:
    settings = read_settings()
    bus = Bus(settings.bus_url, shards=settings.bus_shards, maxlen=settings.bus_maxlen)
    hand_outs = Jobs(open_jobs(settings.broker_url))
    async with leading_relay(settings.database_url) as log:
        log.__class__ = Log
        await Relay(log, bus, hand_outs).run()


if __name__ == "__main__":
    asyncio.run(main())
