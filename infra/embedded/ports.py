"""Where the API listens."""

import errno
import socket

from infra.embedded import CannotRun


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
    """Is a loopback TCP port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def reached_at(host: str) -> str:
    """Is the address that reaches a listener on `host` from this machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104 - told apart, not bound


def base_url(host: str, port: int) -> str:
    """Is the API's address without a path."""
    reached = reached_at(host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"
