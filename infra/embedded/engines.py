"""Both engines together, in folders of their own."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.embedded.postgres import start_postgres
from infra.embedded.running import Running
from infra.embedded.valkey import start_redis

SHORT_FOLDER = "/tmp/shanghai-run-"  # noqa: S108 - mkdtemp adds a random end and makes it 0700


@dataclass(frozen=True, kw_only=True)
class Engines:
    """A running Postgres and a running Redis."""

    postgres: Running
    redis: Running


@contextmanager
def embedded_services(settings: Mapping[str, str] | None = None) -> Iterator[Engines]:
    """Starts both engines on empty folders and leaves nothing behind; `settings` are for Postgres.

    Call it from the main thread: the engines end with the thread that started them. Cost: 0.6 s.
    """
    with short_folder() as folder, ExitStack() as exits:
        postgres = start_postgres(folder / "postgres", folder, settings=settings)
        exits.callback(postgres.stop)
        redis = start_redis(folder / "redis", folder)
        exits.callback(redis.stop)
        yield Engines(postgres=postgres, redis=redis)


@contextmanager
def short_folder() -> Iterator[Path]:
    """Is a new folder for sockets, whose paths must stay below about 100 characters; removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix=SHORT_FOLDER))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
