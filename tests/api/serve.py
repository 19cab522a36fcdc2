"""`python -m tests.api.serve`: a server process on the twins in memory; prints its URL and serves until a signal.

A number after it is that of the streams which an address may have.
"""

import asyncio
import sys

from msgspec.structs import replace

from api.server import Server
from tests.api.world import AMPLE, World, free_listener, new_world


async def serve(world: World, said: str = "") -> None:
    """Serves on a free port, and prints the URL with what is said besides."""
    with free_listener() as listener:
        port = listener.getsockname()[1]
        beside = [
            asyncio.create_task(work)
            for work in (world.house.feed.run(world.bus), world.house.following.run(), world.house.at_tables.run())
        ]
        serving = asyncio.create_task(Server(world.app, "127.0.0.1", port, world.house.streams.drain).serve([listener]))
        sys.stdout.write(f"http://127.0.0.1:{port} {said}".strip() + "\n")
        sys.stdout.flush()
        await serving
        for task in beside:
            task.cancel()
        await asyncio.wait(beside)


if __name__ == "__main__":
    allowed = [int(number) for number in sys.argv[1:]]
    quotas = replace(AMPLE, streams_per_address=allowed[0]) if allowed else AMPLE
    asyncio.run(serve(new_world(quotas=quotas)))
