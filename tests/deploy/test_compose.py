"""The compose file, brought up whole by Docker's own program for it, on podman."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from infra.embedded.ports import free_port
from infra.health import missing
from tests.deploy.conftest import POSTGRES, REDIS
from tests.deploy.images import build_engine
from tests.deploy.manifests import DEPLOY
from tests.deploy.playing import play_a_game
from tests.deploy.podman import Podman, docker_api
from tests.stack_watching import eventually

PASSWORDS = ("POSTGRES", "SHANGHAI_OWNER", "SHANGHAI_APP", "SHANGHAI_PROJECTOR", "SHANGHAI_OPERATOR", "SHANGHAI_REDIS")
UP_WITHIN_S = 400

pytestmark = pytest.mark.deploy


class Compose:
    """`docker compose` with a file of passwords, at the project `shanghai`."""

    def __init__(self, program: Path, docker: str, settings: dict[str, str], file: Path) -> None:
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self._command: list[str | Path] = [program, "--file", DEPLOY / "compose.yaml", "--env-file", file]
        self._variables = {**os.environ, "DOCKER_HOST": docker}

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments],
            env=self._variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=UP_WITHIN_S,
            check=False,
        )  # fmt: skip
        assert not done.returncode, f"compose {' '.join(arguments)}: {done.stderr[-4000:]}{done.stdout[-4000:]}"
        return done.stdout


def test_the_whole_product_comes_up_is_played_on_and_goes_without_a_trace(
    podman: Podman, product: str, tools: Path, tmp_path: Path
) -> None:
    engine, port = build_engine(podman), free_port()
    for name in (POSTGRES, REDIS):
        podman.run("tag", engine, f"docker.io/library/{name}")
    settings = {f"{name}_PASSWORD": name.lower() for name in PASSWORDS}
    settings |= {"SHANGHAI_SECRET_KEY": "0f" * 32, "SHANGHAI_IMAGE": product, "SHANGHAI_PORT": f"127.0.0.1:{port}"}
    before = traces(podman)
    with docker_api(podman) as docker:
        compose = Compose(tools / "docker-compose", docker, settings, tmp_path / ".env")
        try:
            with health_checks(podman):
                compose.run("up", "--detach", "--wait", "--no-build")
            eventually(lambda: not missing("127.0.0.1", port), within_s=120, what="every process is there")
            play_a_game(f"http://127.0.0.1:{port}")
            at_desk = "run", "--rm", "--no-deps", "--no-TTY"
            assert "finished" in compose.run(*at_desk, "operator", "admin", "games")
            compose.run(*at_desk, "--entrypoint=python", "operator", "-c", "open('/archive/events', 'x')")
        finally:
            compose.run("--profile=operator", "down", "--volumes", "--timeout=30")
    assert traces(podman) == before


def traces(podman: Podman) -> dict[str, str]:
    """Is what there is of containers, volumes and networks."""
    return {kind: podman.run(kind, "ls", "--quiet") for kind in ("container", "volume", "network")}


@contextmanager
def health_checks(podman: Podman) -> Iterator[None]:
    """Runs the health checks of containers that are starting: podman itself leaves that to systemd."""
    is_over = Event()

    def check(container: str) -> None:
        command = ["podman", "healthcheck", "run", container]
        subprocess.run(command, env=podman.variables, capture_output=True, check=False)

    def check_all() -> None:
        with ThreadPoolExecutor(2) as each:
            while not is_over.wait(1):
                list(each.map(check, podman.run("ps", "--quiet", "--filter=health=starting").split()))

    with ThreadPoolExecutor(1) as aside:
        checking = aside.submit(check_all)
        try:
            yield
        finally:
            is_over.set()
            checking.result()
