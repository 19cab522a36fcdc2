"""The small HTTP port of each process: its numbers, and whether it lives and is of use.

A thread of its own serves it, so that it answers while the process hangs, or looks for a broker that is away.
"""

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import BoundedSemaphore, Thread
from typing import Any, TypeAlias

from infra.watching.vital import Vital

_AT_ONCE = 16  # requests; a scraper and two probes need three
_POLL_S = 0.2  # so soon the thread notices that it is to end
_PATIENCE_S = 5.0  # for a client that does not go on

Page: TypeAlias = Callable[[], tuple[int, str, bytes]]
"""Gives status, media type and body."""


class PortRefused(Exception):
    """The process could not listen there; the text says why."""


def health_pages(vital: Vital) -> dict[str, Page]:
    """Is `/health/live`: 503 while the loop stands still; and `/health/ready`: 503 while nothing can be done."""

    def live() -> tuple[int, str, bytes]:
        return _told(is_well=vital.is_live, process=vital.process)

    def ready() -> tuple[int, str, bytes]:
        role = vital.role
        return _told(is_well=vital.is_live and role is not None, process=vital.process, role=role)

    return {"/health/live": live, "/health/ready": ready}


@contextmanager
def serving(host: str, port: int, pages: Mapping[str, Page]) -> Iterator[Callable[[], None]]:
    """Serves the pages while the block runs; port 0 serves nothing. Gives what a forked child calls to let go of it.

    Errors: PortRefused.
    """
    if not port:
        yield lambda: None
        return
    try:
        server = _Server(host, port, pages)
    except OSError as error:
        raise PortRefused(f"cannot listen on {host} port {port}: {error.strerror}") from None
    thread = Thread(target=server.serve_forever, args=(_POLL_S,), name="port", daemon=True)
    thread.start()
    try:
        yield server.socket.close
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, pages: Mapping[str, Page]) -> None:
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        self.pages = pages
        self._places = BoundedSemaphore(_AT_ONCE)
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Binds, and does not ask the name server for this machine's name, as the parent would."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hangs up on those who are too many."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers in a thread of its own."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, _request: Any, _client_address: Any) -> None:
        """Says nothing: a client that has left is no fault."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _PATIENCE_S
    server_version, sys_version = "shanghai", ""

    def do_GET(self) -> None:
        """Answers one of the pages."""
        page = self.server.pages.get(self.path.partition("?")[0])
        status, media_type, body = page() if page else (404, "text/plain", b"not found\n")
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing: a probe comes every few seconds."""


def _told(*, is_well: bool, **facts: str | None) -> tuple[int, str, bytes]:
    body = json.dumps({"status": "ok" if is_well else "unavailable", **facts}).encode()
    return (200 if is_well else 503), "application/json", body
