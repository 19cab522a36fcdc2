"""The numbers that a process exports, in Prometheus's text format. No label holds an id: each has few values.

Counted are things that happen; what can be read at any time is read when somebody asks (`reading`).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, get_args

from msgspec import Struct
from prometheus_client import (
    GC_COLLECTOR,
    PROCESS_COLLECTOR,
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from infra.settings import numbers_folder
from services.webhooks import Fault

disable_created_metrics()  # type: ignore[no-untyped-call]  # when each was first counted: nobody asks for that
READ = CollectorRegistry()
COUNTED = CollectorRegistry()
READ.register(PROCESS_COLLECTOR)
READ.register(GC_COLLECTOR)

_QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)

LOOP_LAG = Histogram(
    "shanghai_loop_lag_seconds",
    "By how much a turn of the event loop came too late",
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5),
    registry=COUNTED,
)

REQUESTS = Histogram(
    "shanghai_request_seconds",
    "Until the answer began, by operation and first digit of the status",
    ["operation", "status"],
    buckets=_QUICK,
    registry=COUNTED,
)
PROBLEMS = Counter("shanghai_problems", "Answers that were problems", ["code"], registry=COUNTED)
MOVES = Counter("shanghai_moves", "Moves that players sent", ["ruleset", "outcome"], registry=COUNTED)

APPENDS = Histogram("shanghai_append_seconds", "Appending to the log", ["outcome"], buckets=_QUICK, registry=COUNTED)
BATCH = Histogram(
    "shanghai_append_batch",
    "Appends that went together in one statement",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128),
    registry=COUNTED,
)
COMMANDS = Counter("shanghai_commands", "Commands in the log, by who gave them", ["actor"], registry=COUNTED)
EVENTS = Counter("shanghai_events", "Events appended to the log", registry=COUNTED)
GAMES = Counter("shanghai_games", "Games that were opened, started, finished, cancelled", ["what"], registry=COUNTED)
DATABASE_FAULTS = Counter(
    "shanghai_database_faults", "Statements that the database could not carry out", ["cause"], registry=COUNTED
)

RELAYED = Counter("shanghai_relayed_events", "Events told to the bus", registry=COUNTED)
PUBLISHING = Histogram(
    "shanghai_publish_seconds", "Telling one batch of events to the bus", buckets=_QUICK, registry=COUNTED
)
BUS_FAULTS = Counter("shanghai_bus_faults", "Times that the bus was away", ["end"], registry=COUNTED)
BUS_LAG = Histogram(
    "shanghai_bus_lag_seconds",
    "From an event's commit until this process heard of it by the bus",
    buckets=_QUICK,
    registry=COUNTED,
)
PROJECTED = Counter("shanghai_projected_events", "Events that the projector has read", registry=COUNTED)
HAND_OUTS = Counter("shanghai_hand_outs", "Jobs given to the broker", ["outcome"], registry=COUNTED)

JOBS = Histogram("shanghai_job_seconds", "One job of a worker", ["outcome"], buckets=_QUICK, registry=COUNTED)
THINKING = Histogram(
    "shanghai_bot_thinking_seconds",
    "A bot's choice of one move",
    ["level"],
    buckets=(0.0005, *_QUICK),
    registry=COUNTED,
)
WEBHOOK_ATTEMPTS = Counter(
    "shanghai_webhook_attempts", "Attempts to send a message, by what became of it", ["outcome"], registry=COUNTED
)
WEBHOOK_SENDING = Histogram(
    "shanghai_webhook_sending_seconds",
    "From looking the receiver's name up to its answer, or to giving up",
    ["end"],
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
    registry=COUNTED,
)
MATCHES = Counter("shanghai_matches", "Tables that quick match has found", registry=COUNTED)


for _counted, _values in {
    APPENDS: ("done", "conflict", "overloaded", "unavailable", "failed"),
    DATABASE_FAULTS: ("lost", "disk_full", "read_only", "too_many_connections", "too_slow"),
    BUS_FAULTS: ("reader", "writer"),
    HAND_OUTS: ("done", "failed"),
    JOBS: ("done", "failed", "left"),
    WEBHOOK_ATTEMPTS: ("delivered", *get_args(Fault), "dropped", "postponed"),
    WEBHOOK_SENDING: ("answered", "unanswered"),
}.items():
    for _value in _values:
        _counted.labels(_value)  # made now: an alert sees a rise from 0, but none in a number that begins with 1


class Reading(Struct, frozen=True):
    """A number that is read when somebody asks. read: gives the value, or values by the label's."""

    kind: Literal["gauge", "counter"]
    name: str
    meaning: str
    read: Callable[[], float | Mapping[str, float]]
    label: str = ""


def reading_of(seen: Callable[[], Mapping[str, float]], name: str, key: str, meaning: str) -> Reading:
    """Is a gauge of one of several numbers that were seen together; NaN while it was not seen."""
    return Reading("gauge", name, meaning, lambda: seen().get(key, float("nan")))


@contextmanager
def reading(*readings: Reading) -> Iterator[None]:
    """Exports numbers that are there while the block runs."""
    collector = _Reader(readings)
    READ.register(collector)
    try:
        yield
    finally:
        READ.unregister(collector)


def numbers_page() -> tuple[int, str, bytes]:
    """Gives all numbers as they are now, those of forked processes included."""
    counted = COUNTED
    if numbers_folder():
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    return 200, CONTENT_TYPE_LATEST, generate_latest(READ) + generate_latest(counted)


def written(metric: Metric) -> bytes:
    """Writes one metric that is kept nowhere."""
    alone = CollectorRegistry()
    alone.register(_One(metric))
    return generate_latest(alone)


class _One(Collector):
    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterator[Metric]:
        """Gives it."""
        yield self._metric


class _Reader(Collector):
    def __init__(self, readings: tuple[Reading, ...]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        """Reads everything."""
        for each in self._readings:
            value = each.read()
            family = GaugeMetricFamily if each.kind == "gauge" else CounterMetricFamily
            metric = family(each.name, each.meaning, labels=[each.label] if each.label else None)
            for name, number in value.items() if isinstance(value, Mapping) else [("", value)]:
                metric.add_metric([name] if each.label else [], number)
            yield metric

    def describe(self) -> Iterator[Metric]:
        """Promises nothing, so that nothing is read before somebody asks."""
        return iter(())
