"""Who may do what in the database: each role does its own work under a login of its own, and nothing else."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from msgspec import Struct
from msgspec.structs import replace

from infra.embedded.engines import Engines
from infra.postgres.announcing import leading_announcer
from infra.postgres.archive import archive, restore
from infra.postgres.leading import CLOCK_LOCK, leading
from infra.postgres.projector import leading_projector, rebuild
from infra.postgres.relay import leading_relay
from infra.postgres.work import PostgresWork
from infra.settings import Settings
from infra.wiring import open_services
from services.lobby import GameFilter
from services.projections import Projector
from tests.engines import new_database, run, settings_of
from tests.infra.months import MONTH, everybody_is_told, game_of, write
from tests.infra.projecting import PEOPLE

WRITER, PROJECTOR, OPERATOR = "shanghai_app", "shanghai_projector", "shanghai_operator"
LOGINS = {WRITER: "anna", PROJECTOR: "boris", OPERATOR: "clara"}


class Roles(Struct, frozen=True):
    """A server whose processes log in as ordinary users, each a member of one role."""

    settings: Settings
    owner_url: str
    urls: dict[str, str]


@pytest.fixture(scope="module")
def roles(engines: Engines) -> Iterator[Roles]:
    settings = settings_of(engines, new_database(engines))
    run(_make_logins(settings.database_url))
    urls = {role: _as_user(settings.database_url, login) for role, login in LOGINS.items()}
    apart = replace(settings, database_url=urls[WRITER], projector_database_url=urls[PROJECTOR])
    yield Roles(apart, settings.database_url, urls)
    run(_drop_logins(settings.database_url))


@pytest.fixture
async def owner(roles: Roles) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(roles.owner_url)
    yield connection
    await connection.close()


async def _make_logins(url: str) -> None:
    connection = await asyncpg.connect(url)
    for role, login in LOGINS.items():
        await connection.execute(f"CREATE ROLE {login} LOGIN NOSUPERUSER IN ROLE {role}")
    await connection.execute(f"SELECT make_month('{MONTH}'); SELECT attach_month('{MONTH}')")
    await connection.close()


async def _drop_logins(url: str) -> None:
    connection = await asyncpg.connect(url)
    for login in LOGINS.values():
        await connection.execute(f"DROP ROLE {login}")
    await connection.close()


def _as_user(url: str, login: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{login}@").geturl()


async def test_every_process_does_its_work_under_a_login_of_its_own(
    roles: Roles, owner: asyncpg.Connection, tmp_path: Path
) -> None:
    async with open_services(roles.settings) as services:
        game = await write(services, game_of(2026, 3), seed=1)
        assert await services.log.read(game)
        async with leading_relay(roles.settings.database_url) as relay:
            await relay.save(await relay.checkpoint())
        async with leading(roles.settings.database_url, CLOCK_LOCK, name="clock") as session:
            assert await PostgresWork(session).make_partitions() == 0
            await PostgresWork(session).forget_overtaken(10)
        async with leading_announcer(roles.settings.database_url) as announced:
            await announced.save((), (await announced.barrier())[0])
        async with leading_projector(roles.settings.projector_database_url) as log:
            await Projector(log).catch_up()
        assert len((await services.lobby.page(PEOPLE[0], GameFilter(), None, 10)).games) == 1
        await rebuild(roles.settings.projector_database_url)
        await everybody_is_told(roles.settings, owner)
        manifest = await archive(roles.urls[OPERATOR], MONTH, tmp_path)
        assert await services.log.read(game) == []
        await restore(roles.urls[OPERATOR], manifest)
        await rebuild(roles.settings.projector_database_url)
        assert await services.log.read(game)
        assert len((await services.lobby.page(PEOPLE[0], GameFilter(), None, 10)).games) == 1


_EVENT = (
    "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
    "VALUES (gen_random_uuid(), 1, 1, 1, 1, 0, gen_random_uuid(), '')"
)
_SECRETS = tuple(
    f"SELECT * FROM {table}" for table in ("game_secret", "token", "player", "reservation", "webhook", "stream_ticket")
)
_CHANGES = (
    "UPDATE event SET payload = ''",
    "DELETE FROM event",
    "TRUNCATE event",
    "DROP TABLE event",
    "ALTER TABLE event DETACH PARTITION event_default",
    "UPDATE event_default SET payload = ''",
    "DELETE FROM event_default",
    "DELETE FROM event_2026_03",
    "INSERT INTO event_2026_03 SELECT * FROM event",
    "UPDATE idempotency SET status = 1",
    "UPDATE operator_deed SET operator = 'nobody'",
    "DELETE FROM operator_deed",
    "DELETE FROM idempotency",
    "TRUNCATE idempotency",
    "UPDATE game_secret SET sealed = ''",
    "DELETE FROM archived_month",
    "CREATE TABLE mine ()",
)
FORBIDDEN = {
    WRITER: (
        *_CHANGES,
        "DELETE FROM game_secret",
        "UPDATE stream_ticket SET token_id = gen_random_uuid()",
        "DELETE FROM reservation",
        "INSERT INTO projection (build, is_served) VALUES (9, true)",
        "UPDATE lobby_game SET version = 1",
        "DELETE FROM standing",
        "SELECT detach_month('2026-03', 1, 1, '')",
    ),
    PROJECTOR: (
        *_CHANGES,
        *_SECRETS,
        _EVENT,
        "SELECT * FROM idempotency",
        "DELETE FROM work",
        "UPDATE relay_checkpoint SET xid = '0'",
        "SELECT make_event_partitions(1)",
        "SELECT detach_month('2026-03', 1, 1, '')",
    ),
    OPERATOR: (
        *_CHANGES,
        *_SECRETS,
        _EVENT,
        "SELECT * FROM idempotency",
        "DELETE FROM player_result",
        "UPDATE projection SET is_served = false",
        "UPDATE relay_checkpoint SET xid = '0'",
    ),
}


@pytest.mark.parametrize(
    ("role", "statement"), [(role, statement) for role, those in FORBIDDEN.items() for statement in those]
)
async def test_what_is_not_its_work_is_refused(roles: Roles, role: str, statement: str) -> None:
    """Also to a login that leaves the role it was given."""
    for settings in ({"role": role}, {}):
        connection = await asyncpg.connect(roles.urls[role], server_settings=settings)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
        await connection.close()


async def test_the_operator_cannot_drop_a_month_that_is_part_of_the_log(roles: Roles) -> None:
    connection = await asyncpg.connect(roles.urls[OPERATOR])
    with pytest.raises(asyncpg.RaiseError, match="event_2026_03 is part of the log"):
        await connection.execute(f"SELECT drop_month('{MONTH}')")
    await connection.close()
