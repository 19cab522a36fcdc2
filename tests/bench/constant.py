"""The peer of a move and of an unchanged view: the same routes, token, body and answer, and nothing behind them.

Prints its URL. An argument says how requests are limited: `none`, or the URL of the Redis that counts them.
"""

import sys
from dataclasses import replace
from typing import Any

import msgspec
import uvloop

from api import routes
from api.calls import Answer, Call, KeyedCall, NoQuery
from api.house import House
from api.operations import OPERATIONS
from api.server import Server
from api.shapes import MoveRequest, MoveResult, ViewQuery
from domain.view import View
from infra.limits import RedisCounter, RedisLimit
from tests.api.world import free_listener, new_world

LEASE = 20  # a tenth of the reads that a token may have at once, as by default


def main() -> None:
    """Answers every move with the result read from standard input, until a signal comes."""
    result = msgspec.json.decode(sys.stdin.buffer.read())

    async def moved(_: House, __: KeyedCall[NoQuery, MoveRequest]) -> Answer[MoveResult]:
        return Answer(result, {"etag": '"v1"', "location": "/v1/games"})

    async def unchanged(_: House, __: Call[ViewQuery, None]) -> Answer[View | None]:
        return Answer(None, {"etag": '"v1"'}, 304)

    handlers: dict[str, Any] = {"makeMove": moved, "getView": unchanged}
    vars(routes)["OPERATIONS"] = tuple(
        msgspec.structs.replace(operation, handler=handlers.get(operation.id, operation.handler))
        for operation in OPERATIONS
    )
    uvloop.run(serve(*sys.argv[1:]))


async def serve(limits: str = "") -> None:
    """Serves on a free port, with players kept in memory."""
    house = new_world().house
    if limits == "none":
        vars(routes)["refuse_beyond"] = uncounted
    elif limits:
        counter = RedisCounter(limits)
        counted = {name: RedisLimit(counter, name, quota=1_000_000, window_s=1, lease=LEASE) for name in house.limits}
        house = replace(house, limits=counted)
    with free_listener() as listener:
        listener.listen()
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        await Server(routes.application(house), "127.0.0.1", 0, house.streams.drain).serve([listener])


async def uncounted(*_: object) -> dict[str, str]:
    """Lets every request pass, without a word about limits."""
    return {}


if __name__ == "__main__":
    main()
