"""What a run measures, and what becomes of it."""

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct, field

BUCKETS = 60  # points of a curve
BOT_WAIT_S = 30.0  # a turn that was left for longer has another reason than a slow bot


class Times(Struct):
    """Durations in seconds, each with the moment at which it ended, in seconds since the run began."""

    at: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)

    def add(self, at: float, took: float) -> None:
        self.at.append(at)
        self.took.append(took)


class Measured(Struct):
    """All of a run. turned_away: answers that were no success, by status and code; `lost` are broken connections."""

    began: float = field(default_factory=time.monotonic)
    moves: Times = field(default_factory=Times)
    seen: Times = field(default_factory=Times)  # from an event's time in the log to its arrival on a stream
    bots: Times = field(default_factory=Times)  # from a person's end of turn to the next bot's move, both in the log
    turned_away: Counter[str] = field(default_factory=Counter)
    games_opened: int = 0
    games_over: int = 0
    streams_broken: int = 0

    def restart(self) -> None:
        """Forgets what was measured while the tables were filled."""
        self.began = time.monotonic()
        self.moves, self.seen, self.bots, self.turned_away = Times(), Times(), Times(), Counter()
        self.streams_broken = 0

    @property
    def now(self) -> float:
        """Is the time since the run began, in seconds."""
        return time.monotonic() - self.began

    def arrived(self, occurred_at: str) -> None:
        """Notes an event that came by a stream."""
        self.seen.add(self.now, max(0.0, (datetime.now(UTC) - datetime.fromisoformat(occurred_at)).total_seconds()))


class Spread(Struct, frozen=True):
    """Durations, summed up in milliseconds; None where there were none."""

    count: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    worst_ms: float | None


class Point(Struct, frozen=True):
    """A part of the run: its end in seconds, how many a second ended in it, and their durations."""

    at_s: float
    per_s: float
    p50_ms: float | None
    p99_ms: float | None


def spread(times: Times) -> Spread:
    """Sums up durations."""
    ordered = sorted(times.took)
    return Spread(len(ordered), *(_part(ordered, part) for part in (0.50, 0.95, 0.99, 1.0)))


def curve(times: Times, seconds: float) -> list[Point]:
    """Follows durations through a run, in equal parts."""
    parts: list[list[float]] = [[] for _ in range(BUCKETS)]
    width = max(seconds, 0.001) / BUCKETS
    for at, took in zip(times.at, times.took, strict=True):
        parts[min(BUCKETS - 1, int(at / width))].append(took)
    ordered = [sorted(part) for part in parts]
    return [
        Point(round((n + 1) * width, 3), round(len(part) / width, 2), _part(part, 0.5), _part(part, 0.99))
        for n, part in enumerate(ordered)
    ]


def _part(ordered: Sequence[float], part: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000, 2) if ordered else None
