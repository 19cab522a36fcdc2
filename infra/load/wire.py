"""HTTP/1.1 by hand: a client that costs little beside the server that is measured."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

_LIMIT = 1 << 22  # of a line or a chunk
_ANSWER_S = 30.0
_IDLE_S = 3.0  # servers close what is idle for some seconds: uvicorn after five


class Answer(Struct, frozen=True):
    """What came back. body: decoded JSON, None where there is none."""

    status: int
    headers: Mapping[str, str]
    body: object


class Lost(Exception):
    """The connection broke, or nothing came within half a minute."""


class Wire:
    """A keep-alive connection that is opened when it is needed; a request at a time."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._url = urlsplit(base_url)
        self._turn = asyncio.Lock()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used_at = 0.0

    async def send(self, method: str, path: str, *, token: str = "", key: str = "", body: object = None) -> Answer:
        """Sends a request and gives the answer. Errors: Lost; nothing is sent twice."""
        async with self._turn:
            try:
                async with asyncio.timeout(_ANSWER_S):
                    if time.monotonic() - self._used_at > _IDLE_S:
                        self.close()
                    self._streams = self._streams or await self._open()
                    reader, writer = self._streams
                    writer.write(self._request(method, path, token, key, body))
                    answer = await _answer(reader)
                    self._used_at = time.monotonic()
                    return answer
            except (OSError, EOFError, ValueError, TimeoutError) as error:
                self.close()
                raise Lost(type(error).__name__) from error

    async def stream(self, path: str, *, token: str) -> AsyncIterator[tuple[str, bytes]]:
        """Gives kind and data of each server-sent event until the connection ends. Errors: Lost, also for a refusal."""
        try:
            async with asyncio.timeout(_ANSWER_S):
                reader, writer = await self._open()
        except (OSError, TimeoutError) as error:
            raise Lost(type(error).__name__) from error
        try:
            writer.write(self._request("GET", path, token, "", None))
            status, _ = await _head(reader)
            if status == 204:
                yield "bye", b'{"reason":"game_over"}'
            elif status != 200:
                raise Lost(str(status))
            else:
                async for event in _events(reader):
                    yield event
        except (OSError, EOFError, ValueError) as error:
            raise Lost(type(error).__name__) from error
        finally:
            writer.close()

    def close(self) -> None:
        """Closes the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        secure = ssl.create_default_context() if self._url.scheme == "https" else None
        port = self._url.port or (443 if secure else 80)
        return await asyncio.open_connection(self._url.hostname, port, ssl=secure, limit=_LIMIT)

    def _request(self, method: str, path: str, token: str, key: str, body: object) -> bytes:
        payload = b"" if body is None else msgspec.json.encode(body)
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._url.netloc}", f"Content-Length: {len(payload)}"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += [f"Idempotency-Key: {key}"] if key else []
        lines += ["Content-Type: application/json"] if payload else []
        return "\r\n".join([*lines, "", ""]).encode() + payload


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}
    return int(first.split(" ")[1]), headers


async def _answer(reader: asyncio.StreamReader) -> Answer:
    status, headers = await _head(reader)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Answer(status, headers, msgspec.json.decode(body) if body else None)


async def _events(reader: asyncio.StreamReader) -> AsyncIterator[tuple[str, bytes]]:
    """Reads events from a chunked body."""
    left = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        left += (await reader.readexactly(size + 2))[:-2]
        *events, left = left.split(b"\n\n")
        for event in events:
            fields = dict(line.partition(b":")[::2] for line in event.split(b"\n"))
            yield fields.get(b"event", b" message").strip().decode(), fields.get(b"data", b"").strip()
