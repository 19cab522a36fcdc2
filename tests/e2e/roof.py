"""The roof's processes on engines of the test's own."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from infra.embedded.ports import free_port
from infra.embedded.stack import GENEROUS, ROOF
from infra.health import missing
from infra.settings import Settings, environment
from tests.stack_watching import crash, descendants, eventually

EVERYBODY = ("relay", "clock", "projector", "worker", "api")

Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Roof:
    """Running processes by name, and the addresses of their APIs."""

    processes: dict[str, Process] = field(default_factory=dict)
    base_urls: list[str] = field(default_factory=list)

    def kill(self, name: str) -> None:
        """Ends one of them, with everything below it, at once."""
        pid = self.processes[name].pid
        for process in (pid, *descendants(pid)):
            crash(process)


@contextmanager
def roof(settings: Settings, names: Sequence[str], **further: int | str) -> Iterator[Roof]:
    """Starts processes in this order, yields when every API says that all is there, and ends them.

    further: settings in the place of generous ones.
    """
    running = Roof()
    with ExitStack() as waiting, ExitStack() as ending:
        for name in names:
            port = free_port()
            process = subprocess.Popen([sys.executable, "-m", ROOF[name]], env=_variables(settings, port, further))
            waiting.callback(_see_off, process)
            ending.callback(process.terminate)
            running.processes[name] = process
            if name == "api":
                running.base_urls.append(f"http://127.0.0.1:{port}")
        for base_url in running.base_urls:
            port = urlsplit(base_url).port or 80
            eventually(lambda port=port: not missing("127.0.0.1", port), within_s=120, what="ready")  # type: ignore[misc]
        yield running


def _see_off(process: Process) -> None:
    """Waits for a process that was told to end; one that does not is killed, and told of."""
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def _variables(settings: Settings, port: int, further: Mapping[str, int | str]) -> dict[str, str]:
    return environment(
        {
            "SHANGHAI_DATABASE_URL": settings.database_url,
            "SHANGHAI_REDIS_URL": settings.bus_url,
            "SHANGHAI_BROKER_URL": settings.broker_url,
            "SHANGHAI_SECRET_KEY": settings.secret_key.hex(),
            "SHANGHAI_PORT": str(port),
            **{f"SHANGHAI_{name.upper()}": str(value) for name, value in {**GENEROUS, **further}.items()},
        }
    )
