"""A log that was dumped from an older cluster and restored into a younger one."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import asyncpg
import pytest
from msgspec.structs import replace

from infra.embedded.binaries import postgres_folder
from infra.embedded.engines import Engines, embedded_services
from infra.migrations import migrate
from infra.postgres.relay import YoungerCluster, lag, leading_relay
from infra.postgres.repair import StillInUse, repair
from infra.settings import Settings, environment
from infra.wiring import open_services
from tests.appends import append, new_game
from tests.engines import UNSAFE, eventually, settings_of
from tests.infra.telling import redis, relaying, told

pytestmark = [pytest.mark.usefixtures("owner"), pytest.mark.xdist_group("relay")]

TOLD, UNTOLD = 6, 4


@pytest.fixture(scope="module")
def younger() -> Iterator[Engines]:
    with embedded_services(UNSAFE) as engines:
        yield engines


@pytest.fixture
async def restored(own_settings: Settings, owner: asyncpg.Connection, younger: Engines) -> tuple[Settings, list[str]]:
    """The younger cluster with everything of the older one, whose relay had not told the last events; and the games."""
    await redis(own_settings, "FLUSHALL")
    await owner.execute("DO $$ BEGIN FOR i IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
    games = [new_game() for _ in range(TOLD)]
    async with open_services(own_settings) as services:
        async with relaying(own_settings):
            for game in games:
                await services.log.append(append(game, 0, 2))
            await eventually(lambda: _has_told(own_settings, 2 * TOLD))
            await eventually(lambda: _is_saved(owner))
        for game in games[:UNTOLD]:
            await services.log.append(append(game, 2))
    await migrate(younger.postgres.url)  # makes the roles
    connection = await asyncpg.connect(younger.postgres.url)
    await connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    await connection.close()
    copy(own_settings.database_url, younger.postgres.url)
    return replace(settings_of(younger, younger.postgres.url), bus_url=own_settings.bus_url), games


async def test_a_restored_log_is_refused_and_works_again_when_it_is_repaired(
    restored: tuple[Settings, list[str]],
) -> None:
    settings, games = restored
    with pytest.raises(YoungerCluster, match="--repair"):
        async with leading_relay(settings.database_url):
            pass
    assert await shanghai_repair(settings) == f"repaired: {2 * TOLD + UNTOLD} events are in order again\n"
    await redis(settings, "FLUSHALL")
    async with open_services(settings) as services, relaying(settings):
        for game in games[:UNTOLD]:
            await services.log.append(append(game, 3))
        await eventually(lambda: _has_told(settings, 2 * TOLD + 2 * UNTOLD))
        now = await told(settings)
        assert [[version for name, version in now if name == game] for game in games] == [
            list(range(1, len(await services.log.read(game)) + 1)) for game in games
        ]
        assert [len(await services.log.read(game)) for game in games] == [4] * UNTOLD + [2] * (TOLD - UNTOLD)
    assert await shanghai_repair(settings) == "nothing to repair\n"


async def test_nothing_is_repaired_while_somebody_writes(
    restored: tuple[Settings, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, _ = restored
    monkeypatch.setattr("infra.postgres.repair._WAIT_MS", 50)
    writer = await asyncpg.connect(settings.database_url)
    async with writer.transaction():
        await writer.execute("LOCK TABLE event IN ROW EXCLUSIVE MODE")
        with pytest.raises(StillInUse):
            await repair(settings.database_url)
    await writer.close()


def copy(source: str, target: str) -> None:
    """Dumps one database and restores it into another, as an operator would."""
    dump = [str(postgres_folder() / "pg_dump"), "--format=custom", source]
    restore = [str(postgres_folder() / "pg_restore"), "--single-transaction", f"--dbname={target}"]
    dumped = subprocess.run(dump, check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(restore, check=True, input=dumped, stdout=subprocess.DEVNULL)


async def shanghai_repair(settings: Settings) -> str:
    """Runs the command and gives what it says."""
    command = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "infra.cli", "relay", "--repair"),
        env=environment({"SHANGHAI_DATABASE_URL": settings.database_url}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said, _ = await command.communicate()
    return said.decode()


async def _has_told(settings: Settings, count: int) -> bool:
    return len(await told(settings)) == count


async def _is_saved(owner: asyncpg.Connection) -> bool:
    return (await lag(owner.fetch)).seconds == 0.0
