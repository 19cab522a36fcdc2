"""The suite's own Postgres and Redis, from each of the three places that they may come from."""

import os
import subprocess
import sys

import pytest

from tests.deploy.images import ROOT, build_engine
from tests.deploy.podman import Podman, docker_api
from tests.outside_engines import DATABASE, IMAGES, REDIS

CONTRACTS = ("tests/contract", "tests/infra/test_limits.py")

pytestmark = pytest.mark.deploy


def test_the_contracts_hold_on_engines_at_given_addresses(podman: Podman) -> None:
    engine = build_engine(podman)
    variables = "--env=POSTGRES_PASSWORD=test", "--env=PGDATA=/data/postgres"
    started = [
        podman.run("run", "--detach", *variables, engine, "postgres", "-c", "fsync=off"),
        podman.run("run", "--detach", engine, "redis-server", "--protected-mode", "no"),
    ]
    postgres, redis = (podman.run("inspect", "--format={{.NetworkSettings.IPAddress}}", name) for name in started)
    given = {DATABASE: f"postgresql://postgres:test@{postgres}/postgres", REDIS: f"redis://{redis}:6379/0"}
    assert "engines: given" in passed(given, *CONTRACTS)
    databases = podman.run("exec", started[0], "psql", "--host=/var/run/postgresql", "--username=postgres", "--list")
    assert "test_" not in databases
    podman.run("rm", "--force", "--time=0", *started)


def test_the_contracts_hold_on_engines_that_testcontainers_starts(podman: Podman) -> None:
    engine = build_engine(podman)
    with docker_api(podman) as address:
        variables = {
            IMAGES: f"{engine} {engine}",
            "DOCKER_HOST": address,
            "TESTCONTAINERS_CONNECTION_MODE": "docker_host",
            "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
            "TESTCONTAINERS_RYUK_DISABLED": "true",
        }
        assert "engines: containers" in passed(variables, *CONTRACTS)


def test_the_contracts_hold_on_embedded_engines_though_a_docker_engine_happens_to_be_there(podman: Podman) -> None:
    with docker_api(podman) as address:
        assert "engines: embedded" in passed({"DOCKER_HOST": address}, *CONTRACTS)


def passed(variables: dict[str, str], *tests: str) -> str:
    """Runs tests in a process of their own and gives what it says."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, timeout=600, check=False
    )
    assert not done.returncode, done.stdout[-6000:] + done.stderr
    return done.stdout
