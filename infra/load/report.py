"""The report of a run: report.json, report.md, and curves as SVG."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from infra.load.drawing import drawn
from infra.load.machine import Machine, spent
from infra.load.measured import Measured, Point, Spread, curve, spread
from infra.load.people import Plan


class Report(Struct, frozen=True):
    """A run, summed up. The address and every token are left out."""

    at: str
    machine: str
    games: int
    humans: int
    bots: int
    rate: float
    seconds: float
    ruleset: str
    moves_per_s: float
    moves: Spread
    commit_to_stream: Spread
    bot_answers: Spread
    turned_away: dict[str, int]
    streams_broken: int
    games_over: int
    cpu_s: dict[str, float]
    before: Machine | None
    after: Machine | None
    moves_curve: list[Point]
    stream_curve: list[Point]


def summed_up(plan: Plan, measured: Measured, seconds: float, before: Machine | None, after: Machine | None) -> Report:
    """Sums up a run that took so long."""
    return Report(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}",
        games=plan.games,
        humans=plan.humans,
        bots=plan.bots,
        rate=plan.rate,
        seconds=round(seconds, 2),
        ruleset=plan.ruleset,
        moves_per_s=round(len(measured.moves.took) / seconds, 2),
        moves=spread(measured.moves),
        commit_to_stream=spread(measured.seen),
        bot_answers=spread(measured.bots),
        turned_away=dict(measured.turned_away),
        streams_broken=measured.streams_broken,
        games_over=measured.games_over,
        cpu_s=spent(before, after) if before and after else {},
        before=before,
        after=after,
        moves_curve=curve(measured.moves, seconds),
        stream_curve=curve(measured.seen, seconds),
    )


def write(report: Report, folder: Path) -> None:
    """Writes the report into the folder, over an older one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    for name, drawing in _drawings(report).items():
        (folder / name).write_text(drawing)
    (folder / "report.md").write_text(_told(report))


def _drawings(report: Report) -> dict[str, str]:
    ends_s = [point.at_s for point in report.moves_curve]

    def times(title: str, points: Sequence[Point]) -> str:
        curves = {"median": [p.p50_ms for p in points], "p99": [p.p99_ms for p in points]}
        return drawn(title, "ms", ends_s, curves)

    rates = {"moves": [p.per_s for p in report.moves_curve], "events": [p.per_s for p in report.stream_curve]}
    return {
        "rates.svg": drawn("Moves of people, and events that arrived on their streams", "a second", ends_s, rates),
        "moves.svg": times("Time of a move, from request to answer", report.moves_curve),
        "streams.svg": times("From an event's commit until it is on a stream", report.stream_curve),
    }


def _told(report: Report) -> str:
    seats = f"{_many(report.humans, 'person', 'people')} and {_many(report.bots, 'bot', 'bots')}"
    asked = f"{report.games:,} games at once of {seats}, {report.rate:g} moves/s"
    errors = ", ".join(f"{count} × {code}" for code, count in sorted(report.turned_away.items())) or "nothing"
    rows = {"a move": report.moves, "commit to stream": report.commit_to_stream, "a bot's answer": report.bot_answers}
    lines = [
        f"# Load of {report.at}",
        "",
        f"Asked for: {asked} of {report.ruleset}, {report.seconds:.0f} s, on {report.machine}.",
        f"Had: **{report.moves_per_s:g} moves/s** of people; {report.games_over} games ended.",
        "",
        "| milliseconds | count | p50 | p95 | p99 | worst |",
        "|---|---|---|---|---|---|",
        *(f"| {name} | {s.count} | {s.p50_ms} | {s.p95_ms} | {s.p99_ms} | {s.worst_ms} |" for name, s in rows.items()),
        "",
        "![rates](rates.svg) ![moves](moves.svg) ![streams](streams.svg)",
        "",
        f"Turned away: {errors}. Streams broken: {report.streams_broken}.",
    ]
    return "\n".join([*lines, *_costs(report), ""])


def _many(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _costs(report: Report) -> list[str]:
    if report.after is None or report.before is None:
        return []
    moves, kept = max(1, report.moves.count), report.after.kept
    sizes = (
        f"{kept.event_tables / max(1, kept.events):.0f} bytes an event with its indexes, database "
        f"{kept.database / 1e6:.0f} MB, Redis {kept.redis / 1e6:.1f} MB, {kept.connections} connections to Postgres"
    )
    return [
        "",
        "| process | CPU, s | CPU, ms a person's move | memory, MB |",
        "|---|---|---|---|",
        *(
            f"| {name} | {report.cpu_s[name]} | {report.cpu_s[name] * 1000 / moves:.2f} | {cost.memory_mb} |"
            for name, cost in report.after.processes.items()
        ),
        "",
        f"{kept.events - report.before.kept.events} events in the run; {kept.games} games in all; {sizes}.",
    ]
