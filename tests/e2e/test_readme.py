"""What the pages show for curl, run as it stands there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Server

pytestmark = [
    pytest.mark.stack,
    pytest.mark.xdist_group("e2e"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the session is for people who have curl"),
]


ROOT = Path(__file__).parents[2]


def test_the_round_in_curl_can_be_played(server: Server, tmp_path: Path) -> None:
    assert "('Anna', " in said(ROOT / "README.md", server, tmp_path, "set -euo pipefail", at_most=1)


def test_the_guide_for_client_writers_runs_from_top_to_bottom(server: Server, tmp_path: Path) -> None:
    told = said(ROOT / "openapi" / "README.md", server, tmp_path, "set -eu")  # no pipefail: head leaves its curl
    assert "('Anna', " in told
    assert "event: hello" in told
    assert "\nid: 1\nevent: game_opened\n" in told
    assert "\nid: 41\n" in told
    assert (tmp_path / "game.ndjson").read_text().startswith('{"game_id":')


def said(page: Path, server: Server, folder: Path, options: str, at_most: int | None = None) -> str:
    """Runs the shell's lines of a page and gives what they print."""
    lines = re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL)[:at_most]
    assert lines
    commands = Path(sys.executable).parent
    played = subprocess.run(
        ["bash", "-c", "\n".join([options, *lines])],
        env=os.environ | {"API": server.base_url, "PATH": f"{commands}:{os.environ['PATH']}"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert played.returncode == 0, played.stdout[-2_000:] + played.stderr
    return played.stdout
