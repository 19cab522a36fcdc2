"""The README's session, run as it stands there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import Server

pytestmark = [
    pytest.mark.stack,
    pytest.mark.xdist_group("e2e"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the session is for people who have curl"),
]


def test_the_round_in_curl_can_be_played(server: Server) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    script = re.search(r"```sh\n(.*?)```", readme, re.DOTALL)
    assert script is not None
    played = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script[1]],
        env=os.environ | {"API": server.base_url},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert "('Anna', " in played.stdout
