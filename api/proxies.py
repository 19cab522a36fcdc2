"""Whose request it is where proxies stand in front: they are believed only as far as the operator trusts them."""

import re
from collections.abc import Callable, Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Literal, TypeAlias

from api.access import App

Address: TypeAlias = IPv4Address | IPv6Address
Networks: TypeAlias = tuple[IPv4Network | IPv6Network, ...]
ForwardedBy: TypeAlias = Literal["x-forwarded-for", "forwarded"]

UNIX = "unix"  # in the list of trusted proxies: whoever comes by a unix socket


def behind(app: App, trusted: str, header: ForwardedBy = "x-forwarded-for") -> App:
    """Has requests that come from a trusted proxy count as those of the client that it names, with its scheme.

    trusted: networks and `unix`, separated by commas; with none the application is given back as it is. header: the one
    that the proxies write; the other one may come from anybody and is not looked at.
    """
    names = [name.strip() for name in trusted.split(",") if name.strip()]
    if not names:
        return app
    networks = tuple(ip_network(name) for name in names if name != UNIX)
    read = _READERS[header]

    async def seen_through(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and _is_trusted(scope["client"], networks, trusts_unix=UNIX in names):
            hops, scheme = read(scope["headers"])
            client = next(_known(hops, networks), None)
            scope = {**scope, "client": (client, 0) if client else scope["client"], "scheme": scheme or scope["scheme"]}
        await app(scope, receive, send)

    return seen_through


def _is_trusted(client: tuple[str, int] | None, networks: Networks, *, trusts_unix: bool) -> bool:
    if not client or not client[0]:
        return trusts_unix
    address = _address(client[0])
    return address is not None and _is_within(address, networks)


def _known(hops: Iterable[str], networks: Networks) -> Iterator[str]:
    """Gives the client: the last hop that no trusted proxy is; where a hop cannot be read, the proxy that named it."""
    believed = None
    for hop in hops:
        address = _address(hop)
        if address is None:
            break
        believed = address
        if not _is_within(address, networks):
            break
    if believed is not None:
        yield str(believed)


def _is_within(address: Address, networks: Networks) -> bool:
    return any(address in network for network in networks)


def _address(text: str) -> Address | None:
    """Reads an address, with or without port, brackets and quotes; an IPv4 address in IPv6 form is one of IPv4."""
    text = text.strip().strip('"')
    bracketed = re.fullmatch(r"\[([0-9a-fA-F:.]{2,45})\](?::\d{1,5})?", text)
    bare = bracketed[1] if bracketed else text.partition(":")[0] if text.count(":") == 1 else text
    if not re.fullmatch(r"[0-9a-fA-F:.]{2,45}", bare):
        return None
    try:
        address = ip_address(bare)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _x_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> tuple[Iterable[str], str | None]:
    """Reads X-Forwarded-For, the nearest hop first, and X-Forwarded-Proto as the nearest proxy wrote it."""
    hops = _values(headers, b"x-forwarded-for")
    return hops, _scheme(_values(headers, b"x-forwarded-proto"))


def _forwarded(headers: Iterable[tuple[bytes, bytes]]) -> tuple[Iterable[str], str | None]:
    """Reads RFC 7239's Forwarded, the nearest hop first."""
    elements = [dict(_PAIR.findall(element.lower())) for element in _values(headers, b"forwarded")]
    return [element.get("for", "") for element in elements], _scheme([one.get("proto", "") for one in elements])


_PAIR = re.compile(r'(?:^|;)\s*(\w+)\s*=\s*("[^"]*"|[^;]*)')


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    """Lists what a header holds, over all its lines, the last first."""
    lines = [value.decode("latin-1") for key, value in headers if key == name]
    return [part.strip() for part in ",".join(lines).split(",")][::-1] if lines else []


def _scheme(values: list[str]) -> str | None:
    nearest = values[0].strip('"').lower() if values else ""
    return nearest if nearest in ("http", "https") else None


_READERS: dict[ForwardedBy, Callable[[Any], tuple[Iterable[str], str | None]]] = {
    "x-forwarded-for": _x_forwarded,
    "forwarded": _forwarded,
}
