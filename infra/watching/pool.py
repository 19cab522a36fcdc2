"""What the forked processes of a worker use of the machine; only Linux tells it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from infra.watching.numbers import Reading

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


def pool_readings(parent: int) -> tuple[Reading, ...]:
    """Is what the children of a process are and use, all together."""
    return (
        Reading("gauge", "shanghai_pool_processes", "Forked processes", lambda: len(list(_children(parent)))),
        Reading("gauge", "shanghai_pool_memory_bytes", "What they hold in memory", lambda: _memory_bytes(parent)),
        Reading("gauge", "shanghai_pool_cpu_seconds", "What those alive have computed", lambda: _cpu_s(parent)),
    )


def _children(parent: int) -> Iterator[Path]:
    with suppress(OSError):
        for thread in (_PROC / str(parent) / "task").iterdir():
            yield from (_PROC / child for child in (thread / "children").read_text().split())


def _memory_bytes(parent: int) -> float:
    pages = 0
    for child in _children(parent):
        with suppress(OSError):  # it has ended since
            pages += int((child / "statm").read_text().split()[1])
    return float(pages * _PAGE)


def _cpu_s(parent: int) -> float:
    ticks = 0
    for child in _children(parent):
        with suppress(OSError):
            fields = (child / "stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])  # in user mode and in the kernel
    return ticks / _TICKS
