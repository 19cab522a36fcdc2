"""Which websites may call the API from a browser. Their scripts send a token of their own, so cookies play no part."""

from typing import Any

from api.access import App

METHODS = b"GET, POST, PUT, PATCH, DELETE"
READ = b"Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, X-Request-ID"
EXPOSED = (
    b"Content-Disposition, Date, Deprecation, ETag, Idempotency-Replayed, Link, Location, Preference-Applied,"
    b" RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-ID"
)
KNOWN_S = b"7200"  # so long a browser need not ask again; some keep it no longer


def allowing(app: App, origins: str) -> App:
    """Lets scripts of these websites read the answers, every error too; a preflight is answered for every path.

    origins: separated by commas, or `*` for all; with none the application is given back as it is.
    """
    allowed = frozenset(origin.strip().rstrip("/").encode() for origin in origins.split(",") if origin.strip())
    if not allowed:
        return app

    async def with_origins(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        told = _told(headers.get(b"origin"), allowed)

        async def send_told(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *told]}
            await send(message)

        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            await _answer_preflight(send, told)
        else:
            await app(scope, receive, send_told)

    return with_origins


def _told(origin: bytes | None, allowed: frozenset[bytes]) -> list[tuple[bytes, bytes]]:
    """Lists the headers for an origin. An answer that depends on the origin says so, for caches."""
    if b"*" in allowed:
        return [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", EXPOSED)]
    if origin is None or origin not in allowed:
        return [(b"vary", b"Origin")]
    return [
        (b"vary", b"Origin"),
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", EXPOSED),
    ]


async def _answer_preflight(send: Any, told: list[tuple[bytes, bytes]]) -> None:
    """Tells what a script may send; one of another website is told nothing, and its browser sends nothing."""
    may = [
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", READ),
        (b"access-control-max-age", KNOWN_S),
    ]
    is_allowed = any(name == b"access-control-allow-origin" for name, _ in told)
    await send({"type": "http.response.start", "status": 204, "headers": [*told, *(may if is_allowed else ())]})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
