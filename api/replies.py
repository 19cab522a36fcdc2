"""Answers on the wire: JSON as it is, problems, documents, streams; each with its request id."""

import os
import re
import time
from typing import Any
from urllib.parse import unquote

import msgspec
from litestar import Response

from api.calls import Answer, Text
from api.connections import OUTLET
from api.problems import Failed, headers_of, problem_of
from api.streams import EventStream, send_story

_encode = msgspec.json.Encoder().encode
_SANE_ID = re.compile(rb"[\w.:-]{1,128}", re.ASCII)


class Reply(Response[bytes]):
    """A whole answer, or the beginning of a stream. The framework only passes it on."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes, stream: EventStream | None = None) -> None:
        self.status_code = status
        self.headers = headers
        self.body = body
        self.stream = stream

    def to_asgi_response(self, *_: Any, **__: Any) -> Any:
        """Is the answer itself, an ASGI application."""
        return self

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Sends the answer; when it began is noted for who notes requests."""
        scope["status"], scope["answered"] = self.status_code, time.perf_counter()
        headers = [(name.encode(), value.encode("latin-1")) for name, value in self.headers.items()]
        headers.append((b"x-request-id", request_id(scope).encode()))
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        is_head = scope["method"] == "HEAD"
        if self.stream is not None and not is_head:
            if self.stream.reader is not None:
                self.stream.reader.outlet = scope["state"].get(OUTLET)
            await send_story(self.stream, receive, send)
            return
        if self.stream is not None:
            await self.stream.chunks.aclose()
        await send({"type": "http.response.body", "body": b"" if is_head else self.body, "more_body": False})


def reply(answer: Answer[Any], status: int) -> Reply:
    """Writes what a handler answered."""
    status = answer.status or status
    match answer.shown:
        case EventStream() as stream:
            return Reply(
                status, {"content-type": "text/event-stream", "cache-control": "no-store"} | answer.headers, b"", stream
            )
        case Text(content, media_type):
            return _whole(status, media_type, content, answer.headers)
        case None:
            return Reply(status, _NOT_KEPT | answer.headers, b"")
        case shown:
            return _whole(status, "application/json", _encode(shown), answer.headers)


def problem_reply(failure: Failed, scope: Any, version: int | None = None) -> Reply:
    """Writes a failure as a problem."""
    scope["problem"] = failure.code
    path = unquote(scope["raw_path"].decode("latin-1"))  # as it was sent; the framework's own has no slash at its end
    problem = problem_of(failure, instance=path, request_id=request_id(scope), current_version=version)
    return _whole(problem.status, "application/problem+json", _encode(problem), headers_of(failure))


def request_id(scope: Any) -> str:
    """Gives the request's id: the client's own X-Request-ID if it is sane, otherwise a new one, kept in the scope."""
    known = scope.get("request_id")
    if known is None:
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        known = given.decode() if given and _SANE_ID.fullmatch(given) else f"req_{os.urandom(13).hex()}"
        scope["request_id"] = known
    return str(known)


def _whole(status: int, media_type: str, body: bytes, headers: dict[str, str]) -> Reply:
    own = {"content-type": media_type, "content-length": str(len(body))}
    return Reply(status, own | _NOT_KEPT | headers, body)


# A tag is the game's version, the same for all who look: a browser that keeps answers, and asks by itself whether they
# hold, would show one player another's hand; `Vary` does not keep it from that.
_NOT_KEPT = {"cache-control": "no-store"}
