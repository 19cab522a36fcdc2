"""How a command of `shanghai` ends: stopped by a signal, or with one line that an operator understands."""

import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stoppable() -> Iterator[None]:
    """Ends the block at the first Ctrl-C, TERM or HUP as a success; further ones do not disturb the stop."""

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    try:
        yield
    except KeyboardInterrupt:
        click.echo("stopped")


@contextmanager
def errors_as_lines(*, way_out: str = "") -> Iterator[None]:
    """Shows what an operator can mend as one line: exit 2 for a setting, 1 for the rest, as what the system refuses.

    way_out: what helps against a refused setting besides setting it.
    """
    from infra.embedded import CannotRun
    from infra.settings import SettingRefused

    try:
        yield
    except SettingRefused as error:
        fail(f"{error}: {way_out}" if way_out else str(error), 2)
    except CannotRun as error:
        fail(str(error), 1)
    except OSError as error:
        fail(_refused(error), 1)


@contextmanager
def database_errors_as_lines() -> Iterator[None]:
    """Shows as one line what Postgres refuses, too: a database without tables, a login without a right."""
    import asyncpg

    with errors_as_lines():
        try:
            yield
        except asyncpg.UndefinedTableError:
            fail("the database has no tables yet: run `shanghai migrate` as its owner", 1)
        except asyncpg.PostgresError as error:
            fail(f"the database refuses: {error.args[0]}", 1)


def fail(text: str, code: int) -> NoReturn:
    """Ends a command with one line of why."""
    click.echo(f"shanghai: {text}", err=True)
    sys.exit(code)


def _refused(error: OSError) -> str:
    """Says what the system has refused: a file without rights, a disk without room."""
    if isinstance(error, shutil.Error):  # of a whole folder: source, target and reason of each file
        _, target, reason = error.args[0][0]
        return f"cannot use {target}: {reason.partition('] ')[2].partition(': ')[0] or reason}"
    why = error.strerror or str(error) or type(error).__name__
    return f"cannot use {error.filename}: {why}" if error.filename else why
