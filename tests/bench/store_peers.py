"""What the event store is measured against, in the same Postgres: pgbench, and the eventsourcing library."""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from infra.embedded.binaries import postgres_folder
from services.codec import encode_event
from tests.bench.contest import INSTALLED, PEERS, last_words
from tests.bench.store_appends import EVENT


class Missing(Exception):
    """A peer is not there or has failed; the text says why."""


def pgbench_per_s(url: str, *, clients: int, events: int, seconds: int) -> float:
    """Lets pgbench write what one of our appends writes, in one prepared statement, each client in its own game."""
    program = postgres_folder() / "pgbench"
    if not program.is_file():
        raise Missing(f"there is no pgbench in {postgres_folder()}; Debian has it in postgresql")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(_script(os.urandom(3).hex(), events))
        script.flush()
        database = urlsplit(url).path.removeprefix("/")
        options = ["-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, 2)), "-T", str(seconds)]
        place = ["-h", _host(url), "-U", "postgres", database]
        words = _run([program, *options, "-D", "version=0", "-f", script.name, *place])
    found = re.search(r"tps = ([\d.]+)", words)
    if found is None:
        raise Missing(f"pgbench says: {words}")
    return float(found[1])


def library_per_s(url: str, what: str, *, events: int, seconds: float) -> float:
    """Lets the eventsourcing library `append` or `load`, in a database of its own."""
    program = INSTALLED / "bin/python"
    if not program.is_file():
        raise Missing(f"there is no {program}")
    words = _run([program, PEERS / "eventsourcing_store.py", what, _host(url), "library", str(seconds), str(events)])
    count, spent = words.split()[-2:]
    return int(count) / float(spent)


def _run(command: Sequence[str | Path]) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise Missing(last_words(ran.stderr))
    return ran.stdout


def _host(url: str) -> str:
    return parse_qs(urlsplit(url).query)["host"][0]


_GAME = "('{run}-0000-7000-8000-' || lpad(:client_id::text, 12, '0'))::uuid"  # of each client its own
_COMMAND = "('{run}-0001-7000-8000-' || lpad(:version::text, 12, '0'))::uuid"
_EVENT = "({game}, :version - {back}, 6, 1, 1, 1, {ordinal}, {command}, '\\x{payload}'::bytea)"
_APPEND = """\\set version :version + {count}
WITH receipts AS (
    INSERT INTO idempotency
        (game_id, principal, operation, key, fingerprint, command_id, first_version, last_version)
    VALUES ({game}, 'ply_0123456789abcdefghjkmnpqrs', 'makeMove', '0123456789abcdef0123456789' || :version,
        '\\x{fingerprint}'::bytea, {command}, :version - {count} + 1, :version)
), events AS (
    INSERT INTO event (game_id, version, type, schema, actor, round, ordinal, command_id, payload)
    VALUES {events}
)
INSERT INTO work (game_id, version, kind, due_at)
VALUES ({game}, :version, 5, statement_timestamp() + interval '60 s');
"""


def _script(run: str, count: int) -> str:
    game, command, payload = _GAME.format(run=f"01{run}"), _COMMAND.format(run=f"01{run}"), encode_event(EVENT)[2].hex()
    events = [
        _EVENT.format(game=game, back=count - 1 - ordinal, ordinal=ordinal, command=command, payload=payload)
        for ordinal in range(count)
    ]
    return _APPEND.format(game=game, command=command, count=count, fingerprint="00" * 32, events=", ".join(events))
