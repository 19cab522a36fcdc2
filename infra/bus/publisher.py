"""The writing end of the bus."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from redis.exceptions import ResponseError

from infra.bus.entries import FIELD, encode_entry, entry_id, shard_of, stream_key
from infra.bus.wire import Wire
from services.ports import Unavailable
from services.relay import LogEntry

_ADD = Path(__file__).with_name("add.lua").read_bytes()

_log = logging.getLogger(__name__)


class RedisPublisher:
    """A Publisher over `shards` streams that each keep about `maxlen` entries."""

    def __init__(self, url: str, *, shards: int, maxlen: int) -> None:
        self._url = url
        self._shards = shards
        self._maxlen = maxlen
        self._wire: Wire | None = None
        self._keys: list[bytes] = []

    async def connect(self, generation: str) -> None:
        """Connects anew. Errors: Unavailable, also where Redis would throw entries away by itself."""
        await self.close()
        self._keys = [stream_key(generation, shard).encode() for shard in range(self._shards)]
        self._wire = await Wire.open(self._url)
        try:
            await _check_policy(self._wire)
        except Unavailable:
            await self.close()
            raise

    async def publish(self, entries: Sequence[LogEntry]) -> None:
        """Adds entries in order, each shard's up to the first that Redis does not take. Errors: Unavailable."""
        if self._wire is None:
            raise Unavailable("the bus is not connected")
        for shard, of_shard in self._by_shard(entries):
            try:
                number, fault = await self._wire.send([_packed(self._keys[shard], self._maxlen, of_shard)])
            except ResponseError as error:
                raise Unavailable(str(error)) from error
            if fault:
                raise Unavailable(f"{fault.decode()} (after {number} of {len(of_shard)} entries)")

    async def close(self) -> None:
        """Closes the connection."""
        if self._wire is not None:
            await self._wire.close()
            self._wire = None

    def _by_shard(self, entries: Sequence[LogEntry]) -> Iterator[tuple[int, Sequence[LogEntry]]]:
        if self._shards == 1:
            yield 0, entries
            return
        shards: dict[int, list[LogEntry]] = defaultdict(list)
        for entry in entries:
            shards[shard_of(entry.game_id, self._shards)].append(entry)
        yield from shards.items()


def _packed(key: bytes, maxlen: int, entries: Sequence[LogEntry]) -> bytes:
    """Writes the script's call as Redis reads it; redis-py would take longer for it than Redis for the work."""
    head = [b"EVAL", _ADD, b"1", key, b"%d" % maxlen, FIELD]
    parts = [b"*%d\r\n" % (len(head) + 2 * len(entries))]
    parts += [b"$%d\r\n%b\r\n" % (len(part), part) for part in head]
    for entry in entries:
        place, field = entry_id(entry), encode_entry(entry)
        parts.append(b"$%d\r\n%b\r\n$%d\r\n%b\r\n" % (len(place), place, len(field), field))
    return b"".join(parts)


async def _check_policy(wire: Wire) -> None:
    """Makes sure that a full Redis refuses entries instead of forgetting some."""
    try:
        lines = (await wire.call("INFO", "memory")).decode().splitlines()
    except ResponseError as error:  # still loading, or barred to this user
        raise Unavailable(str(error)) from error
    if "maxmemory_policy:noeviction" not in lines:
        raise Unavailable("the bus needs Redis with maxmemory-policy noeviction")
