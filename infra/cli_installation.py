"""Commands for the life of an installation: backups and the way back, months of the log in files, a load."""

from datetime import datetime
from pathlib import Path

import click

from infra.cli_help import RUNNING
from infra.ending import database_errors_as_lines, errors_as_lines, fail, stoppable

_WHERE = click.Path(path_type=Path)


@click.command()
@click.option("--to", "folder", required=True, type=_WHERE, help="The folder of all backups, on another disk.")
@RUNNING
@click.option("--log", is_flag=True, help="Instead, keep the log as it is written, until Ctrl-C.")
@click.option("--keep", default=7, show_default=True, type=click.IntRange(1), help="How many copies stay.")
def backup(folder: Path, data: Path | None, keep: int, *, log: bool) -> None:
    """Copies the whole database while it is in use, or keeps its log, which leads from a copy to any later moment.

    Logs in at --data, else SHANGHAI_BACKUP_DATABASE_URL or SHANGHAI_DATABASE_URL, with the right of REPLICATION.
    The secret key is not in it: keep that elsewhere. Exit 1 where it cannot be done.
    """
    from infra.backups import copy, keep_log
    from infra.embedded.postgres import database_url
    from infra.embedded.reaching import run_of
    from infra.settings import read_database_url

    with stoppable(), errors_as_lines():
        url = database_url(run_of(data)) if data else read_database_url(of="backup")
        if log:
            keep_log(url, folder, say=click.echo)
        else:
            click.echo(f"backup {copy(url, folder, keep=keep, say=click.echo)}")


@click.command()
@click.argument("folder", type=_WHERE)
@click.option("--into", "data", required=True, type=_WHERE, help="A new data folder for `shanghai up`.")
@click.option(
    "--at",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S%z"]),
    help="The moment, with its offset or Z.",
)
def recover(folder: Path, data: Path, at: datetime | None) -> None:
    """Makes a data folder from the backups in FOLDER as it was at a moment, by default the last one, and checks it.

    Nothing that runs is touched. Exit 1 where the moment cannot be reached, or what was reached is not whole.
    """
    from infra.recovery import recover

    with stoppable(), errors_as_lines():
        recovered = recover(folder, data, at, say=click.echo)
    if recovered.faults:
        fail("the recovered log is not whole: " + "; ".join(recovered.faults), 1)
    click.echo(f"recovered {recovered.games} games with {recovered.events} events; the last is of {recovered.last_at}")
    click.echo(f"put the installation's secret.key into {data}: `shanghai up --data {data}` does not start without it")


@click.command()
@click.argument("month")
@click.option("--to", "folder", required=True, type=_WHERE, help="Where its files go.")
@RUNNING
def archive(month: str, folder: Path, data: Path | None) -> None:
    """Takes a month whose games are all over out of the log, into compressed files.

    MONTH is written 2026-08. Its games are not listed any more; results stay. Exit 1 where it cannot be done.
    """
    import asyncio

    from infra.embedded.reaching import login_at
    from infra.postgres.archive import ArchiveRefused, archive

    with errors_as_lines(way_out="set it, or give --data"):
        url = login_at(data, of="operator")
    try:
        with database_errors_as_lines():
            click.echo(f"archived {asyncio.run(archive(url, month, folder, click.echo))}")
    except ArchiveRefused as refused:
        fail(str(refused), 1)


@click.command()
@click.argument("archive", type=_WHERE)
@RUNNING
def restore(archive: Path, data: Path | None) -> None:
    """Puts an archived month back into the log, every row as it was.

    ARCHIVE is its file events-….json; the rows lie beside it. Exit 1 where it cannot be done.
    """
    import asyncio

    from infra.embedded.reaching import login_at
    from infra.postgres.archive import ArchiveRefused, restore

    with errors_as_lines(way_out="set it, or give --data"):
        url = login_at(data, of="operator")
    try:
        with database_errors_as_lines():
            manifest = asyncio.run(restore(url, archive))
    except ArchiveRefused as refused:
        fail(str(refused), 1)
    click.echo(f"restored {manifest.events} events; shanghai projector --rebuild lists their games again")


@click.command()
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="Of the server.")
@click.option("--games", default=10, show_default=True, type=click.IntRange(1, 20_000), help="At once.")
@click.option("--humans", default=1, show_default=True, type=click.IntRange(1, 8), help="Simulated people in each.")
@click.option("--bots", default=3, show_default=True, type=click.IntRange(0, 7), help="Bots in each.")
@click.option(
    "--rate", default=10.0, show_default=True, type=click.FloatRange(0.1, 10_000), help="Moves a second in all."
)
@click.option("--minutes", default=1.0, show_default=True, type=click.FloatRange(0.01, 240), help="How long.")
@click.option("--ruleset", default="davis", show_default=True, help="What they play.")
@click.option("--to", "folder", default="load-report", show_default=True, type=_WHERE, help="Where the report goes.")
@click.option("--data", type=_WHERE, help="The folder of the `shanghai up`, to measure its processes too.")
@click.option("--yes-this-is-mine", "is_mine", is_flag=True, help="Needed for any server but this machine's.")
def load(
    url: str,
    games: int,
    humans: int,
    bots: int,
    rate: float,
    minutes: float,
    ruleset: str,
    folder: Path,
    data: Path | None,
    *,
    is_mine: bool,
) -> None:
    """Has simulated people play at a rate, for a time, and writes how the server bore it.

    They come as guests, open games, follow them by streams and answer by any option. Exit 1 where the tables cannot
    be filled; the games stay as they are at the end.
    """
    from infra.load.people import Plan
    from infra.load.run import check_address, run

    with stoppable(), errors_as_lines():
        if not is_mine:
            check_address(url)
        report = run(Plan(url, games, humans, bots, rate, minutes * 60, ruleset), folder, data)
        move, stream, errors = report.moves, report.commit_to_stream, sum(report.turned_away.values())
        click.echo(f"{report.moves_per_s:g} moves/s, p50 {move.p50_ms} ms, p99 {move.p99_ms} ms; {errors} turned away")
        click.echo(f"commit to stream p50 {stream.p50_ms} ms, p99 {stream.p99_ms} ms\nreport {folder / 'report.md'}")
