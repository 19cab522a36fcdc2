"""One whole server for all tests here: `shanghai up` on a free port with a data folder of its own."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.embedded.engines import embedded_services
from infra.migrations import migrate
from infra.settings import Settings
from tests.e2e.client import Client
from tests.engines import UNSAFE, run, settings_of
from tests.stack_watching import crash, descendants, eventually, is_ready, up


@dataclass(frozen=True)
class Server:
    """A running `shanghai up`."""

    base_url: str
    pid: int
    data: Path

    def wait(self) -> None:
        """Waits until the API answers again, where a test has killed it."""
        eventually(lambda: is_ready(self.base_url), within_s=60, what="the server is ready")

    def kill(self, command: str) -> None:
        """Ends the process with this in its command line, and all below it, with SIGKILL."""
        pid = self.process(command)
        for process in (pid, *descendants(pid)):
            crash(process)

    def process(self, command: str) -> int:
        """Finds the process with this in its command line."""
        for pid in descendants(self.pid):
            with suppress(OSError):  # it has ended since
                if command in Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode():
                    return pid
        raise AssertionError(f"{command} is not running")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("data")
    with ExitStack() as exits:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SHANGHAI_WEBHOOK_TARGETS", "any")  # tests listen on loopback
            command, base_url = exits.enter_context(up(data))
        yield Server(base_url, command.process.pid, data)
    sys.stdout.write("\n".join(command.lines))  # pytest shows it beside a failure


@pytest.fixture
def settings() -> Iterator[Settings]:
    """Settings of a server on engines of this test's own, where `server` is the one of all tests."""
    with embedded_services(UNSAFE) as engines:
        run(migrate(engines.postgres.url))
        yield settings_of(engines, engines.postgres.url)


@pytest.fixture
def anna(server: Server) -> Iterator[Client]:
    server.wait()
    with Client(server.base_url, "Anna") as client:
        yield client


@pytest.fixture
def boris(server: Server) -> Iterator[Client]:
    server.wait()
    with Client(server.base_url, "Boris") as client:
        yield client
