"""The writing end of the bus."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from redis.exceptions import ResponseError

from infra.bus.entries import FIELD, shard_of, stream_key
from infra.bus.nodes import Nodes, connect, disconnect
from infra.bus.wire import Wire, words
from services.ports import Unavailable
from services.relay import LogEntry

AT_ONCE = 250  # entries in one call: with more of them Redis takes longer for each

_ADD = Path(__file__).with_name("add.lua").read_bytes()


class RedisPublisher:
    """A Publisher over `shards` streams that each keep about `maxlen` entries."""

    def __init__(self, url: str, *, shards: int, maxlen: int) -> None:
        self._url = url
        self._shards = shards
        self._maxlen = maxlen
        self._nodes: Nodes = {}
        self._streams: list[tuple[Wire, bytes]] = []

    async def connect(self, generation: str) -> None:
        """Connects anew. Errors: Unavailable, also where Redis would throw entries away by itself."""
        await self.close()
        keys = [stream_key(generation, shard).encode() for shard in range(self._shards)]
        self._nodes = await connect(self._url, keys)
        try:
            for wire in self._nodes:
                await _check_policy(wire)
        except Unavailable:
            await self.close()
            raise
        wires = {key: wire for wire, of_node in self._nodes.items() for key in of_node}
        self._streams = [(wires[key], key) for key in keys]

    async def publish(self, entries: Sequence[LogEntry]) -> None:
        """Adds entries in order, each shard's up to the first that Redis does not take. Errors: Unavailable.

        While Redis adds some entries the next ones are packed.
        """
        if not self._streams:
            raise Unavailable("the bus is not connected")
        under_way: list[tuple[Wire, int]] = []
        for calls in zip_longest(*self._calls(entries)):
            await _all_added(under_way)
            under_way = []
            for wire, packed, count in filter(None, calls):
                await wire.write([packed])
                under_way.append((wire, count))
        await _all_added(under_way)

    async def close(self) -> None:
        """Closes the connections."""
        await disconnect(self._nodes)
        self._nodes, self._streams = {}, []

    def _calls(self, entries: Sequence[LogEntry]) -> list[Iterator[tuple[Wire, bytes, int]]]:
        """Gives each shard's calls: no shard waits for another, and each for its own call before."""
        if self._shards == 1:
            return [self._calls_of_shard(0, entries)]
        shards: dict[int, list[LogEntry]] = {}
        for entry in entries:
            shards.setdefault(shard_of(entry.game, self._shards), []).append(entry)
        return [self._calls_of_shard(shard, of_shard) for shard, of_shard in shards.items()]

    def _calls_of_shard(self, shard: int, entries: Sequence[LogEntry]) -> Iterator[tuple[Wire, bytes, int]]:
        wire, key = self._streams[shard]
        for start in range(0, len(entries), AT_ONCE):
            chunk = entries[start : start + AT_ONCE]
            yield wire, _packed(key, self._maxlen, chunk), len(chunk)


async def _all_added(under_way: list[tuple[Wire, int]]) -> None:
    for wire, count in under_way:
        try:
            number, fault = await wire.answer()
        except ResponseError as error:
            raise Unavailable(words(error)) from error
        if fault:
            raise Unavailable(f"{fault.decode()} (after {number} of {count} entries)")


def _packed(key: bytes, maxlen: int, entries: Sequence[LogEntry]) -> bytes:
    """Writes the script's call as Redis reads it; redis-py would take longer for it than Redis for the work.

    An entry's id is its position in the log: it rises strictly, so a repeated entry is refused.
    """
    head = (b"EVAL", _ADD, b"1", key, b"%d" % maxlen, FIELD)
    parts = [b"*%d\r\n" % (len(head) + 2 * len(entries))]
    parts += [b"$%d\r\n%b\r\n" % (len(part), part) for part in head]
    for entry in entries:
        place = b"%d-%d" % (entry.xid, entry.gseq)
        parts.append(b"$%d\r\n%b\r\n$%d\r\n%b\r\n" % (len(place), place, len(entry.told), entry.told))
    return b"".join(parts)


async def _check_policy(wire: Wire) -> None:
    """Makes sure that a full Redis refuses entries instead of forgetting some."""
    try:
        lines = (await wire.call("INFO", "memory")).decode().splitlines()
    except ResponseError as error:  # still loading, or barred to this user
        raise Unavailable(words(error)) from error
    if "maxmemory_policy:noeviction" not in lines:
        raise Unavailable("the bus needs Redis with maxmemory-policy noeviction")
