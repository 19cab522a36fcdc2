"""Commands for the life of an installation: backups of its log, and the way back from them."""

from datetime import datetime
from pathlib import Path

import click

from infra.ending import errors_as_lines, fail, stoppable

_WHERE = click.Path(path_type=Path)


@click.command()
@click.option("--to", "folder", required=True, type=_WHERE, help="The folder of all backups, on another disk.")
@click.option("--data", type=_WHERE, help="The folder of a running `shanghai up`.")
@click.option("--log", is_flag=True, help="Instead, keep the log as it is written, until Ctrl-C.")
@click.option("--keep", default=7, show_default=True, type=click.IntRange(1), help="How many copies stay.")
def backup(folder: Path, data: Path | None, keep: int, *, log: bool) -> None:
    """Copies the whole database while it is in use, or keeps its log, which leads from a copy to any later moment.

    Logs in at --data, else SHANGHAI_BACKUP_DATABASE_URL or SHANGHAI_DATABASE_URL, with the right of REPLICATION.
    The secret key is not in it: keep that elsewhere. Exit 1 where it cannot be done.
    """
    from infra.backups import copy, keep_log
    from infra.settings import read_database_url

    with stoppable(), errors_as_lines():
        url = (
            f"postgresql://postgres@/postgres?host={(data / 'run').resolve()}"
            if data
            else read_database_url(of="backup")
        )
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
    click.echo(f"put the installation's secret.key into {data} before `shanghai up --data {data}` makes a new one")
