"""What an API process tells the operator: numbers, and a line for each request."""

import time
from collections.abc import Callable

from api.access import Request
from api.house import House
from infra.watching.lines import RequestLine, RequestLines
from infra.watching.numbers import PROBLEMS, REQUESTS, Reading
from infra.watching.tracing import Tracing

PROBES = frozenset({"isAlive", "isReady", "getMetrics"})
"""Operations that are asked every few seconds, by machines."""


def noting(lines: RequestLines | None = None, traces: Tracing | None = None) -> Callable[[Request], None]:
    """Gives what counts each request that was answered, writes its line and tells the traces."""

    def note(request: Request) -> None:
        REQUESTS.labels(request.operation or "none", f"{request.status // 100}xx").observe(request.answered_s)
        if request.problem is not None:
            PROBLEMS.labels(request.problem).inc()
        if lines is not None and lines.is_wanted(request.status, is_probe=request.operation in PROBES):
            lines.write(_line(request))
        if traces is not None:
            _trace(request, traces)

    return note


def _trace(request: Request, traces: Tracing) -> None:
    ended = time.time_ns()
    facts: dict[str, str | int] = {
        "http.route": request.route,
        "http.response.status_code": request.status,
        "shanghai.operation": request.operation,
        "shanghai.request_id": request.request_id,
    }
    traces.requested(f"{request.method} {request.route}", facts, ended - int(request.ended_s * 1e9), ended)


def _line(request: Request) -> RequestLine:
    ms, whole_ms = round(request.answered_s * 1000, 2), round(request.ended_s * 1000, 2)
    return RequestLine(
        timestamp="",
        level="error" if request.status >= 500 else "info",
        process="api",
        pid=0,
        event="request",
        request_id=request.request_id,
        method=request.method,
        operation=request.operation,
        route=request.route,
        status=request.status,
        ms=ms,
        whole_ms=whole_ms if whole_ms > ms + 1 else None,
        problem=request.problem,
        game_id=request.game_id,
        move_id=request.move_id,
        player_id=request.player_id,
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
