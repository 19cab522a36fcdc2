"""The peer of a broadcast: an ASGI application that writes what it is sent to all open streams. Prints its URL."""

import sys
from typing import Any

import uvloop

from api.server import Server
from tests.api.world import free_listener

_open: set[Any] = set()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Keeps a stream open for GET; sends a POST's body to all of them."""
    if scope["method"] == "GET":
        kind = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        await send({"type": "http.response.body", "body": b"event: hello\n\n", "more_body": True})
        _open.add(send)
        while (await receive())["type"] != "http.disconnect":
            pass
        _open.discard(send)
        return
    told = (await receive())["body"]
    for each in tuple(_open):
        await each({"type": "http.response.body", "body": told, "more_body": True})
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def serve() -> None:
    """Serves on a free port until a signal comes."""
    with free_listener() as listener:
        listener.listen()
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        await Server(application, "127.0.0.1", 0, _open.clear).serve([listener])


if __name__ == "__main__":
    uvloop.run(serve())
