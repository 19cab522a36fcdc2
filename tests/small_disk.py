"""A disk of its own that is soon full, for a command: needs Linux, and root or user namespaces."""

import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@cache
def own_mounts() -> list[str]:
    """Is what goes before a command that may mount; where there is none the test fails, but for other systems."""
    if sys.platform != "linux":
        pytest.skip("no disk can be mounted here: that needs Linux")
    for command in (["unshare", "--user", "--mount", "--map-root-user"], ["unshare", "--mount"]):
        if _runs([*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]):
            return command
    pytest.fail("a disk has to be mounted, by root with the right to it (CAP_SYS_ADMIN) or by user namespaces")


def on_a_small_disk(place: Path, size: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs python with arguments while a disk of that size lies at `place`, which only it sees."""
    mounting = 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"'
    command: Sequence[str | Path] = (*own_mounts(), "sh", "-c", mounting, "sh", size, place, sys.executable, *arguments)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
