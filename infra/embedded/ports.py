"""Where the API listens."""

import errno
import socket
from contextlib import suppress
from pathlib import Path
from random import SystemRandom

from infra.embedded import CannotRun

_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST = 10_000  # below are those of well-known services
_TRIES = 100


class PortTaken(CannotRun):
    """The API could not listen there; the text says why."""


def check_port(host: str, port: int) -> None:
    """Refuses early what the API could not listen on. Errors: PortTaken."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the API does
            probe.bind(address)
            probe.listen()
    except OSError as error:
        why = "it is taken" if error.errno == errno.EADDRINUSE else error.strerror
        raise PortTaken(f"cannot listen on {host} port {port}: {why}") from None


def free_port() -> int:
    """Is a loopback TCP port that was free a moment ago.

    It lies below those that the system gives to connections that go out: such a one could take it before its listener
    does, or while that is started anew. Where there is nothing below, it is any.
    """
    below = range(_FIRST, _first_of_outgoing())
    for port in (*SystemRandom().sample(below, min(_TRIES, len(below))), 0):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise PortTaken("no port is free on 127.0.0.1")


def free_ports(count: int, *, besides: int) -> list[int]:
    """Is as many of them, each another one; besides: one that is given away, if nobody listens there yet."""
    chosen: set[int] = set()
    while len(chosen) < count:
        chosen |= {free_port()} - {besides}
    return sorted(chosen)


def _first_of_outgoing() -> int:
    try:
        return int(_OUTGOING.read_text().split()[0])
    except OSError:
        return 32_768  # no Linux: others begin there or higher


def reached_at(host: str) -> str:
    """Is the address that reaches a listener on `host` from this machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104 - told apart, not bound


def base_url(host: str, port: int) -> str:
    """Is the API's address without a path."""
    reached = reached_at(host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"
