"""One connection to Redis."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from redis.asyncio.connection import AbstractConnection, Connection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from services.ports import Unavailable

_CONNECT_S = 1.0
_ANSWER_S = 3.0  # no call blocks longer than one second in the server


class Wire:
    """Calls Redis, never reconnects by itself: whoever uses it has to know of a loss. One caller at a time."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, url: str) -> "Wire":
        """Connects. Errors: Unavailable."""
        options: dict[str, Any] = {**parse_url(url)}
        kind = options.pop("connection_class", Connection)
        connection = kind(
            **options,
            socket_connect_timeout=_CONNECT_S,
            socket_timeout=None,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
        )
        with _lost_is_unavailable():
            async with asyncio.timeout(_ANSWER_S):
                await connection.connect()
        return cls(connection)

    async def call(self, *command: bytes | str | int) -> Any:
        """Sends a command and gives its answer, in bytes. Errors: Unavailable; redis's ResponseError."""
        packed = self._connection.pack_command(*command)
        # redis-py's own timeout swallows a cancellation now and then (asyncio.wait_for before Python 3.12).
        with self._in_use():
            async with asyncio.timeout(_ANSWER_S):
                await self._connection.send_packed_command(packed, check_health=False)
                return await self._connection.read_response(disable_decoding=True)

    async def write(self, packed: list[bytes]) -> None:
        """Sends commands that are packed already; each has an answer."""
        with self._in_use():
            async with asyncio.timeout(_ANSWER_S):
                await self._connection.send_packed_command(packed, check_health=False)

    async def answer(self) -> Any:
        """Gives the next answer to what was written."""
        with self._in_use():
            async with asyncio.timeout(_ANSWER_S):
                return await self._connection.read_response(disable_decoding=True)

    async def close(self) -> None:
        """Closes the connection."""
        await self._connection.disconnect(nowait=True)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        if not self._connection.is_connected:
            raise Unavailable("the connection to Redis is closed")
        with _lost_is_unavailable():
            yield


def words(refusal: Exception) -> str:
    """Gives what Redis refuses, up to where it may repeat what was sent."""
    return str(refusal).partition("'")[0].rstrip()


@contextmanager
def _lost_is_unavailable() -> Iterator[None]:
    try:
        yield
    except (RedisConnectionError, RedisTimeoutError, OSError) as lost:
        raise Unavailable(": ".join(filter(None, (type(lost).__name__, str(lost))))) from lost
