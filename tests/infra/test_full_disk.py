"""A full disk is a clear answer and nothing half-written; with room again everything goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_NAMESPACE = ["unshare", "--user", "--mount", "--map-root-user"]  # where one may mount a disk of one's own


def test_a_full_disk_loses_nothing_and_is_said_so() -> None:
    if not _runs([*_NAMESPACE, "true"]):
        pytest.skip("no disk can be mounted here: that needs Linux with user namespaces")
    command = [*_NAMESPACE, sys.executable, "-m", "tests.infra.full_disk"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
