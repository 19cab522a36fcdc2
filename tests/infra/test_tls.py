"""Postgres and Redis over TLS: the server's name and authority are checked, and a stranger's is refused.

The embedded engines have no TLS built in, so it stands in front of them here; Debian's Postgres, where there is one,
is tried by itself too.
"""

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlencode

import asyncpg
import pytest
from msgspec.structs import replace

from infra.bus.wire import Wire
from infra.embedded.engines import Engines, short_folder
from infra.embedded.ports import free_port
from infra.embedded.postgres import make_cluster, start_postgres
from infra.jobs import open_jobs
from infra.migrations import migrate
from infra.settings import Settings
from infra.wiring import Services, open_services
from services.ports import Unavailable
from tests.appends import append, new_game
from tests.engines import UNSAFE, eventually
from tests.infra.telling import relaying, told
from tests.processes import server
from tests.tls import Papers, papers, tls_front
from tests.workers.tables import head, started_game

pytestmark = pytest.mark.xdist_group("relay")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    return papers(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    return papers(tmp_path_factory.mktemp("tls") / "strangers")


def postgres_url(port: int, authority: Path, host: str = "localhost") -> str:
    checked = urlencode({"sslmode": "verify-full", "sslrootcert": authority})
    return f"postgresql://postgres@{host}:{port}/postgres?{checked}"


def redis_url(port: int, authority: Path, host: str = "localhost") -> str:
    return f"rediss://{host}:{port}/0?{urlencode({'ssl_ca_certs': authority, 'ssl_cert_reqs': 'required'})}"


@pytest.fixture
async def postgres_port(own_engines: Engines, ours: Papers) -> AsyncIterator[int]:
    socket = Path(own_engines.postgres.url.partition("host=")[2]) / ".s.PGSQL.5432"
    async with tls_front(socket, ours, asks_first=True) as port:
        yield port


@pytest.fixture
async def redis_port(own_engines: Engines, ours: Papers) -> AsyncIterator[int]:
    async with tls_front(Path(own_engines.redis.url.removeprefix("unix://")), ours, asks_first=False) as port:
        yield port


@pytest.fixture
def over_tls(own_settings: Settings, ours: Papers, postgres_port: int, redis_port: int) -> Settings:
    database, redis = postgres_url(postgres_port, ours.authority), redis_url(redis_port, ours.authority)
    return replace(
        own_settings,
        database_url=database,
        projector_database_url=database,
        bus_url=redis,
        broker_url=redis,
        limits_url=redis,
    )


async def test_the_whole_server_works_over_tls(over_tls: Settings) -> None:
    async with open_services(over_tls) as services, relaying(over_tls):
        game = await started_game(services)
        with server("workers", over_tls):
            await services.jobs.hand_out(game)
            await eventually(lambda: _is_alive(services))
            before = await head(services, game)
            await services.jobs.hand_out(game)
            await eventually(lambda: _is_further(services, game, before))
        assert (game, 1) in await told(over_tls)


async def test_a_server_of_another_authority_or_name_is_refused(
    over_tls: Settings, strangers: Papers, ours: Papers, postgres_port: int, redis_port: int
) -> None:
    for url in (
        postgres_url(postgres_port, strangers.authority),
        postgres_url(postgres_port, ours.authority, host="127.0.0.1"),
    ):
        async with open_services(replace(over_tls, database_url=url)) as services:
            with pytest.raises(Unavailable, match="certificate verify failed"):
                await services.log.append(append(new_game()))
    for url in (
        redis_url(redis_port, strangers.authority),
        redis_url(redis_port, ours.authority, host="127.0.0.1"),
    ):
        with pytest.raises(Unavailable, match="certificate verify failed"):
            await Wire.open(url)
        jobs = open_jobs(url)
        with pytest.raises(Unavailable):
            await jobs.hand_out("gam_nobody")
        await jobs.close()


@pytest.fixture
def debians(monkeypatch: pytest.MonkeyPatch, ours: Papers) -> Iterator[int]:
    """A Postgres that speaks TLS itself and lets nobody in without; its port."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    with_tls = [one for one in folders if "--with-openssl" in _configured(one)]
    if not with_tls:
        pytest.skip("no Postgres with TLS on this machine")
    monkeypatch.setattr("infra.embedded.postgres.postgres_folder", lambda: with_tls[-1])
    with short_folder() as folder:
        make_cluster(folder / "data", log=folder / "initdb.log")
        (folder / "data" / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 trust\n")
        port = free_port()
        tls = {"ssl": "on", "ssl_cert_file": str(ours.certificate), "ssl_key_file": str(ours.key)}
        listening = {"listen_addresses": "127.0.0.1", "port": str(port)}
        running = start_postgres(folder / "data", folder, settings={**UNSAFE, **tls, **listening})
        yield port
        running.stop()


async def test_a_postgres_with_tls_of_its_own_lets_nobody_in_without(
    debians: int, own_settings: Settings, ours: Papers, strangers: Papers
) -> None:
    url, game = postgres_url(debians, ours.authority), new_game()
    await migrate(url)
    async with open_services(replace(own_settings, database_url=url)) as services:
        await services.log.append(append(game))
        assert len(await services.log.read(game)) == 1
    with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
        await asyncpg.connect(f"postgresql://postgres@127.0.0.1:{debians}/postgres?sslmode=disable")
    stranger = postgres_url(debians, strangers.authority)
    async with open_services(replace(own_settings, database_url=stranger)) as services:
        with pytest.raises(Unavailable, match="certificate verify failed"):
            await services.log.append(append(game, 1))


def _configured(folder: Path) -> str:
    return subprocess.run([folder / "pg_config", "--configure"], check=False, capture_output=True, text=True).stdout


async def _is_alive(services: Services) -> bool:
    return (await services.processes())["worker"]


async def _is_further(services: Services, game: str, before: int) -> bool:
    return await head(services, game) > before
