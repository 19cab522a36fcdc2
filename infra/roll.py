"""The roll: every process of the server says in Redis, each second, what it is, of which version and by which clock."""

import asyncio
import functools
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import msgspec
from msgspec import Struct
from redis.exceptions import ResponseError

from infra.beside import beside
from infra.bus.wire import Wire
from infra.presence import BELIEVED_MS, EVERY_S
from services.ports import Unavailable
from services.version import VERSION

_FAREWELL_S = 0.5  # a Redis that hangs holds up no end
KEYS = ("shanghai:{roll}:heard", "shanghai:{roll}:told")
SCRIPT = Path(__file__).with_suffix(".lua").read_text()

_PACKAGES = ("domain", "services", "infra", "api", "workers")
_PROGRAM = (".py", ".sql", ".lua")


class Said(Struct, frozen=True):
    """What a process says of itself. role: leads, stands_by or works; None where it reaches nothing or is not asked."""

    process: str
    version: str
    host: str
    pid: int
    role: str | None = None

    @property
    def name(self) -> str:
        """Names it for an operator."""
        return f"{self.process} on {self.host} (pid {self.pid})"


class Heard(Struct, frozen=True):
    """A process on the roll. ahead_s: by how much its clock is ahead of that of Redis; silent_s: since it said so."""

    said: Said
    ahead_s: float
    silent_s: float


class Caller:
    """What one process sends, each time it says that it is alive."""

    def __init__(self, process: str, role: Callable[[], str | None]) -> None:
        self._said = Said(process, build(), socket.gethostname(), os.getpid())
        self._id = uuid4().hex
        self._role = role

    def alive(self) -> tuple[str | int, ...]:
        """Is the script's arguments while it lives."""
        told = msgspec.json.encode(msgspec.structs.replace(self._said, role=self._role())).decode()
        return (*KEYS, BELIEVED_MS, self._id, told, f"{time.time():.6f}")

    def ended(self) -> tuple[str | int, ...]:
        """Is the script's arguments when it ends in good order."""
        return (*KEYS, BELIEVED_MS, self._id)


@functools.cache
def build(root: Path = Path(__file__).parents[1]) -> str:
    """Names the program that runs: its version, and eight digits of a hash of all its files. Cost: 20 ms, once."""
    seen = sha256()
    for path in sorted(path for package in _PACKAGES for path in (root / package).rglob("*")):
        if path.suffix in _PROGRAM:
            seen.update(f"{path.relative_to(root)}\0".encode())
            seen.update(path.read_bytes())
    return f"{VERSION}+{seen.hexdigest()[:8]}"


@asynccontextmanager
async def on_the_roll(url: str, process: str, role: Callable[[], str | None]) -> AsyncIterator[None]:
    """Keeps this process on the roll while the block runs and its loop turns; nothing waits where Redis is away."""
    async with beside(_call(url, Caller(process, role))):
        yield


async def call_roll(url: str) -> list[Heard]:
    """Gives every process that was heard of in the last ten seconds, in order. Errors: Unavailable, ResponseError."""
    wire = await Wire.open(url)
    try:
        heard = await wire.call("ZRANGE", KEYS[0], 0, -1, "WITHSCORES")
        told = await wire.call("HGETALL", KEYS[1])
        seconds, microseconds = map(int, await wire.call("TIME"))
    finally:
        await wire.close()
    now, at = seconds + microseconds / 1e6, dict(zip(heard[::2], map(float, heard[1::2]), strict=True))
    told = dict(zip(told[::2], told[1::2], strict=True))
    found = [
        _heard(told[each], now - at[each]) for each in told.keys() & at.keys() if now - at[each] < BELIEVED_MS / 1e3
    ]
    return sorted(found, key=lambda one: (one.said.process, one.said.host, one.said.pid))


async def _call(url: str, caller: Caller) -> None:
    wire: Wire | None = None
    try:
        while True:
            with suppress(Unavailable, ResponseError):
                wire = wire or await Wire.open(url)
                await wire.call("EVAL", SCRIPT, len(KEYS), *caller.alive())
                await asyncio.sleep(EVERY_S)
                continue
            if wire is not None:
                await wire.close()
                wire = None
            await asyncio.sleep(EVERY_S)
    finally:
        if wire is not None:
            with suppress(Unavailable, ResponseError, TimeoutError):
                async with asyncio.timeout(_FAREWELL_S):
                    await wire.call("EVAL", SCRIPT, len(KEYS), *caller.ended())
            await wire.close()


def _heard(told: bytes, silent_s: float) -> Heard:
    ahead_s, _, said = told.partition(b" ")
    return Heard(msgspec.json.decode(said, type=Said), float(ahead_s), silent_s)
