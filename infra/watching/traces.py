"""Traces of commands by OpenTelemetry: from the request over the append and the relay to the job that follows.

No trace is stored or sent along: a trace's id is the id of its command, which stands in every event anyway, and the id
of its first span follows from it. So each process knows which trace it works at, and whether that one is sampled.
"""

import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from uuid import UUID

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, TraceFlags, set_span_in_context

from services.ports import Append, Recorded
from services.relay import LogEntry

_SENT_EVERY_MS = 1_000
_LEFT_S = 1.0
_COMMAND = slice(28, 44)  # where an entry of the bus has the command's id (sql/relay.sql, `batch`)
_TIME = slice(44, 52)  # and its time, in microseconds since 2000
_YEAR_2000_US = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_RANDOM_BITS = (1 << 56) - 1  # these are random in ids of every version

Facts = Mapping[str, str | int]

_appended: ContextVar[tuple[tuple[Append, int, int], ...]] = ContextVar("appended", default=())


class Traces:
    """Sends the spans of one process to `url` (OTLP over HTTP); ratio: the share of commands that are traced."""

    def __init__(self, url: str, ratio: float, process: str) -> None:
        self._bound = ratio * (_RANDOM_BITS + 1)
        self._ids = _Ids()
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": process}), id_generator=self._ids, shutdown_on_exit=False
        )
        exporter = OTLPSpanExporter(endpoint=url, timeout=_LEFT_S)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=_SENT_EVERY_MS))
        self._tracer = self._provider.get_tracer("shanghai")

    def appended(self, append: Append, began: int, ended: int) -> None:
        """Remembers it in the context of the task that has appended."""
        _appended.set((*_appended.get(), (append, began, ended)))

    def requested(self, route: str, facts: Facts, began: int, ended: int) -> None:
        """Makes the first span of each command's trace."""
        for append, append_began, append_ended in _taken():
            command = append.events[0].command_id
            if self._is_sampled(command):
                self._first(command, route, facts, began, ended, SpanKind.SERVER)
                self._next(command, "append", _facts(append), append_began, append_ended)

    def relayed(self, entries: Sequence[LogEntry], ended: int) -> None:
        """Makes a span for each command among the entries, from its commit on."""
        for told in {entry.told[_COMMAND]: entry.told for entry in entries}.values():
            command = UUID(bytes=bytes(told[_COMMAND]))
            if self._is_sampled(command):
                committed = (_YEAR_2000_US + int.from_bytes(told[_TIME], "big", signed=True)) * 1_000
                self._next(command, "relay", {}, min(committed, ended), ended, SpanKind.PRODUCER)

    def worked(self, game_id: str, events: Sequence[Recorded], began: int, ended: int) -> None:
        """Makes spans in the trace of the command after which the job came, and the first one of each new command's."""
        appends = _taken()
        before = appends[0][0].after if appends else len(events)
        if not 0 < before <= len(events):
            return
        cause = events[before - 1].command_id
        if self._is_sampled(cause):
            self._next(cause, "job", {"game_id": game_id}, began, ended, SpanKind.CONSUMER)
        for append, append_began, append_ended in appends:
            if self._is_sampled(cause):
                self._next(cause, "append", _facts(append), append_began, append_ended)
            for command, actor in {new.command_id: new.actor for new in reversed(append.events)}.items():
                if self._is_sampled(command):
                    name, links = f"command by {actor}", [Link(_root(cause))]
                    self._first(command, name, _facts(append), append_began, append_ended, links=links)

    def close(self) -> None:
        """Sends what is left; a collector that does not answer holds nobody up for longer."""
        last = threading.Thread(target=self._provider.shutdown, daemon=True)
        last.start()
        last.join(_LEFT_S)

    def _is_sampled(self, command: UUID) -> bool:
        return (command.int & _RANDOM_BITS) < self._bound

    def _first(
        self,
        command: UUID,
        name: str,
        facts: Facts,
        began: int,
        ended: int,
        kind: SpanKind = SpanKind.INTERNAL,
        links: Sequence[Link] = (),
    ) -> None:
        self._ids.next_ones = command
        span = self._tracer.start_span(name, kind=kind, attributes=dict(facts), links=links, start_time=began)
        span.end(ended)

    def _next(
        self, command: UUID, name: str, facts: Facts, began: int, ended: int, kind: SpanKind = SpanKind.INTERNAL
    ) -> None:
        parent = set_span_in_context(NonRecordingSpan(_root(command)))
        span = self._tracer.start_span(name, parent, kind=kind, attributes=dict(facts), start_time=began)
        span.end(ended)


class _Ids(IdGenerator):
    """Gives the first span of a command's trace the ids that follow from the command, all others random ones."""

    def __init__(self) -> None:
        self.next_ones: UUID | None = None
        self._random = RandomIdGenerator()

    def generate_span_id(self) -> int:
        """Is asked once for each span, after the trace's id."""
        command, self.next_ones = self.next_ones, None
        return self._random.generate_span_id() if command is None else _root(command).span_id

    def generate_trace_id(self) -> int:
        """Is asked for first spans only."""
        return self._random.generate_trace_id() if self.next_ones is None else self.next_ones.int


def _root(command: UUID) -> SpanContext:
    """Is the first span of a command's trace, wherever it was made."""
    span_id = (command.int >> 64 ^ command.int) & (1 << 64) - 1
    return SpanContext(command.int, span_id or 1, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _taken() -> tuple[tuple[Append, int, int], ...]:
    taken = _appended.get()
    _appended.set(())
    return taken


def _facts(append: Append) -> Facts:
    last = append.after + len(append.events)
    return {"game_id": append.game_id, "first_version": append.after + 1, "last_version": last}
