"""Traces, where they are wanted: what the processes tell of a command on its way. Off, nothing is imported for them."""

from collections.abc import Sequence
from typing import Protocol

from infra.settings import Settings
from services.ports import Append, Recorded
from services.relay import LogEntry


class Tracing(Protocol):
    """Takes note of steps that are over; times are nanoseconds since 1970. Nothing here waits or fails."""

    def appended(self, append: Append, began: int, ended: int) -> None:
        """Remembers an append for the request or job that it belongs to."""
        ...

    def requested(self, route: str, facts: dict[str, str | int], began: int, ended: int) -> None:
        """Tells of a request that has appended something."""
        ...

    def relayed(self, entries: Sequence[LogEntry], ended: int) -> None:
        """Tells of events that the bus has now."""
        ...

    def worked(self, game_id: str, events: Sequence[Recorded], began: int, ended: int) -> None:
        """Tells of a job and what it has appended; events: the game's, those among them."""
        ...

    def close(self) -> None:
        """Sends what is left, within a second."""
        ...


def open_traces(settings: Settings, process: str) -> Tracing | None:
    """Gives what traces are told to; None where SHANGHAI_TRACES_URL is not set."""
    if not settings.traces_url:
        return None
    from infra.watching.traces import Traces

    return Traces(settings.traces_url, settings.traces_ratio, process)
