"""What an API process tells the operator: numbers, and a line for each request."""

import asyncio
import time
from collections.abc import Callable

from prometheus_client import Histogram

from api.access import Request
from api.house import House
from infra.watching.lines import RequestLines
from infra.watching.numbers import PROBLEMS, REQUESTS, Reading
from infra.watching.tracing import Tracing

LATE_S = 0.1
PROBES = frozenset({"isAlive", "isReady", "getMetrics"})
"""Operations that are asked every few seconds, by machines."""


class Notes:
    """Counts the requests that were answered and writes their lines, all of a tenth of a second together.

    Between two answers each of them would cost three times as much.
    """

    def __init__(self, lines: RequestLines | None = None, traces: Tracing | None = None) -> None:
        self._lines = lines
        self._traces = traces
        self._waiting: list[tuple[float, Request]] = []
        self._durations: dict[tuple[str, int], Histogram] = {}  # looking a label up costs more than counting

    def take(self, request: Request) -> None:
        """Takes a request that was just answered; called in the event loop."""
        if not self._waiting:
            asyncio.get_running_loop().call_later(LATE_S, self.close)
        self._waiting.append((time.time(), request))
        if self._traces is not None:
            _trace(request, self._traces)

    def close(self) -> None:
        """Counts and writes what waits."""
        waiting, self._waiting = self._waiting, []
        for _, request in waiting:
            self._count(request)
        if self._lines is not None:
            wanted = self._lines.is_wanted
            self._lines.write(
                [
                    (at, request)
                    for at, request in waiting
                    if wanted(request.status, is_probe=request.operation in PROBES)
                ]
            )

    def _count(self, request: Request) -> None:
        key = request.operation, request.status // 100
        if (duration := self._durations.get(key)) is None:
            duration = self._durations[key] = REQUESTS.labels(key[0] or "none", f"{key[1]}xx")
        duration.observe(request.ms / 1000)
        if request.problem is not None:
            PROBLEMS.labels(request.problem).inc()


def _trace(request: Request, traces: Tracing) -> None:
    ended = time.time_ns()
    facts: dict[str, str | int] = {
        "http.route": request.route,
        "http.response.status_code": request.status,
        "shanghai.operation": request.operation,
        "shanghai.request_id": request.request_id,
    }
    traces.requested(
        f"{request.method} {request.route}", facts, ended - int((request.whole_ms or request.ms) * 1e6), ended
    )


def readings_of(house: House, lane_depth: Callable[[], int]) -> tuple[Reading, ...]:
    """Is what can be read of a house at any time."""
    tables, streams = house.tables, house.streams
    return (
        Reading("gauge", "shanghai_streams_open", "Streams that are open", lambda: streams.count),
        Reading("counter", "shanghai_streams_resynced", "Streams whose client was too slow", lambda: streams.resynced),
        Reading(
            "counter",
            "shanghai_stream_gaps",
            "Times that a stream read from the log what the bus had not brought",
            lambda: streams.gaps,
        ),
        Reading("gauge", "shanghai_lane_depth", "Appends that wait to be sent", lane_depth),
        Reading("gauge", "shanghai_games_in_memory", "Games kept in memory", lambda: tables.in_use[0]),
        Reading("gauge", "shanghai_games_in_memory_bytes", "What they take, nearly", lambda: tables.in_use[1]),
    )
