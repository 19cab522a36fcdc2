"""Backups of the database: whole copies and the log that leads on from each, by Postgres's own programs.

A folder of backups has `copy-20260830T101500.123456Z/`, one for each copy, named after the moment at which it was
complete, and `wal/`, the log. A copy and the log from then on lead to every later moment.
"""

import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from infra.embedded import CannotRun
from infra.embedded.binaries import postgres_folder
from infra.settings import environment

LOG = "wal"
SLOT = "shanghai_backup"  # while nobody fetches it, the server keeps the log for us
_KEPT = "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'shanghai_backup' AND active"
_STAMP = "copy-%Y%m%dT%H%M%S.%fZ"

Say = Callable[[str], None]


class BackupRefused(CannotRun):
    """It cannot be done; the text has the reason, in Postgres's words."""


def copy(url: str, folder: Path, *, keep: int, say: Say) -> Path:
    """Copies the cluster while it is in use, removes all but the newest copies with their log, and gives the new one.

    A copy that was cut short is none. Errors: BackupRefused. Cost: reads every file of the database once.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = folder / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    run("pg_basebackup", f"--pgdata={unfinished}", "--checkpoint=fast", "--wal-method=stream", url=url)
    run("pg_verifybackup", "--quiet", str(unfinished))
    done = folder / _now(url).strftime(_STAMP)
    unfinished.rename(done)
    if ask(url, _KEPT) == "0":
        say("nobody keeps the log: this copy leads to no later moment until `shanghai backup --log` runs")
    _thin_out(folder, keep)
    return done


def keep_log(url: str, folder: Path, *, say: Say) -> None:
    """Writes the log of the cluster into the folder as it arises, each piece flushed at once, until it is stopped.

    A server that is away and a full disk are waited for; what is amiss is told as it comes. Errors: BackupRefused.
    """
    kept = folder / LOG
    kept.mkdir(parents=True, exist_ok=True, mode=0o700)
    receive = [f"--directory={kept}", f"--slot={SLOT}"]
    run("pg_receivewal", *receive, "--create-slot", "--if-not-exists", url=url)
    say(f"keeping the log in {kept}")
    command, variables = _command("pg_receivewal", *receive, "--synchronous", url=url)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(variables)) as receiving:
        assert receiving.stderr is not None
        try:
            for line in receiving.stderr:
                say(line.rstrip())
        finally:
            receiving.terminate()
    raise BackupRefused("pg_receivewal has ended")


def copies(folder: Path) -> dict[datetime, Path]:
    """Gives the finished copies by the moments at which they were complete, the oldest first."""
    found = {datetime.strptime(path.name, _STAMP).replace(tzinfo=UTC): path for path in folder.glob("copy-*Z")}
    return dict(sorted(found.items()))


def ask(url: str, statement: str) -> str:
    """Runs a statement and gives its answer as psql writes it, unaligned."""
    return run("psql", "--no-psqlrc", "--tuples-only", "--no-align", f"--command={statement}", url=url).strip()


def run(program: str, *arguments: str, url: str | None = None) -> str:
    """Runs one of Postgres's programs to its end and gives its output. Errors: BackupRefused.

    The password of `url` goes by the environment: a command line can be read by everybody on the machine.
    """
    command, variables = _command(program, *arguments, url=url)
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=environment(variables))
    if ended.returncode:
        raise BackupRefused(" ".join(ended.stderr.split()) or f"{program} has failed")
    return ended.stdout


def _command(program: str, *arguments: str, url: str | None) -> tuple[list[str], dict[str, str]]:
    login, variables = _login(url) if url else ([], {})
    return [str(postgres_folder() / program), *arguments, *login], variables


def _login(url: str) -> tuple[list[str], dict[str, str]]:
    """Gives the arguments and the variables that log in at `url`."""
    password = urlsplit(url).password
    if not password:
        return [f"--dbname={url}"], {}
    return [f"--dbname={url.replace(f':{password}@', '@', 1)}"], {"PGPASSWORD": unquote(password)}


def _now(url: str) -> datetime:
    return datetime.fromtimestamp(float(ask(url, "SELECT extract(epoch FROM clock_timestamp())")), UTC)


def _thin_out(folder: Path, keep: int) -> None:
    """Removes old copies, and the log that leads to the oldest kept one."""
    kept = list(copies(folder).values())
    for old in kept[:-keep]:
        shutil.rmtree(old)
    if (folder / LOG).is_dir():
        run("pg_archivecleanup", str(folder / LOG), first_segment(kept[-keep:][0]))


def first_segment(copy: Path) -> str:
    """Names the file of the log with which a copy begins."""
    label = (copy / "backup_label").read_text()
    return label.partition("(file ")[2].partition(")")[0]  # START WAL LOCATION: 0/2000028 (file 0000000100…02)
