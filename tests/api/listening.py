"""Guests of a real server, and what its streams tell them."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from urllib.parse import urlsplit

import httpx

from api.connections import Connection
from api.open_streams import SLOW_S
from api.server import Server
from services.cursors import digest_of, write_cursor
from tests.api.world import Json, Player, World, until

MINE = "/v1/me/stream"

Message = tuple[str, str | None, Json]


async def messages(http: httpx.AsyncClient, path: str, **headers: str) -> AsyncGenerator[Message, None]:
    """Reads a stream's messages: kind, id and data of each."""
    async with http.stream("GET", path, headers=headers, timeout=20) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"] == "text/event-stream"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-accel-buffering"] == "no"
        kind, id_ = "", None
        async for line in response.aiter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                kind = value
            elif field == "id":
                id_ = value
            elif field == "data":
                yield kind, id_, json.loads(value)
                kind, id_ = "", None


@asynccontextmanager
async def guests(base_url: str, *names: str) -> AsyncIterator[list[Player]]:
    """Has people join a real server, on connections that are closed with the block."""
    async with AsyncExitStack() as opened:
        lines = [await opened.enter_async_context(httpx.AsyncClient(base_url=base_url, timeout=20)) for _ in names]
        yield [await Player(http).join(name) for http, name in zip(lines, names, strict=True)]


async def read_slowly(
    world: World, server: Server, base_url: str, path: str, player: Player, *headers: str
) -> list[Message]:
    """Opens a stream, takes nothing until the server has to wait, which is too long for it, and reads to the end."""
    address = urlsplit(base_url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, (address.hostname, address.port))
    reader, writer = await asyncio.open_connection(sock=connection, limit=16_384)
    lines = (
        f"GET {path} HTTP/1.1",
        "Host: x",
        "Connection: close",
        f"Authorization: {player.http.headers['authorization']}",
        *headers,
    )
    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
    await until(lambda: any(_waits(each) for each in server.server_state.connections))
    world.house.streams.slow_s = 0
    body = await asyncio.wait_for(reader.read(-1), 20)
    world.house.streams.slow_s = SLOW_S
    writer.close()
    told: list[Message] = []
    for message in re.sub(rb"\r\n[0-9a-f]+\r\n", b"", body).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in message.splitlines() if ": " in line)
        if "data" in fields:
            told.append((fields["event"], fields.get("id"), json.loads(fields["data"])))
    return told


def _waits(connection: object) -> bool:
    """Tells whether a client has to take first what lies here for it."""
    return isinstance(connection, Connection) and connection.flow.write_paused


async def bots_game(anna: Player, rounds: int = 1) -> str:
    """Opens and starts a game of two bots, of short rounds; gives its id."""
    bots = [{"controller": "bot", "level": "easy"}] * 2
    short = {"contracts": [[{"kind": "set", "size": 3}]] * rounds}
    game_id: str = (await anna.open_game(seats=bots, overrides=short))["game_id"]
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    return game_id


async def mine(player: Player, last_id: str | None = None) -> AsyncGenerator[Message, None]:
    """Reads the messages of all games of a player."""
    headers = {} if last_id is None else {"last-event-id": last_id}
    async with aclosing(messages(player.http, MINE, **headers)) as stream:
        async for message in stream:
            yield message


async def told_last(stream: AsyncGenerator[Message, None]) -> Message:
    async with asyncio.timeout(30):
        return [message async for message in stream][-1]


async def told_until(stream: AsyncGenerator[Message, None], game_id: str, version: int) -> list[Message]:
    """Reads until a game has come so far; gives everything that was read."""
    read: list[Message] = []
    async with asyncio.timeout(30):
        async for message in stream:
            read.append(message)
            if message[1] and (message[2].get("game_id"), message[2].get("version")) == (game_id, version):
                return read
    raise AssertionError(f"the stream ended with {read[-1:]}")


def events_in(read: list[Message], game_id: str) -> list[Json]:
    return [data for _, id_, data in read if id_ and data.get("game_id") == game_id]


async def cursor_now(world: World) -> str:
    """Gives the cursor behind everything that has happened."""
    place = await world.house.following.order.end()
    return write_cursor(digest_of(place.generation), place.position, {}).decode()
