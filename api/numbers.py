"""What an API process tells the operator: numbers, and a line for each request."""

import asyncio
import os
import time
from collections.abc import Callable

from prometheus_client import Histogram

from api.access import Request
from api.house import House
from infra.watching.lines import RequestLine, RequestLines, timestamp
from infra.watching.numbers import PROBLEMS, REQUESTS, Reading
from infra.watching.tracing import Tracing

LATE_S = 0.1
APART_S = 0.001  # an answer that ends so much after it began is told both times
PROBES = frozenset({"isAlive", "isReady", "getMetrics"})
"""Operations that are asked every few seconds, by machines."""


class Notes:
    """Counts the requests that were answered and writes their lines, all of a tenth of a second together.

    Between two answers each of them would cost three times as much.
    """

    def __init__(self, lines: RequestLines | None = None, traces: Tracing | None = None) -> None:
        self._lines = lines
        self._traces = traces
        self._waiting: list[Request] = []
        self._durations: dict[tuple[str, int], Histogram] = {}  # looking a label up costs more than counting

    def take(self, request: Request) -> None:
        """Takes a request that was just answered; called in the event loop."""
        if not self._waiting:
            asyncio.get_running_loop().call_later(LATE_S, self.close)
        self._waiting.append(request)
        if self._traces is not None:
            _trace(request, self._traces)

    def close(self) -> None:
        """Counts and writes what waits."""
        waiting, self._waiting = self._waiting, []
        for request in waiting:
            self._count(request)
        if self._lines is not None:
            zero, pid, is_wanted = time.time() - time.perf_counter(), os.getpid(), self._lines.is_wanted
            self._lines.write(
                [
                    _line(request, zero, pid)
                    for request in waiting
                    if is_wanted(request.status, is_probe=request.asked[1] in PROBES)
                ]
            )

    def _count(self, request: Request) -> None:
        key = request.asked[1], request.status // 100
        if (duration := self._durations.get(key)) is None:
            duration = self._durations[key] = REQUESTS.labels(key[0] or "none", f"{key[1]}xx")
        duration.observe(request.answered - request.began)
        if request.problem is not None:
            PROBLEMS.labels(request.problem).inc()


def _line(request: Request, zero: float, pid: int) -> RequestLine:
    """zero: the time of the clock at which time.perf_counter() was zero."""
    began, answered, ended = request.began, request.answered, request.ended
    return RequestLine(
        timestamp(zero + ended), "request", "api", pid, "error" if request.is_fault else "info", request.request_id,
        *request.asked, request.status, round((answered - began) * 1000, 2),
        round((ended - began) * 1000, 2) if ended - answered > APART_S else None,
        request.problem, request.game_id, request.move_id, request.player_id,
    )  # fmt: skip


def _trace(request: Request, traces: Tracing) -> None:
    method, name, route = request.asked
    ended = time.time_ns()
    facts: dict[str, str | int] = {
        "http.route": route,
        "http.response.status_code": request.status,
        "shanghai.operation": name,
        "shanghai.request_id": request.request_id,
    }
    traces.requested(f"{method} {route}", facts, ended - int((request.ended - request.began) * 1e9), ended)


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
