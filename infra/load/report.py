"""The report of a run: report.json, report.md, and curves as SVG."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from infra.load.machine import Machine, spent
from infra.load.measured import Measured, Point, Spread, curve, spread
from infra.load.people import Plan

_WIDTH, _HEIGHT, _MARGIN = 640, 240, 48
_COLOURS = ("#1f6feb", "#cf222e")


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
    (folder / "moves.svg").write_text(_drawn("a move, ms: p50, p99", report.moves_curve))
    (folder / "streams.svg").write_text(_drawn("commit to stream, ms: p50, p99", report.stream_curve))
    (folder / "report.md").write_text(_told(report))


def _told(report: Report) -> str:
    asked = f"{report.games} games at once of {report.humans} people and {report.bots} bots, {report.rate:g} moves/s"
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
        "![moves](moves.svg) ![streams](streams.svg)",
        "",
        f"Turned away: {errors}. Streams broken: {report.streams_broken}.",
    ]
    return "\n".join([*lines, *_costs(report), ""])


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


def _drawn(title: str, points: Sequence[Point]) -> str:
    """Draws p50 and p99 over the run; a part without any is left out."""
    curves = [[(p.at_s, p.p50_ms) for p in points], [(p.at_s, p.p99_ms) for p in points]]
    top = max([value for curve in curves for _, value in curve if value is not None], default=1.0) or 1.0
    end = points[-1].at_s
    right, bottom = _WIDTH - _MARGIN, _HEIGHT - _MARGIN

    def place(at: float, value: float) -> str:
        return f"{_MARGIN + at / end * (right - _MARGIN):.1f},{bottom - value / top * (bottom - _MARGIN):.1f}"

    lines = [
        f'<polyline fill="none" stroke="{colour}" points="'
        + " ".join(place(at, value) for at, value in curve if value is not None)
        + '"/>'
        for curve, colour in zip(curves, _COLOURS, strict=True)
    ]
    texts = [
        (_MARGIN, 20, title),
        (4, _MARGIN, f"{top:.0f}"),
        (4, bottom, "0"),
        (right - 20, _HEIGHT - 20, f"{end:.0f} s"),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="12">',
            f'<path fill="none" stroke="#888" d="M{_MARGIN},{_MARGIN} V{bottom} H{right}"/>',
            *lines,
            *(f'<text x="{x}" y="{y}">{text}</text>' for x, y, text in texts),
            "</svg>\n",
        ]
    )
