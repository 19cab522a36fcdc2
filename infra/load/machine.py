"""What a run costs the machine, where the server is a `shanghai up` of this one: seen in /proc and in the engines."""

import contextlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import redis
from msgspec import Struct

from infra.embedded.postgres import database_url
from infra.embedded.reaching import run_of
from infra.sql import statements

_SQL = statements("load")
# The first that stands in a process's command line is its name.
_NAMES = {
    "-m api": "api",
    "-m workers.relay": "relay",
    "-m workers.clock": "clock",
    "-m workers.projector": "projector",
    "-m workers": "worker",
    "redis.sock": "redis",
    "postgres": "postgres",
    "infra.cli up": "up",
}


class Cost(Struct, frozen=True):
    """Of one kind of process: CPU in seconds, and memory in MB, what is shared counted once in all."""

    cpu_s: float
    memory_mb: float


class Kept(Struct, frozen=True):
    """What the engines hold. sizes in bytes."""

    games: int
    events: int
    database: int
    event_tables: int
    redis: int
    connections: int


class Machine(Struct, frozen=True):
    """Everything at one moment."""

    processes: dict[str, Cost]
    kept: Kept


async def look(data: Path) -> Machine:
    """Looks at the server on a data folder. Errors: NothingRuns; those of asyncpg and redis."""
    run = run_of(data)
    processes = _processes(int((data / "lock").read_text()))
    connection = await asyncpg.connect(database_url(run))
    try:
        [row] = await connection.fetch(_SQL["kept"])
    finally:
        await connection.close()
    with redis.Redis(unix_socket_path=str(run / "redis.sock")) as client:
        used = int(client.info("memory")["used_memory"])
    return Machine(processes, Kept(**dict(row), redis=used))


def spent(before: Machine, after: Machine) -> dict[str, float]:
    """Gives the CPU seconds between two looks, by kinds of process."""
    return {
        name: round(cost.cpu_s - (before.processes[name].cpu_s if name in before.processes else 0), 2)
        for name, cost in after.processes.items()
    }


def _processes(root: int) -> dict[str, Cost]:
    cpu, memory = Counter[str](), Counter[str]()
    for pid in (root, *_below(root)):
        with contextlib.suppress(OSError, StopIteration):  # it has ended since
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            name = next(name for words, name in _NAMES.items() if words in line)
            cpu[name] += _cpu_ticks(pid)
            memory[name] += _memory_kb(pid)
    return {name: Cost(cpu[name] / os.sysconf("SC_CLK_TCK"), round(memory[name] / 1024, 1)) for name in cpu}


def _below(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from _below(child)


def _cpu_ticks(pid: int) -> int:
    """Counts also what ended children have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def _memory_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0
