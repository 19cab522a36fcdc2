"""Requests that the document allows, and many that it does not, find no answer that it does not foresee."""

import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = [
    "streamEvents",  # never ends; tests/api/test_streams.py
    "streamMine",  # tests/api/test_my_stream.py
    "deleteMe",  # the token would be worth nothing to all that follows
]
# Much that a schema cannot say is refused too: names of knobs, keys used before, letters that are none.
NOT_HELD = "positive_data_acceptance"


@pytest.fixture
def base_url() -> Iterator[str]:
    """Starts a server on the twins in memory."""
    serving = subprocess.Popen([sys.executable, "-m", "tests.api.serve"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    try:
        yield serving.stdout.readline().strip()
    finally:
        serving.terminate()
        serving.wait(10)
        serving.stdout.close()


@pytest.mark.slow
def test_nothing_undescribed_is_found(base_url: str, tmp_path: Path) -> None:
    guest = httpx.post(f"{base_url}/v1/players", json={"name": "Anna"}).raise_for_status().json()
    command = [
        *(str(Path(sysconfig.get_path("scripts")) / "schemathesis"), "run", f"{base_url}/openapi.json"),
        *("--header", f"Authorization: Bearer {guest['token']}"),
        *("--generation-deterministic", "--max-examples", "2", "--exclude-checks", NOT_HELD),
        *(argument for operation in LEFT_OUT for argument in ("--exclude-operation-id", operation)),
        *("--request-timeout", "5", "--no-color", "--warnings", "off"),
    ]
    looked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert looked.returncode == 0, looked.stdout[-6_000:] + looked.stderr
    assert "Stateful" in looked.stdout
