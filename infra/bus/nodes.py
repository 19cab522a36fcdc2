"""Where the bus's streams lie: all on one Redis, or each on the node of a Redis Cluster that has its slot."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from redis.crc import key_slot
from redis.exceptions import ResponseError

from infra.bus.wire import Wire
from services.ports import Unavailable

Nodes: TypeAlias = dict[Wire, list[bytes]]
"""Connections, each with the streams that it is for."""


async def connect(url: str, keys: Sequence[bytes], *, is_reader: bool = False) -> Nodes:
    """Connects to every node that has one of the keys. Errors: Unavailable, also where nobody serves a key's slot.

    is_reader: in a cluster an XREAD may read one slot only, so there each key gets a connection of its own. A slot
    that moves away later is a ResponseError at the next call; whoever connects anew finds it.
    """
    first = await Wire.open(url)
    try:
        places = list(_places(await first.call("CLUSTER", "SLOTS")))
    except ResponseError:  # no cluster
        return {first: list(keys)}
    except Unavailable:
        await first.close()
        raise
    await first.close()
    nodes: Nodes = {}
    try:
        for node, of_node in _by_node(url, places, keys).items():
            for together in ([key] for key in of_node) if is_reader else [of_node]:
                nodes[await Wire.open(node)] = together
    except Unavailable:
        await disconnect(nodes)
        raise
    return nodes


async def disconnect(nodes: Nodes) -> None:
    """Closes all connections."""
    for wire in nodes:
        await wire.close()


def _places(slots: Any) -> Iterator[tuple[range, str]]:
    """Reads CLUSTER SLOTS: from slot, to slot, the primary's host and port, …"""
    for first, last, (host, port, *_), *_ in slots:
        yield range(first, last + 1), f"{host.decode()}:{port}"


def _by_node(url: str, places: list[tuple[range, str]], keys: Sequence[bytes]) -> dict[str, list[bytes]]:
    nodes: dict[str, list[bytes]] = {}
    for key in keys:
        place = next((address for slots, address in places if key_slot(key) in slots), None)
        if place is None:
            raise Unavailable("the bus is a cluster in which nobody serves some of the slots")
        nodes.setdefault(_at(url, place), []).append(key)
    return nodes


def _at(url: str, address: str) -> str:
    """Gives the URL with another host and port, the user and all options kept."""
    parts = urlsplit(url)
    user, at, _ = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}{at}{address}").geturl()
