"""The whole server on one machine: engines, migration, then every process of the roof."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from infra.embedded.data_folder import locked, socket_folder, tell_scraper
from infra.embedded.kept import Kept, Say, Start, keep, watch
from infra.embedded.ports import base_url, check_port, free_ports, reached_at
from infra.embedded.postgres import start_postgres
from infra.embedded.reaching import variables_of
from infra.embedded.running import Running, StartFailed, start, wait_until
from infra.embedded.soundness import refuse_unsound
from infra.embedded.valkey import start_redis
from infra.settings import is_given, read_settings

# Started by module name in child processes, never by import.
ROOF = {
    "api": "api",
    "relay": "workers.relay",
    "clock": "workers.clock",
    "projector": "workers.projector",
    "worker": "workers",
}
GENEROUS = {  # who runs this is alone with friends and programs
    "reads_per_s": 10_000,
    "reads_burst": 20_000,
    "moves_per_s": 10_000,
    "moves_burst": 20_000,
    "games_per_minute": 1_000,
    "webhook_tries_per_minute": 1_000,
    "games_unfinished": 1_000,
    "guests_per_minute": 1_000,
    "streams_per_token": 10_000,
    "streams_per_address": 10_000,
    "strangers_per_s": 10_000,
    "strangers_burst": 20_000,
}
READY_BOUND_S = 60.0
ROOF_STOP_S, REDIS_STOP_S, POSTGRES_STOP_S = 4.5, 1.0, 4.0  # together below 10 s, after which containers are killed


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A running server; `variables` is the environment that its processes were given."""

    base_url: str
    data: Path
    variables: Mapping[str, str]
    processes: Mapping[str, Kept]  # postgres, redis, api, relay, clock, projector, worker


@contextmanager
def running_stack(
    data: Path, host: str = "127.0.0.1", port: int = 8000, *, say: Say = lambda _: None
) -> Iterator[Stack]:
    """Starts everything on the folder `data`, yields once all is ready, and stops it within 10 s.

    Call it from the main thread: all processes end with the thread that started them. After the start
    nothing restarts a dead process but `kept.watch(stack.processes.values(), …)`.
    Errors: FolderInUse, FolderUnusable, PortTaken, SettingRefused, EngineMissing, StartFailed, GaveUp.
    """
    data = data.absolute()
    with ExitStack() as exits:
        exits.enter_context(locked(data))
        check_port(host, port)
        refuse_unsound(data, has_key=is_given("SHANGHAI_SECRET_KEY"))
        run = exits.enter_context(socket_folder(data))
        variables = _variables(data, run, host, port)
        ports = _metrics_ports(read_settings(variables).metrics_port, port)
        metrics = {name: f"{base_url(variables['SHANGHAI_METRICS_HOST'], ports[name])}/metrics" for name in ROOF}
        tell_scraper(data, metrics)
        roof = _start_roof(("api",), data, variables, ports)  # it loads while the engines start
        exits.callback(_stop_together, roof)  # also where an engine does not start
        processes = _start_engines(data, run, exits)
        exits.callback(_stop_together, roof)  # before the engines
        _migrate(data, variables)
        roof |= _start_roof(("relay", "clock", "projector", "worker"), data, variables, ports)
        processes |= roof
        _wait_until_ready(processes, host, port, say)
        yield Stack(base_url=base_url(host, port), data=data, variables=variables, processes=processes)


def _variables(data: Path, run: Path, host: str, port: int) -> dict[str, str]:
    """Is this process's own environment with the embedded engines in it. Errors: SettingRefused."""
    variables = {
        **variables_of(data, run),
        "SHANGHAI_HOST": host,
        "SHANGHAI_PORT": str(port),
        "PYTHONUNBUFFERED": "1",  # a log is read while its process runs
    }
    for name, number in GENEROUS.items():
        variables.setdefault(f"SHANGHAI_{name.upper()}", str(number))
    variables.setdefault("SHANGHAI_METRICS_HOST", "127.0.0.1")
    variables.setdefault("SHANGHAI_DISK_FOLDER", str(data))
    variables.setdefault("SHANGHAI_LOG_FORMAT", "text")  # people read the files in logs/
    read_settings(variables)
    return variables


def _start_engines(data: Path, run: Path, exits: ExitStack) -> dict[str, Kept]:
    logs = data / "logs"

    def kept(start_engine: Start, stop_s: float) -> Kept:
        engine = keep(start_engine)
        exits.callback(lambda: engine.running.stop(stop_s))
        return engine

    return {
        "postgres": kept(partial(start_postgres, data / "postgres", run, log=logs / "postgres.log"), POSTGRES_STOP_S),
        "redis": kept(partial(start_redis, data / "redis", run, log=logs / "redis.log"), REDIS_STOP_S),
    }


def _migrate(data: Path, variables: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "infra.cli", "migrate", "--refuse-newer"]
    migration = start("migrate", command, log=data / "logs/migrate.log", variables=variables)
    wait_until(migration, lambda: migration.process.poll() == 0)


def _start_roof(
    names: Iterable[str], data: Path, variables: Mapping[str, str], metrics_ports: Mapping[str, int]
) -> dict[str, Kept]:
    return {
        name: keep(
            partial(
                _start_module, name, ROOF[name], data, {**variables, "SHANGHAI_METRICS_PORT": str(metrics_ports[name])}
            )
        )
        for name in names
    }


def _metrics_ports(first: int, api: int) -> dict[str, int]:
    """Gives each process a port of its own: consecutive ones from `first` on, or where that is 0 any free ones."""
    ports = range(first, first + len(ROOF)) if first else free_ports(len(ROOF), besides=api)
    return dict(zip(ROOF, ports, strict=True))


def _start_module(name: str, module: str, data: Path, variables: Mapping[str, str]) -> Running:
    return start(name, [sys.executable, "-m", module], log=data / f"logs/{name}.log", variables=variables)


def _wait_until_ready(processes: Mapping[str, Kept], host: str, port: int, say: Say) -> None:
    from infra.health import missing  # loaded while the children start

    deadline = time.monotonic() + READY_BOUND_S
    absent = ["api"]

    def is_ready_or_late() -> bool:
        absent[:] = missing(reached_at(host), port)
        return not absent or time.monotonic() > deadline

    watch(processes.values(), say=say, until=is_ready_or_late, every_s=0.03)
    if absent:
        log = next(iter(processes.values())).running.log
        raise StartFailed(f"not ready after {READY_BOUND_S:.0f} s: {', '.join(absent)}; the logs are in {log.parent}")


def _stop_together(roof: Mapping[str, Kept]) -> None:
    for kept in roof.values():
        kept.running.ask_to_stop()
    deadline = time.monotonic() + ROOF_STOP_S
    for kept in roof.values():
        kept.running.stop(max(0.0, deadline - time.monotonic()))
