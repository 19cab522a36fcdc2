"""A full disk is a clear answer and nothing half-written; with room again everything goes on."""

import subprocess
import sys

from tests.small_disk import ROOT, own_mounts


def test_a_full_disk_loses_nothing_and_is_said_so() -> None:
    command = [*own_mounts(), sys.executable, "-m", "tests.infra.full_disk"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
