"""How cost grows with what goes on at once, games and streams: `make bench-report`, which draws what this writes.

Argument: the file for the rows, as JSON.
"""

import asyncio
import re
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from tests.bench.listeners import listening, stream_request
from tests.bench.moves import Pair, load, play_one, running, seated
from tests.bench.wire import wire

GAMES = (1, 10, 100, 1000)
STREAMS = (10, 100, 1000, 5000)
SECONDS = 4.0
MOVES = 20  # of the game that all streams watch
PAUSE_S = 0.3  # between two of them


class Row(msgspec.Struct):
    """What was measured with so many of something at once. per_s: moves, or events sent to streams."""

    what: str
    count: int
    per_s: float
    p50_ms: float
    p99_ms: float


def main() -> None:
    """Measures and writes the rows."""
    with tempfile.TemporaryDirectory(prefix="shanghai-bench-") as folder, running(Path(folder)) as (base_url, api):
        pairs = seated(base_url, max(GAMES) + 1)
        rows = []
        for count in GAMES:
            run = asyncio.run(load(base_url, api, pairs[:count], SECONDS))
            rows.append(summed_up("games", count, run.moves_per_s, run.took))
        for count in STREAMS:
            began, took = time.monotonic(), asyncio.run(watched(base_url, pairs[-1], count))
            rows.append(summed_up("streams", count, len(took) / (time.monotonic() - began), took))
    Path(sys.argv[1]).write_bytes(msgspec.json.encode(rows))


def summed_up(what: str, count: int, per_s: float, took: list[float]) -> Row:
    """Sums up a run and prints it."""
    took = sorted(took)
    p50, p99 = (took[len(took) * part // 100] * 1000 for part in (50, 99))
    print(f"{count:5} {what}: {per_s:.0f}/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms", flush=True)  # noqa: T201
    return Row(what, count, per_s, p50, p99)


async def watched(base_url: str, pair: Pair, count: int) -> list[float]:
    """Plays some moves that so many streams watch; gives the seconds from each move's sending to each sight of it."""
    came: list[tuple[int, float]] = []

    def hear(_: int, told: bytes) -> None:
        now = time.monotonic()
        came.extend((int(version), now) for version in re.findall(rb"\nid: ?(\d+)", told))

    request = stream_request(pair.game_id, pair.tokens[0], pair.decision.split("-")[1])
    async with wire(base_url) as line, listening(base_url, [request] * count, hear):
        came.clear()
        sent: dict[int, float] = {}
        for _ in range(MOVES):
            now = time.monotonic()
            sent[await play_one(pair, line)] = now
            await asyncio.sleep(PAUSE_S)
    return [at - sent[version] for version, at in came if version in sent]


if __name__ == "__main__":
    main()
