"""The command `shanghai`; each command imports what it runs only when it runs."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import click

from infra.cli_help import RUNNING, WholeSentences
from infra.cli_installation import archive, backup, load, recover, restore
from infra.cli_operating import admin, doctor
from infra.ending import database_errors_as_lines, errors_as_lines, fail, stoppable
from services.version import VERSION

if TYPE_CHECKING:
    from domain.commands import Level
    from services.identity import Scope

SCOPES = ("play", "watch", "bot", "operate")


@click.group(cls=WholeSentences)
@click.version_option(VERSION, message="shanghai %(version)s")
def main() -> None:
    """Runs the Shanghai server."""


for _command in (admin, doctor, backup, recover, archive, restore, load):
    main.add_command(_command)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address that the API listens on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Its TCP port.")
@click.option("--data", default="data", show_default=True, type=click.Path(path_type=Path), help="Its folder.")
def up(host: str, port: int, data: Path) -> None:
    """Runs the whole server, Postgres and Redis included, until Ctrl-C."""
    from infra.embedded.kept import watch
    from infra.embedded.stack import running_stack
    from infra.open_files import allow_many_open_files

    allow_many_open_files()  # for the API's streams, below it
    with stoppable(), errors_as_lines(), running_stack(data, host, port, say=click.echo) as stack:
        for name, told in (
            ("ready", stack.base_url),
            ("docs", f"{stack.base_url}/docs"),
            ("data", stack.data),
            ("logs", stack.data / "logs"),
            ("metrics", stack.data / "metrics.json"),
            ("stop", "Ctrl-C"),
        ):
            click.echo(f"{name:<7} {told}")
        watch(stack.processes.values(), say=click.echo, until=lambda: False)


@main.command()
@click.option("--ruleset", default="davis", show_default=True, help="What the bots play.")
@click.option("--players", default=4, show_default=True, type=click.IntRange(2, 8), help="Seats at the table.")
def demo(ruleset: str, players: int) -> None:
    """Lets bots play one game to watch, on a server of its own that is gone afterwards."""
    from infra.demo import run
    from infra.embedded.ports import free_port
    from infra.embedded.stack import running_stack

    with (
        stoppable(),
        errors_as_lines(),
        tempfile.TemporaryDirectory(prefix="shanghai-demo-") as folder,
        running_stack(Path(folder), port=free_port()) as stack,
    ):
        run(stack.base_url, ruleset, players)


@main.command()
@click.option("--refuse-newer", is_flag=True, help="Fail where a newer version of this program has migrated it.")
def migrate(*, refuse_newer: bool) -> None:
    """Brings the database at SHANGHAI_DATABASE_URL to this version's schema."""
    import asyncio

    import asyncpg

    from infra import migrations
    from infra.settings import read_database_url

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # as PID 1 it would be ignored
    with errors_as_lines():
        url = read_database_url()
        try:
            applied = asyncio.run(migrations.migrate(url, refuses_newer=refuse_newer))
        except (OSError, asyncpg.PostgresError, migrations.MigrationChanged, migrations.NewerSchema) as error:
            fail(f"cannot migrate: {error}", 1)
    click.echo(f"applied {', '.join(applied)}" if applied else "nothing to apply")


@main.command()
def api() -> None:
    """Runs one API process, with the settings of the environment."""
    _become("api")


@main.command()
@click.option("--serve", multiple=True, type=click.Choice(["games", "webhooks"]), help="This only; by default both.")
def worker(serve: tuple[str, ...]) -> None:
    """Runs one Celery worker, with the settings of the environment."""
    _become("workers", *serve)


@main.command()
@click.option("--repair", is_flag=True, help="Instead, mend a log restored into a cluster younger than its own.")
def relay(*, repair: bool) -> None:
    """Runs the relay from Postgres to the bus; a second one stands by."""
    if repair:
        _repair_log()
    else:
        _become("workers.relay")


@main.command()
def clock() -> None:
    """Runs the clock of due work; a second one stands by."""
    _become("workers.clock")


@main.command()
@click.option("--rebuild", is_flag=True, help="Make all of them anew while the old ones serve, then end.")
@click.option("--data", type=click.Path(path_type=Path), help="The folder of a running `shanghai up`, to rebuild.")
def projector(data: Path | None, *, rebuild: bool) -> None:
    """Keeps the lists of games and the players' results; a second one stands by."""
    from infra.embedded.reaching import variables_beside

    if data is not None and not rebuild:
        raise click.UsageError("--data goes with --rebuild: `shanghai up` has a projector of its own")
    with errors_as_lines():
        variables = None if data is None else variables_beside(data)
    _become("workers.projector", *(["--rebuild"] if rebuild else []), variables=variables)


@main.command()
@click.option("--scope", "scopes", multiple=True, required=True, type=click.Choice(SCOPES), help="Given once or more.")
@click.option("--name", default="Operator", show_default=True, help="Of the player whose token it is.")
@RUNNING
def token(scopes: tuple["Scope", ...], name: str, data: Path | None) -> None:
    """Adds a player and prints the token that speaks for them, this once."""
    import asyncio

    from infra.embedded.reaching import login_at
    from infra.postgres.accounts import new_player
    from services.ports import Unavailable

    with errors_as_lines(way_out="set it, or give --data"):
        url = login_at(data)
    try:
        with database_errors_as_lines():
            click.echo(asyncio.run(new_player(url, name, scopes)).token)
    except Unavailable as error:
        fail(f"cannot reach the database: {error}", 1)


@main.command()
@click.option("--ready", is_flag=True, help="Ask whether it is of use, too.")
def health(*, ready: bool) -> None:
    """Asks the process at SHANGHAI_METRICS_PORT of this machine whether it lives; exit 1 where it does not."""
    from infra.health import ask
    from infra.settings import read_metrics_port

    with errors_as_lines():
        port = read_metrics_port()
    answer = ask(port, "/health/ready" if ready else "/health/live")
    if answer is None:
        fail(f"nothing answers at port {port}", 1)
    click.echo(answer.text)
    sys.exit(not answer.is_well)


@main.command()
def openapi() -> None:
    """Writes openapi/openapi.json and openapi/asyncapi.json from the code."""
    sys.exit(subprocess.run([sys.executable, "-m", "api.openapi"], check=False).returncode)


@main.command()
def settings() -> None:
    """Prints every setting with its default and meaning, as infra/SETTINGS.md has them."""
    from infra.embedded.stack import GENEROUS
    from infra.settings_reference import reference

    click.echo(reference(GENEROUS), nl=False)


@main.command()
@click.option("--ruleset", default="davis", show_default=True, help="What the bots play.")
@click.option("--overrides", type=click.Path(path_type=Path), help="A JSON file: what differs from the ruleset.")
@click.option("--players", default=4, show_default=True, type=click.IntRange(1), help="Seats at the table.")
@click.option("--games", default=100, show_default=True, type=click.IntRange(1), help="How many games.")
@click.option(
    "--level", default="normal", show_default=True, type=click.Choice(["easy", "normal"]), help="Of the bots."
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0, 2**64), help="Of the first game.")
def simulate(ruleset: str, overrides: Path | None, players: int, games: int, level: "Level", seed: int) -> None:
    """Lets bots play whole games in memory, without a server, and tells how they went."""
    from infra.simulate import CannotSimulate, rules_for, run

    with stoppable():
        try:
            run(rules_for(ruleset, overrides, players), players, games, level, seed)
        except CannotSimulate as error:
            fail(str(error), 2)


@main.command()
@click.argument("export", type=click.File("rb"))
def verify(export: BinaryIO) -> None:
    """Checks a downloaded game from scratch: was every card dealt as it was fixed before the game?

    EXPORT is a file of one event a line (GET /v1/games/{id}/export), or a page of the list of events; - reads from
    standard input. Exit 0: all that was checked is right. 1: something is not. 2: the file is no export.
    """
    from infra.verify import NoExport, verify

    try:
        report, text = verify(export.read())
    except NoExport as error:
        fail(f"{export.name} is no export of a game: {error}", 2)
    click.echo(text)
    sys.exit(1 if report.findings else 0)


def _repair_log() -> None:
    import asyncio

    from infra.postgres.repair import StillInUse, repair
    from infra.settings import read_database_url
    from services.ports import Unavailable

    with database_errors_as_lines():
        url = read_database_url()
        try:
            repaired = asyncio.run(repair(url))
        except (StillInUse, Unavailable) as error:
            fail(f"cannot repair: {error}", 1)
    click.echo("nothing to repair" if repaired is None else f"repaired: {repaired} events are in order again")


def _become(module: str, *arguments: str, variables: Mapping[str, str] | None = None) -> NoReturn:
    """Goes on as this module. A SIGTERM waits until the module can take it: as PID 1 it would be lost meanwhile.

    variables: what its environment has beyond this one's.
    """
    from infra.settings import environment

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    command = [sys.executable, "-m", module, *arguments]
    os.execve(sys.executable, command, environment(variables or {}))  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(prog_name="shanghai")
