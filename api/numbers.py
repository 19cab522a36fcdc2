"""What an API process tells the operator in numbers."""

from api.access import Request
from api.house import House
from infra.watching.numbers import PROBLEMS, REQUESTS, Reading
from infra.wiring import Services


def note(request: Request) -> None:
    """Counts a request that was answered."""
    REQUESTS.labels(request.operation or "none", f"{request.status // 100}xx").observe(request.answered_s)
    if request.problem is not None:
        PROBLEMS.labels(request.problem).inc()


def readings_of(house: House, services: Services) -> tuple[Reading, ...]:
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
        Reading("gauge", "shanghai_lane_depth", "Appends that wait to be sent", services.lane_depth),
        Reading("gauge", "shanghai_games_in_memory", "Games kept in memory", lambda: tables.in_use[0]),
        Reading("gauge", "shanghai_games_in_memory_bytes", "What they take, nearly", lambda: tables.in_use[1]),
    )
