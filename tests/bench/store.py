"""The event store's goals, beside pgbench and another event store: `make bench-store`. One line a goal; exit code 0.

Ours and theirs take turns on one Postgres with its own durability: fsync and full commits.
"""

from collections.abc import Callable
from functools import partial

import asyncpg
import uvloop
from msgspec import Struct

from infra.embedded.engines import short_folder
from infra.embedded.postgres import start_postgres
from infra.migrations import migrate
from tests.bench.contest import RUNS, TOO_WIDE, Speed, ratio
from tests.bench.goals import report, report_unavailable
from tests.bench.store_appends import CONFLICTS, LOADED, appends_per_s, loads_per_s
from tests.bench.store_peers import Missing, library_per_s, pgbench_per_s

SECONDS = 2
MANY = 256  # tasks that keep the lane's statements full

Rate = Callable[[str], float]
"""Measures once, on the Postgres at a URL: how often a second."""


class Contest(Struct):
    """One goal: how many times as fast ours has to be."""

    name: str
    ours: Rate
    theirs: Rate
    ratio: float


CONTESTS = (
    Contest(
        "append_to_pgbench_32_clients",
        partial(appends_per_s, tasks=32, events=3, whole=True, seconds=SECONDS),
        partial(pgbench_per_s, clients=32, events=3, seconds=SECONDS),
        1.4,
    ),
    Contest(
        "append_alone_to_pgbench_1_client",
        partial(appends_per_s, tasks=1, events=1, whole=True, seconds=SECONDS),
        partial(pgbench_per_s, clients=1, events=1, seconds=SECONDS),
        0.85,
    ),
    Contest(
        "append_3_events_to_eventsourcing",
        partial(appends_per_s, tasks=MANY, events=3, whole=False, seconds=SECONDS),
        partial(library_per_s, what="append", events=3, seconds=SECONDS),
        25,
    ),
    Contest(
        "append_1_event_to_eventsourcing",
        partial(appends_per_s, tasks=MANY, events=1, whole=False, seconds=SECONDS),
        partial(library_per_s, what="append", events=1, seconds=SECONDS),
        20,
    ),
    Contest(
        "append_in_2_percent_races_to_none",
        partial(appends_per_s, tasks=32, events=3, whole=True, conflicts=CONFLICTS, seconds=SECONDS),
        partial(appends_per_s, tasks=32, events=3, whole=True, seconds=SECONDS),
        0.8,
    ),
)
LOADING = Contest(
    f"load_{LOADED}_events_to_eventsourcing",
    partial(loads_per_s, seconds=SECONDS / 2),
    partial(library_per_s, what="load", events=LOADED, seconds=SECONDS / 2),
    20,
)
LOAD_MS = 0.4


def main() -> None:
    with short_folder() as folder:
        server = start_postgres(folder / "postgres", folder)
        try:
            uvloop.run(_make_databases(server.url))
            for contest in CONTESTS:
                _hold(contest, server.url)
            loads = _hold(LOADING, server.url)
            report(f"load_{LOADED}_events", 1000 / loads.median, LOAD_MS, "ms")
        finally:
            server.stop()


async def _make_databases(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE DATABASE library")
    await connection.close()
    await migrate(url)


def _hold(contest: Contest, url: str) -> Speed:
    """Lets both run in turn and reports the ratio; gives our speed."""
    ours, theirs = Speed(()), Speed(())
    for _ in range(RUNS):
        ours = Speed((*ours.runs, contest.ours(url)))
        try:
            theirs = Speed((*theirs.runs, contest.theirs(url)))
        except Missing as missing:
            report_unavailable(contest.name, str(missing))
            return ours
    report(contest.name, ratio(ours, theirs), contest.ratio, "x", better="more", noisy=theirs.spread > TOO_WIDE)
    spreads = f"spread {ours.spread:.0%} and {theirs.spread:.0%}"
    print(f"{contest.name}: {ours.median:,.0f} to {theirs.median:,.0f} a second, {spreads}")  # noqa: T201
    return ours


if __name__ == "__main__":
    main()
