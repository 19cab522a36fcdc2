"""The Grafana dashboard, made from a table: `make dashboard` writes infra/deploy/observability/dashboard.json."""

import json
import sys
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Unit: TypeAlias = Literal["short", "s", "reqps", "ops", "bytes", "percentunit"]

WIDTH, HEIGHT, IN_A_ROW = 24, 8, 3


class Panel(Struct, frozen=True):
    """A graph: its queries by what the legend says. `rate(x)` stands for the rate over Grafana's own interval."""

    title: str
    unit: Unit
    queries: dict[str, str]


def _quantiles(metric: str, *by: str, where: str = "") -> dict[str, str]:
    """Is the median and the slowest hundredth of a histogram; by: labels that are told apart."""
    labels, legend = ", ".join((*by, "le")), "".join(f" {{{{{label}}}}}" for label in by)
    return {
        f"p{quantile}{legend}": f"histogram_quantile(0.{quantile}, sum by ({labels}) (rate({metric}_bucket{where})))"
        for quantile in (50, 99)
    }


def _rate(metric: str, *by: str, where: str = "") -> dict[str, str]:
    legend = " ".join(f"{{{{{label}}}}}" for label in by) or "all"
    return {legend: f"sum by ({', '.join(by)}) (rate({metric}{where}))"}


ROWS: dict[str, tuple[Panel, ...]] = {
    "What players notice": (
        Panel("Moves", "reqps", _rate("shanghai_moves_total", "outcome")),
        Panel("Moves by ruleset", "reqps", _rate("shanghai_moves_total", "ruleset")),
        Panel("Time of a move", "s", _quantiles("shanghai_request_seconds", where='{operation="makeMove"}')),
        Panel("Requests", "reqps", _rate("shanghai_request_seconds_count", "status")),
        Panel("Slowest operations", "s", {
            "{{operation}}": "topk(5, histogram_quantile(0.99, "
            "sum by (operation, le) (rate(shanghai_request_seconds_bucket))))"
        }),
        Panel("Problems", "reqps", _rate("shanghai_problems_total", "code")),
        Panel("Refused as too many", "reqps", _rate("shanghai_problems_total", where='{code="rate_limited"}')),
        Panel("Open streams", "short", {"{{instance}}": "shanghai_streams_open"}),
        Panel("Streams cut off as too slow, gaps read from the log", "ops", {
            "too slow": "sum(rate(shanghai_streams_resynced_total))", "gaps": "sum(rate(shanghai_stream_gaps_total))"
        }),
    ),
    "Games": (
        Panel("Live games", "short", {"{{status}}": "max by (status) (shanghai_games_live)"}),
        Panel("Games opened, started, over", "ops", _rate("shanghai_games_total", "what")),
        Panel("Stalled games", "short", {"stalled": "max(shanghai_games_stalled)"}),
        Panel("Overdue work", "short", {"{{kind}}": "max by (kind) (shanghai_overdue)"}),
        Panel("The longest overdue", "s", {"late by": "max(shanghai_overdue_longest_seconds)"}),
        Panel("Commands", "ops", _rate("shanghai_commands_total", "actor")),
    ),
    "The log": (
        Panel("Appends", "ops", _rate("shanghai_append_seconds_count", "outcome")),
        Panel("Time of an append", "s", _quantiles("shanghai_append_seconds", where='{outcome="done"}')),
        Panel("Appends in one statement", "short", _quantiles("shanghai_append_batch")),
        Panel("Appends that wait", "short", {"{{instance}}": "shanghai_lane_depth"}),
        Panel("Events", "ops", _rate("shanghai_events_total")),
        Panel("Faults of the database", "ops", _rate("shanghai_database_faults_total", "cause")),
        Panel("Size of the database", "bytes", {"size": "max(shanghai_database_bytes)"}),
        Panel("Room left on its disk", "bytes", {"free": "min(shanghai_disk_free_bytes)"}),
        Panel("Room left on its disk, share", "percentunit", {"free": "min(shanghai_disk_free_ratio)"}),
        Panel("Events astray in event_default", "short", {"astray": "max(shanghai_events_astray)"}),
        Panel("Age of the barrier", "s", {"oldest writer": "max(shanghai_barrier_age_seconds)"}),
    ),
    "Relay, bus and lists": (
        Panel("Lag", "s", {
            "relay": "max(shanghai_relay_lag_seconds)", "projector": "max(shanghai_projector_lag_seconds)"
        }),
        Panel("Events told to the bus, and projected", "ops", {
            "told": "sum(rate(shanghai_relayed_events_total))",
            "projected": "sum(rate(shanghai_projected_events_total))",
        }),
        Panel("From commit to this API process", "s", _quantiles("shanghai_bus_lag_seconds")),
        Panel("Time of telling a batch", "s", _quantiles("shanghai_publish_seconds")),
        Panel("Bus away", "ops", _rate("shanghai_bus_faults_total", "end")),
        Panel("Held back by an open transaction", "short", {"held back": "max(shanghai_relay_held_back)"}),
    ),
    "Work": (
        Panel("Jobs in the broker", "short", {"waiting": "max(shanghai_queue_length)"}),
        Panel("Hand-outs", "ops", _rate("shanghai_hand_outs_total", "outcome")),
        Panel("Jobs done", "ops", _rate("shanghai_job_seconds_count", "outcome")),
        Panel("Time of a job", "s", _quantiles("shanghai_job_seconds")),
        Panel("A bot's thinking", "s", _quantiles("shanghai_bot_thinking_seconds", "level")),
        Panel("Pool processes of the workers", "short", {"{{instance}}": "shanghai_pool_processes"}),
    ),
    "Webhooks and quick match": (
        Panel("Attempts to send", "ops", _rate("shanghai_webhook_attempts_total", "outcome")),
        Panel("Until a receiver answers, or is given up", "s", _quantiles("shanghai_webhook_sending_seconds", "end")),
        Panel("Messages that wait, webhooks that could be sent to", "short", {
            "messages": "max(shanghai_webhook_deliveries_waiting)", "webhooks": "max(shanghai_webhooks_due)"
        }),
        Panel("Webhooks that are on, and why others are off", "short", {
            "{{state}}": "max by (state) (shanghai_webhooks)"
        }),
        Panel("Lag of what is announced", "s", {"oldest event": "max(shanghai_announcing_lag_seconds)"}),
        Panel("Players who wait for quick match", "short", {"waiting": "max(shanghai_tickets_waiting)"}),
        Panel("The longest wait for quick match", "s", {
            "for others": "max(shanghai_ticket_wait_longest_seconds)",
            "for the table": "max(shanghai_table_wait_longest_seconds)",
        }),
        Panel("Tables found", "ops", _rate("shanghai_matches_total")),
    ),
    "Processes": (
        Panel("Who leads, stands by, works", "short", {
            "{{process}} {{role}}": "sum by (process, role) (shanghai_process)"
        }),
        Panel("Who has reported", "short", {"{{process}}": "max by (process) (shanghai_alive)"}),
        Panel("Lateness of the event loop", "s", _quantiles("shanghai_loop_lag_seconds", "instance")),
        Panel("CPU", "percentunit", {
            "{{instance}}": "rate(process_cpu_seconds_total)", "{{instance}} pool": "rate(shanghai_pool_cpu_seconds)"
        }),
        Panel("Memory", "bytes", {
            "{{instance}}": "process_resident_memory_bytes", "{{instance}} pool": "shanghai_pool_memory_bytes"
        }),
        Panel("Games in memory", "bytes", {"{{instance}}": "shanghai_games_in_memory_bytes"}),
        Panel("Games in memory, number", "short", {"{{instance}}": "shanghai_games_in_memory"}),
        Panel("Open files", "short", {"{{instance}}": "process_open_fds"}),
    ),
}  # fmt: skip
"""Row by row what is shown."""


def dashboard() -> dict[str, Any]:
    """Is the whole dashboard, as Grafana imports it; the data source is asked for."""
    return {
        "title": "Shanghai",
        "uid": "shanghai",
        "schemaVersion": 39,
        "refresh": "15s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [{"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"}]
        },
        "panels": list(_panels()),
    }


def _panels() -> Iterator[dict[str, Any]]:
    top, number = 0, 0
    for title, panels in ROWS.items():
        number += 1
        yield {"id": number, "type": "row", "title": title, "gridPos": {"x": 0, "y": top, "w": WIDTH, "h": 1}}
        top += 1
        for place, panel in enumerate(panels):
            number += 1
            down, right = divmod(place, IN_A_ROW)
            width = WIDTH // IN_A_ROW
            yield _graph(number, panel, x=right * width, y=top + down * HEIGHT, width=width)
        top += HEIGHT * -(-len(panels) // IN_A_ROW)


def _graph(number: int, panel: Panel, *, x: int, y: int, width: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "gridPos": {"x": x, "y": y, "w": width, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + place), "legendFormat": legend, "expr": _over_interval(query)}
            for place, (legend, query) in enumerate(panel.queries.items())
        ],
    }


def _over_interval(query: str) -> str:
    """Writes the interval into each rate."""
    before, *rates = query.split("rate(")
    return before + "".join("rate(" + rate.replace(")", "[$__rate_interval])", 1) for rate in rates)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(dashboard(), indent=1) + "\n")
