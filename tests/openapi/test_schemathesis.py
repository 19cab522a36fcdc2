"""Requests that the document allows are accepted, those that it does not are refused, and no answer is unforeseen."""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.openapi import document
from tests.openapi.refusals import REFUSALS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def furnished() -> Iterator[dict[str, Any]]:
    """Starts a server on the twins in memory, with people and games."""
    command = [sys.executable, "-m", "tests.openapi.furnished"]
    serving = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    try:
        url, _, said = serving.stdout.readline().partition(" ")
        yield {"url": url, **json.loads(said)}
    finally:
        serving.terminate()
        serving.wait(60)
        serving.stdout.close()


@pytest.mark.slow
def test_nothing_undescribed_is_found(furnished: dict[str, Any], tmp_path: Path) -> None:
    command = [
        *(str(Path(sysconfig.get_path("scripts")) / "schemathesis"),),
        *(
            "--config-file",
            str(Path(__file__).with_name("schemathesis.toml")),
            "run",
            f"{furnished['url']}/openapi.json",
        ),
        *("--generation-deterministic", "--max-examples", "3", "--no-color", "--warnings", "off"),
    ]
    hooked = {"FURNISHED": json.dumps(furnished), "SCHEMATHESIS_HOOKS": "tests.openapi.hooks", "PYTHONPATH": str(ROOT)}
    looked = subprocess.run(
        command, cwd=tmp_path, env=os.environ | hooked, capture_output=True, text=True, timeout=400, check=False
    )
    assert looked.returncode == 0, looked.stdout[-6_000:] + looked.stderr
    assert all(phase in looked.stdout for phase in ("Examples", "Coverage", "Fuzzing", "Stateful"))
    for path, who in (("/v1/me", "guest"), ("/v1/admin/audit", "operator")):  # nobody was shut out halfway
        headers = {"Authorization": furnished[who]}
        assert httpx.get(f"{furnished['url']}{path}", headers=headers).status_code == 200


def test_what_no_schema_can_say_is_expected_of_operations_that_there_are() -> None:
    known = {operation["operationId"] for path in document()["paths"].values() for operation in path.values()}
    assert REFUSALS.keys() <= known
