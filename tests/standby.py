"""A Postgres and a standby that follows it; the primary can be lost with its disk."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from infra.embedded.binaries import postgres_folder
from infra.embedded.engines import short_folder
from infra.embedded.postgres import start_postgres
from infra.embedded.running import Running
from infra.migrations import migrate
from tests.engines import UNSAFE, run
from tests.stack_watching import crash, descendants, eventually, is_running

_STATES = "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'"


class Pair(Struct, frozen=True):
    """Two servers of one log. url: leads to whichever of them is the primary."""

    primary: Running
    standby: Running
    folder: Path

    @property
    def url(self) -> str:
        hosts = f"{self.folder / 'first'},{self.folder / 'second'}"
        return f"postgresql://postgres@/postgres?host={hosts}&target_session_attrs=read-write"

    def lose_primary(self) -> None:
        """Kills every process of the primary at once and takes its disk away."""
        all_of_it = {self.primary.pid, *descendants(self.primary.pid)}
        for pid in all_of_it:
            crash(pid)
        self.primary.process.wait()
        eventually(lambda: not any(map(is_running, all_of_it)))
        shutil.rmtree(self.folder / "first-data")

    def promote(self) -> None:
        assert ask(self.standby.url, "SELECT pg_promote(true, 20)") == "t"

    def part(self) -> None:
        """Has the standby hear nothing more of the primary."""
        self._follow("")
        eventually(lambda: ask(self.primary.url, _STATES) == "")

    def reunite(self) -> None:
        self._follow(_conninfo(self.folder))

    def _follow(self, conninfo: str) -> None:
        ask(self.standby.url, f"ALTER SYSTEM SET primary_conninfo = '{conninfo}'")
        ask(self.standby.url, "SELECT pg_reload_conf()")


@pytest.fixture
def standing_by() -> Iterator[Pair]:
    """A pair whose standby is synchronous, for one test."""
    with pair(is_synchronous=True) as both:
        yield both


@contextmanager
def pair(*, is_synchronous: bool) -> Iterator[Pair]:
    """Starts a migrated primary and its standby; ends both. Cost: 1.5 s."""
    with short_folder() as folder, ExitStack() as exits:
        for socket in ("first", "second"):
            (folder / socket).mkdir()
        primary = start_postgres(folder / "first-data", folder / "first", settings=UNSAFE)
        exits.callback(primary.stop)
        run(migrate(primary.url))
        copy = f"--pgdata={folder / 'second-data'}"
        backup = [str(postgres_folder() / "pg_basebackup"), copy, "--checkpoint=fast", "--write-recovery-conf"]
        subprocess.run([*backup, f"--dbname={_conninfo(folder)}"], check=True)
        standby = start_postgres(folder / "second-data", folder / "second", settings=UNSAFE)
        exits.callback(standby.stop)
        if is_synchronous:
            ask(primary.url, "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            ask(primary.url, "SELECT pg_reload_conf()")
        eventually(lambda: ask(primary.url, _STATES) == ("sync" if is_synchronous else "async"))
        yield Pair(primary, standby, folder)


def ask(url: str, statement: str) -> str:
    """Runs a statement in a session of its own and gives what it says."""
    psql = [str(postgres_folder() / "psql"), "--no-psqlrc", "--tuples-only", "--no-align", f"--command={statement}"]
    done = subprocess.run([*psql, url], check=False, capture_output=True, text=True)
    assert not done.returncode, f"{statement}: {done.stderr}"
    return done.stdout.strip()


def _conninfo(folder: Path) -> str:
    return f"host={folder / 'first'} user=postgres application_name=standby"
