"""`python -m tests.api.serve`: a server process on the twins in memory; prints its URL and serves until a signal."""

import asyncio
import sys

from api.server import Server
from tests.api.world import free_listener, new_world


async def serve() -> None:
    """Serves on a free port."""
    world = new_world()
    with free_listener() as listener:
        port = listener.getsockname()[1]
        feed = asyncio.create_task(world.house.feed.run(world.bus))
        serving = asyncio.create_task(Server(world.app, "127.0.0.1", port, world.house.streams.drain).serve([listener]))
        sys.stdout.write(f"http://127.0.0.1:{port}\n")
        sys.stdout.flush()
        await serving
        feed.cancel()


if __name__ == "__main__":
    asyncio.run(serve())
