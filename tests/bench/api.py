"""The API's edge: unchanged views, limits, a thousand streams, beside peers that do nothing else: `make bench-api`."""

import asyncio
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import uvloop
from msgspec import Struct, field

from tests.bench.feed import report_streams
from tests.bench.goals import report
from tests.bench.listeners import listening, my_stream_request, stream_request
from tests.bench.moves import (
    GAMES,
    TOO_WIDE,
    Pair,
    constant,
    cpu_s,
    is_wide,
    play_one,
    report_people,
    running,
    seated,
)
from tests.bench.wire import Wire, wire
from tests.engines import eventually
from tests.stack_watching import is_running

RUNS = 5
SHORT_RUNS = 40  # of peers in turn, so that all meet the same machine
SECONDS = 0.4  # of a short run
STREAMS = 1000
WARM_UP = 20  # streams opened and closed before the memory is looked at
BROADCASTS = 10  # of a run
PATIENCE_S = 20.0
OK, UNCHANGED = 200, 304


def main() -> None:
    """Measures everything and prints a line for each goal."""
    with tempfile.TemporaryDirectory(prefix="shanghai-bench-") as folder, running(Path(folder)) as (base_url, api):
        pairs = seated(base_url, GAMES)
        report_people(base_url, api)
        report_unchanged(base_url, api, pairs)
        report_limits(pairs[0], f"unix://{folder}/run/redis.sock")
        [watched] = seated(base_url, 1)
        with raw() as (peer_url, peer):
            uvloop.run(report_broadcasts(base_url, api, watched, peer_url, peer))
    with tempfile.TemporaryDirectory(prefix="shanghai-bench-") as folder, running(Path(folder)) as (base_url, _):
        report_streams(base_url)


def report_unchanged(base_url: str, api: int, pairs: list[Pair]) -> None:
    """Prints what it costs to say that a view has not changed, beside two handlers that look at nothing.

    One is of the same server, which tells whom a token speaks for; the other's process does nothing else at all.
    """
    with constant(pairs[0]) as peer:
        runs = [
            (
                uvloop.run(answer_ms(base_url, api, pairs)),
                uvloop.run(answer_ms(base_url, api, pairs, "/v1/me", OK)),
                peers_unchanged_ms(pairs[0].game_id, peer, guests=1),
            )
            for _ in range(SHORT_RUNS)
        ]
    for place, name in enumerate(("cpu_of_a_304_to_constant_handler", "cpu_of_a_304_to_bare_server"), start=1):
        ratio, is_noisy = middle([(run[0], run[place]) for run in runs])
        report(name, ratio, 1.5, "x", noisy=is_noisy)
    print_us("an unchanged view / whom a token speaks for / a bare server", runs)


def report_limits(pair: Pair, redis: str) -> None:
    """Prints what counting requests in Redis adds to the cheapest of them, each of many guests counted alone."""
    with constant(pair, redis) as counted, constant(pair, "none") as free:
        runs = [
            (
                peers_unchanged_ms(pair.game_id, counted, guests=GAMES),
                peers_unchanged_ms(pair.game_id, free, guests=GAMES),
            )
            for _ in range(SHORT_RUNS)
        ]
    ratio, is_noisy = middle(runs)
    report("cpu_of_limits", (ratio - 1) * 100, 10, "%", noisy=is_noisy)
    print_us("the cheapest request, counted in Redis / not counted", runs)


def peers_unchanged_ms(game_id: str, peer: tuple[str, int, list[str]], guests: int) -> float:
    """Gives the CPU of an unchanged view at a peer, asked for by so many guests, in milliseconds."""
    url, process, tokens = peer
    pairs = [Pair(game_id, [tokens[number % guests]]) for number in range(GAMES)]
    return uvloop.run(answer_ms(url, process, pairs))


def middle(runs: list[tuple[float, float]]) -> tuple[float, bool]:
    """Gives the median of many ratios, and whether half of them lie too far apart to judge by it."""
    low, median, high = statistics.quantiles([one / other for one, other in runs], n=4)
    return median, (high - low) / median > TOO_WIDE


def print_us(what: str, runs: Sequence[Sequence[float]]) -> None:
    """Prints the medians of all sides."""
    medians = " / ".join(f"{statistics.median(side) * 1000:.0f}" for side in zip(*runs, strict=True))
    print(f"{what}: CPU {medians} us", flush=True)  # noqa: T201  this is the output


async def answer_ms(
    base_url: str, server: int, pairs: list[Pair], path: str = "/v1/games/{}/view", status: int = UNCHANGED
) -> float:
    """Asks for what is known already, on one connection each; gives the server's CPU for one answer, in ms."""
    async with AsyncExitStack() as opened:
        wires = [await opened.enter_async_context(wire(base_url)) for _ in pairs]
        until = time.monotonic() + SECONDS
        before = cpu_s(server)
        asked = await asyncio.gather(
            *(
                ask(line, path.format(pair.game_id), pair.tokens[0], status, until)
                for line, pair in zip(wires, pairs, strict=True)
            )
        )
        return (cpu_s(server) - before) * 1000 / sum(asked)


async def ask(line: Wire, path: str, token: str, expected: int, until: float) -> int:
    """Asks until the time is over; gives how often."""
    asked = 0
    while time.monotonic() < until:
        status, _ = await line.get(path, token, "*")
        assert status == expected
        asked += 1
    return asked


class Audience(Struct):
    """What so many streams have heard. latest: the bytes of the last pieces, from the first stream."""

    heard: dict[int, list[float]] = field(default_factory=dict)
    byes: int = 0
    latest: bytes = b""

    def hear(self, number: int, told: bytes) -> None:
        """Notes when each version came."""
        now = time.perf_counter()
        for version in re.findall(rb"id: (\d+)\n", told):
            self.heard.setdefault(int(version), []).append(now)
        self.byes += told.count(b"event: bye\n")
        if number == 0:
            self.latest = told

    async def all_heard(self, version: int) -> float:
        """Waits until every stream was told a version; gives the seconds from the first sight of it to the last."""
        await eventually(lambda: self._is_known_to_all(version), within_s=PATIENCE_S)
        return self.heard[version][-1] - self.heard[version][0]

    async def _is_known_to_all(self, version: int) -> bool:
        return len(self.heard.get(version, ())) >= STREAMS


Tell = Callable[[], Awaitable[int]]


async def report_broadcasts(base_url: str, api: int, pair: Pair, peer_url: str, peer: int) -> None:
    """Prints what a thousand streams take in memory, what an event to all of them takes, and how they end."""
    after = pair.decision.split("-")[1]
    request = stream_request(pair.game_id, pair.tokens[0], after)
    ours, theirs, raw_request = Audience(), Audience(), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    async with AsyncExitStack() as opened:
        our_kib = await opened.enter_async_context(filled(base_url, api, request, ours))
        their_kib = await opened.enter_async_context(filled(peer_url, peer, raw_request, theirs))
        report("memory_of_a_stream", our_kib, 30, "KiB")
        async with filled(base_url, api, my_stream_request(pair.tokens[0]), Audience()) as mine_kib:
            report("memory_of_a_me_stream", mine_kib, 30, "KiB")
        print(f"memory of a raw ASGI stream: {their_kib:.1f} KiB", flush=True)  # noqa: T201  this is the output
        line = await opened.enter_async_context(wire(base_url))
        raw_line = await opened.enter_async_context(wire(peer_url))

        async def repeat() -> int:
            told = ours.latest[ours.latest.index(b"id: ") : ours.latest.rindex(b"\n\n") + 2]
            await raw_line.post("/", "", "", told)
            return int(re.findall(rb"id: (\d+)\n", told)[-1])

        async def play() -> int:
            return await play_one(pair, line)

        spans: list[tuple[float, float]] = []
        cpus: list[tuple[float, float]] = []
        for _ in range(RUNS):
            span, cpu = zip(await told_to_all(api, ours, play), await told_to_all(peer, theirs, repeat), strict=True)
            spans.append(span)
            cpus.append(cpu)
        for name, runs in (("broadcast_to_1000_streams", spans), ("cpu_of_a_broadcast_to_1000_streams", cpus)):
            ratio = statistics.median(our / their for our, their in runs)
            report(f"{name}_to_raw_asgi", ratio, 1.5, "x", noisy=is_wide([their for _, their in runs]))
        shown = ", ".join(f"{our * 1000:.0f} / {their * 1000:.0f}" for our, their in (spans[-1], cpus[-1]))
        print(f"a broadcast, ours / raw: first to last sight and CPU, ms: {shown}", flush=True)  # noqa: T201
        began = time.monotonic()
        os.kill(api, signal.SIGTERM)
        await eventually(partial(has_ended, api), within_s=PATIENCE_S)
        report("exit_after_sigterm_with_1000_streams", time.monotonic() - began, 5, "s")
        report("goodbyes_of_1000_streams", ours.byes, STREAMS, "", better="more")


async def has_ended(pid: int) -> bool:
    """Tells whether a process is gone."""
    return not is_running(pid)


@asynccontextmanager
async def filled(base_url: str, server: int, request: bytes, audience: Audience) -> AsyncIterator[float]:
    """Has a thousand streams open; gives the KiB that each of them takes in the server's memory."""
    async with listening(base_url, [request] * WARM_UP, audience.hear):
        pass
    await asyncio.sleep(1)
    before = resident_kib(server)
    async with listening(base_url, [request] * STREAMS, audience.hear):
        audience.heard.clear()
        yield (resident_kib(server) - before) / STREAMS


async def told_to_all(server: int, audience: Audience, tell: Tell) -> tuple[float, float]:
    """Has something told to all streams several times; gives the median span and the server's CPU for one, in s."""
    before = cpu_s(server)
    spans = []
    for _ in range(BROADCASTS):
        version = await tell()
        spans.append(await audience.all_heard(version))
        audience.heard.clear()
    return statistics.median(spans), (cpu_s(server) - before) / BROADCASTS


def resident_kib(pid: int) -> int:
    """Gives the memory that a process holds, in KiB."""
    [kib] = re.findall(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(kib)


@contextmanager
def raw() -> Iterator[tuple[str, int]]:
    """Is the peer of a broadcast; gives its URL and its process."""
    peer = subprocess.Popen([sys.executable, "-m", "tests.bench.raw_streams"], stdout=subprocess.PIPE, text=True)
    assert peer.stdout is not None
    try:
        yield peer.stdout.readline().strip(), peer.pid
    finally:
        peer.terminate()
        peer.wait(30)
        peer.stdout.close()


if __name__ == "__main__":
    main()
