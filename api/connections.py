"""One client's connection: no request may take for ever or grow without end, no answer may lie unread for ever."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

REQUEST_S = 20.0  # from the first byte of a request, or from the connection's begin, to the last byte of it
UNREAD_S = 30.0  # so long a client may take nothing of what lies here for it
MAX_HEAD = 32 * 1024  # bytes of a request before its body
OUTLET = "outlet"  # in the state of a request's scope


class Outlet:
    """Where an answer under way that is told in chunks can be gone on with from anywhere, without waiting."""

    __slots__ = ("_transport", "is_full")

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self.is_full = False

    def push(self, piece: bytes) -> bool:
        """Writes a chunk and tells so, unless the client is gone or has to take first what lies here for it."""
        if self.is_full or self._transport.is_closing():
            return False
        self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        return True


class HeadTooLarge(Exception):
    """A request whose line and headers are larger than allowed; the parser answers it with 400."""


class HostNotNamed(Exception):
    """A request without a host, or with two of which a proxy may have read the other; the parser answers 400."""


class Connection(HttpToolsProtocol):
    """The server's HTTP with bounds. `end_overdue` is called every second."""

    _awaits_since: float | None = None  # when a request began, or a connection, that is not complete yet
    _moves_since = 0.0  # when the client took something last
    _unread = 0
    _outlet: Outlet
    _head = 0  # bytes that came since a request began

    def connection_made(self, transport: Any) -> None:
        """Begins to wait for a request."""
        super().connection_made(transport)
        self._outlet = Outlet(transport)
        self._awaits_since = self._moves_since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        """Takes what came; a request may be in pieces, its head not in many."""
        cycle: RequestResponseCycle | None = self.cycle
        if self._awaits_since is None and (cycle is None or cycle.response_complete):
            self._awaits_since, self._head = self.loop.time(), 0
        self._head += len(data)
        super().data_received(data)
        if self._head > MAX_HEAD and self._is_in_head():
            self.send_400_response("Invalid HTTP request received.")

    def on_message_begin(self) -> None:
        """Begins with a request."""
        super().on_message_begin()
        self.scope["state"][OUTLET] = self._outlet
        self._awaits_since = self._awaits_since or self.loop.time()

    def on_headers_complete(self) -> None:
        """Goes on with a request whose head is known. Errors: HeadTooLarge, HostNotNamed; the parser answers 400."""
        if self._head > MAX_HEAD and len(self.url) + sum(len(n) + len(v) for n, v in self.headers) > MAX_HEAD:
            raise HeadTooLarge
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() != "1.0"):
            raise HostNotNamed
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Has the whole request."""
        super().on_message_complete()
        self._awaits_since, self._head = None, 0

    def pause_writing(self) -> None:
        """Has every answer wait until the client has taken enough of what lies here."""
        super().pause_writing()
        self._outlet.is_full = True

    def resume_writing(self) -> None:
        """Lets answers go on."""
        super().resume_writing()
        self._outlet.is_full = False

    def end_overdue(self) -> None:
        """Ends the connection where its client is too slow in sending a request or in taking an answer."""
        now = self.loop.time()
        unread = self.transport.get_write_buffer_size()
        if unread == 0 or unread < self._unread:
            self._moves_since = now
        self._unread = unread
        is_read = not self.flow.read_paused  # else it is the server that takes its time
        is_late = is_read and self._awaits_since is not None and now - self._awaits_since > REQUEST_S
        if is_late or (unread and now - self._moves_since > UNREAD_S):
            self.transport.abort()

    def _is_in_head(self) -> bool:
        """Tells whether the headers of a request are awaited still."""
        cycle: RequestResponseCycle | None = self.cycle
        return self._awaits_since is not None and (cycle is None or cycle.scope is not self.scope)
