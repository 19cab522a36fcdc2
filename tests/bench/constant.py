"""The peer of a move: the same route, token, body and answer, and nothing behind them. Prints its URL."""

import asyncio
import sys

import msgspec

from api import routes
from api.calls import Answer, KeyedCall, NoQuery
from api.house import House
from api.operations import OPERATIONS
from api.server import Server
from api.shapes import MoveRequest, MoveResult
from tests.api.world import free_listener, new_world


def main() -> None:
    """Answers every move with the result read from standard input, until a signal comes."""
    result = msgspec.json.decode(sys.stdin.buffer.read())

    async def constant(_: House, __: KeyedCall[NoQuery, MoveRequest]) -> Answer[MoveResult]:
        return Answer(result, {"etag": '"1"', "location": "/v1/games"})

    vars(routes)["OPERATIONS"] = tuple(
        msgspec.structs.replace(operation, handler=constant) if operation.id == "makeMove" else operation
        for operation in OPERATIONS
    )
    asyncio.run(serve())


async def serve() -> None:
    """Serves on a free port, with players kept in memory."""
    world = new_world()
    with free_listener() as listener:
        listener.listen()
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        await Server(routes.application(world.house), "127.0.0.1", 0, world.house.streams.drain).serve([listener])


if __name__ == "__main__":
    main()
