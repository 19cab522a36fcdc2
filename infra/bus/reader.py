"""The reading end of the bus."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from redis.exceptions import ResponseError

from infra.bus.entries import decode_entry, stream_key
from infra.bus.wire import Wire
from services.ports import FeedEntry, Unavailable

_BATCH = 1_000
_BLOCK_MS = 1_000


class RedisBusReader:
    """A BusReader. `generation` tells which streams are the present ones; they change when Postgres fails over."""

    def __init__(self, url: str, *, shards: int, generation: Callable[[], Awaitable[str]]) -> None:
        self._url = url
        self._shards = shards
        self._generation = generation

    def entries(self) -> AsyncIterator[list[FeedEntry]]:
        return self._entries()

    async def _entries(self) -> AsyncIterator[list[FeedEntry]]:
        generation = await self._generation()
        wire = await Wire.open(self._url)
        try:
            ends = {key: await _end(wire, key) for key in self._keys(generation)}
            while True:
                news = await _news(wire, ends)
                batch = [decode_entry(fields[1]) for _, entries in news for _, fields in entries]
                ends |= {key: entries[-1][0] for key, entries in news}
                yield batch
                if not batch and await self._is_over(generation):
                    raise Unavailable("the bus has a new generation")
        except ResponseError as error:
            raise Unavailable(str(error)) from error
        finally:
            await wire.close()

    def _keys(self, generation: str) -> list[bytes]:
        return [stream_key(generation, shard).encode() for shard in range(self._shards)]

    async def _is_over(self, generation: str) -> bool:
        with contextlib.suppress(Unavailable):  # without Postgres nothing is told anyway
            return await self._generation() != generation
        return False


async def _end(wire: Wire, key: bytes) -> bytes:
    """Gives the last entry's id; what comes after it is news."""
    last = await wire.call("XREVRANGE", key, "+", "-", "COUNT", 1)
    return bytes(last[0][0]) if last else b"0-0"


async def _news(wire: Wire, ends: dict[bytes, bytes]) -> list[Any]:
    options = ("COUNT", _BATCH, "BLOCK", _BLOCK_MS)
    return await wire.call("XREAD", *options, "STREAMS", *ends.keys(), *ends.values()) or []
