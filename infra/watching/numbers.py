"""The numbers that a process exports, in Prometheus's text format. No label holds an id: each has few values."""

from prometheus_client import GC_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

REGISTRY = CollectorRegistry()
REGISTRY.register(PROCESS_COLLECTOR)
REGISTRY.register(GC_COLLECTOR)

PROCESS = Gauge("shanghai_process", "1 for what this process is and does", ["process", "role"], registry=REGISTRY)
LOOP_LAG = Histogram(
    "shanghai_loop_lag_seconds",
    "By how much a turn of the event loop came too late",
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5),
    registry=REGISTRY,
)


def numbers_page() -> tuple[int, str, bytes]:
    """Gives all numbers as they are now."""
    return 200, CONTENT_TYPE_LATEST, generate_latest(REGISTRY)
