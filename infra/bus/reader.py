"""The reading end of the bus."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from redis.exceptions import ResponseError

from infra.bus.entries import decode_entry, stream_key
from infra.bus.nodes import connect, disconnect
from infra.bus.wire import Wire, words
from services.ports import FeedEntry, Unavailable

_BATCH = 1_000
_BLOCK_MS = 1_000


class RedisBusReader:
    """A BusReader: one blocking read for all streams, on one connection; in a cluster, one for each of them.

    `generation` tells which streams are the present ones; they change when Postgres fails over.
    """

    def __init__(self, url: str, *, shards: int, generation: Callable[[], Awaitable[str]]) -> None:
        self._url = url
        self._shards = shards
        self._generation = generation

    def entries(self) -> AsyncIterator[list[FeedEntry]]:
        return self._entries()

    async def _entries(self) -> AsyncIterator[list[FeedEntry]]:
        generation = await self._generation()
        nodes = await connect(self._url, self._keys(generation), is_reader=True)
        reading: dict[asyncio.Task[list[Any]], tuple[Wire, dict[bytes, bytes]]] = {}
        try:
            for wire, keys in nodes.items():
                ends = {key: await _end(wire, key) for key in keys}
                reading[asyncio.create_task(_news(wire, ends))] = (wire, ends)
            while True:
                done, _ = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
                news = [streams for task in done for streams in task.result()]
                for task in done:
                    wire, ends = reading.pop(task)
                    ends |= {key: entries[-1][0] for key, entries in task.result()}
                    reading[asyncio.create_task(_news(wire, ends))] = (wire, ends)
                yield [decode_entry(fields[1]) for _, entries in news for _, fields in entries]
                if not news and await self._is_over(generation):
                    raise Unavailable("the bus has a new generation")
        except ResponseError as error:
            raise Unavailable(words(error)) from error
        finally:
            for task in reading:
                task.cancel()
            await asyncio.gather(*reading, return_exceptions=True)
            await disconnect(nodes)

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
    """Waits for entries after these; a second without any gives none."""
    options = ("COUNT", _BATCH, "BLOCK", _BLOCK_MS)
    return await wire.call("XREAD", *options, "STREAMS", *ends.keys(), *ends.values()) or []
