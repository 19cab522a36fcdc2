"""`shanghai doctor`: each thing is broken in turn, on real engines, and has its line."""

import json
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from redis import Redis

from infra.cli import main
from infra.doctor import bus, database, machine, roll, running
from infra.embedded.engines import Engines
from infra.embedded.ports import free_port
from infra.settings import Settings
from infra.wiring import open_services
from tests.appends import append, new_game
from tests.contract.lists import new_player, next_game, project, start
from tests.engines import new_database, run, settings_of
from tests.infra.examined import all_alive, all_led, execute, look, owners

LOGIN = "doctors_patient"


@pytest.fixture(scope="module")
def settings(engines: Engines) -> Iterator[Settings]:
    """An installation whose processes log in with nothing but the application's rights."""
    owned = settings_of(engines, new_database(engines))
    run(execute(owned.database_url, f"CREATE ROLE {LOGIN} LOGIN IN ROLE shanghai_app"))
    yield replace(owned, database_url=urlsplit(owned.database_url)._replace(netloc=f"{LOGIN}@").geturl())
    run(execute(owned.database_url, f"DROP ROLE {LOGIN}"))


@pytest.fixture
async def owner(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(owners(settings))
    yield connection
    await connection.close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll, "_LOOKS", 1)
    monkeypatch.setattr(running, "_HANDOVER_S", 0.0)


async def test_a_sound_installation_is_well_but_for_the_tests_own_engines(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roll, "_LOOKS", 100)
    async with all_alive(settings), all_led(settings):
        found = await look(settings)
    wrong = {what: finding for what, finding in found.items() if finding.level != "ok"}
    assert wrong.keys() == {"durability"}  # no test pulls the machine's plug
    assert (found["durability"].level, found["durability"].found) == ("bad", "off: fsync")
    assert len(found) >= 20


async def test_an_unreachable_postgres_is_told_once(settings: Settings) -> None:
    found = await look(replace(settings, database_url=f"postgresql://anna@127.0.0.1:{free_port()}/shanghai"))
    assert found["postgres"].level == "bad"
    assert "cannot be reached" in found["postgres"].found
    assert not {"schema", "relay", "games"} & found.keys()
    assert found["redis"].level == "ok"


async def test_a_login_without_the_applications_role_is_told(settings: Settings, owner: asyncpg.Connection) -> None:
    await owner.execute("CREATE ROLE stranger LOGIN; GRANT SELECT ON schema_migration TO stranger")
    try:
        found = await look(
            replace(settings, database_url=urlsplit(settings.database_url)._replace(netloc="stranger@").geturl())
        )
    finally:
        await owner.execute("DROP OWNED BY stranger; DROP ROLE stranger")
    assert "permission denied" in found["database"].found
    assert "shanghai_app" in found["database"].todo


async def test_a_superuser_should_not_log_in_but_where_nobody_else_reaches_it(settings: Settings) -> None:
    mighty = replace(settings, database_url=owners(settings))
    assert (await look(mighty))["login"].level == "bad"
    session = await database.open_session(mighty.database_url)
    assert (await database.look_at_logins(session, is_embedded=True))[0].level == "ok"
    await session.close()


async def test_versions_that_are_too_old_are_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "OLDEST_POSTGRES", 990_000)
    monkeypatch.setattr(bus, "OLDEST_REDIS", 99)
    found = await look(settings)
    assert (found["postgres"].level, found["redis"].level) == ("bad", "bad")
    assert machine.look_at_python((3, 10, 9)).level == "bad"
    assert machine.look_at_python().level == "ok"


COLUMNS = "(game_id, version, type, schema, actor, ordinal, command_id, payload)"
LONG_AGO = "00000000-0000-7000-8000-000000000001"
BROKEN = [
    ("GRANT UPDATE ON event TO shanghai_app", "REVOKE UPDATE ON event FROM shanghai_app", "roles", "bad"),
    ("REVOKE INSERT ON event FROM shanghai_app", "GRANT INSERT ON event TO shanghai_app", "roles", "bad"),
    ("GRANT SELECT ON token TO shanghai_projector", "REVOKE SELECT ON token FROM shanghai_projector", "roles", "bad"),
    ("ALTER ROLE shanghai_operator CREATEDB", "ALTER ROLE shanghai_operator NOCREATEDB", "roles", "bad"),
    (f"ALTER ROLE {LOGIN} CREATEROLE", f"ALTER ROLE {LOGIN} NOCREATEROLE", "login", "warn"),
    (
        f"ALTER ROLE {LOGIN} SET synchronous_commit = off",
        f"ALTER ROLE {LOGIN} RESET synchronous_commit",
        "durability",
        "bad",
    ),
    (
        "UPDATE schema_migration SET name = '0x' || name WHERE name LIKE '0008%'",
        "UPDATE schema_migration SET name = substr(name, 3) WHERE name LIKE '0x%'",
        "schema",
        "bad",
    ),
    (
        "UPDATE schema_migration SET sha256 = 'x' || sha256 WHERE name LIKE '0008%'",
        "UPDATE schema_migration SET sha256 = substr(sha256, 2) WHERE name LIKE '0008%'",
        "schema",
        "bad",
    ),
    (
        "INSERT INTO schema_migration (name, sha256) VALUES ('9999_later.sql', '')",
        "DELETE FROM schema_migration WHERE name = '9999_later.sql'",
        "schema",
        "warn",
    ),
    (
        "REVOKE SELECT ON schema_migration FROM shanghai_app",
        "GRANT SELECT ON schema_migration TO shanghai_app",
        "schema",
        "bad",
    ),
    (
        f"INSERT INTO event_default {COLUMNS} VALUES ('{LONG_AGO}', 1, 1, 1, 1, 0, gen_random_uuid(), '')",
        "DELETE FROM event_default",
        "event_default",
        "bad",
    ),
]


@pytest.mark.parametrize(("breaking", "mending", "what", "level"), BROKEN, ids=[each[0][:40] for each in BROKEN])
async def test_what_is_broken_in_the_database_has_its_line(
    settings: Settings, owner: asyncpg.Connection, breaking: str, mending: str, what: str, level: str
) -> None:
    was = (await look(settings))[what]
    await owner.execute(breaking)
    try:
        found = (await look(settings))[what]
    finally:
        await owner.execute(mending)
    assert found.level == level
    assert found != was
    assert (await look(settings))[what] == was


async def test_a_month_without_its_partition_is_told(settings: Settings, owner: asyncpg.Connection) -> None:
    [last] = await owner.fetchrow("SELECT max(relname) FROM pg_class WHERE relname ~ '^event_20[0-9_]+$'")
    await owner.execute(f"DROP TABLE {last}")
    found = (await look(settings))["partitions"]
    await owner.execute("SELECT make_event_partitions(2)")
    assert (found.level, found.found) == ("warn", f"none for {last.removeprefix('event_')}")


async def test_connections_that_run_out_are_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "CROWDED", 0.0)
    assert (await look(settings))["connections"].level == "warn"


async def test_a_transaction_that_writes_for_long_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "WRITES_LONG_S", 0.0)
    writer = await asyncpg.connect(settings.database_url, server_settings={"application_name": "somebody's script"})
    async with writer.transaction():
        await writer.execute("SELECT pg_current_xact_id()")
        found = (await look(settings))["transactions"]
    await writer.close()
    assert found.level == "warn"
    assert found.found.startswith("somebody's script (pid ")


async def test_another_secret_key_than_the_seeds_were_kept_with_is_told(settings: Settings) -> None:
    async with open_services(settings) as services:
        await services.secrets.keep(new_game(), bytes(32))
    assert (await look(settings))["secret key"].level == "ok"
    found = (await look(replace(settings, secret_key=b"\xff" * 32)))["secret key"]
    assert found.level == "bad"
    assert "ff" * 8 not in found.line()


async def test_a_relay_that_is_behind_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ALERT_S", 0.0)
    async with open_services(settings) as services:
        await services.log.append(append(new_game()))
    assert (await look(settings))["relay"].level == "bad"


async def test_games_that_stand_still_are_named(settings: Settings) -> None:
    async with open_services(settings) as services:
        game = await start(services.log, next_game(), new_player(), overdue_s=60)
    await project(replace(settings, database_url=owners(settings)))
    found = (await look(settings))["games"]
    assert found.level == "warn"
    assert game in found.found


@pytest.mark.parametrize(
    ("name", "value", "back", "what", "level"),
    [
        ("maxmemory-policy", "allkeys-lru", "noeviction", "redis evictions", "bad"),
        ("appendonly", "no", "yes", "redis file", "warn"),
        ("maxmemory", "1", "0", "redis memory", "bad"),
        ("maxmemory", "{used}", "0", "redis memory", "warn"),
    ],
)
async def test_what_is_wrong_with_redis_has_its_line(
    settings: Settings, name: str, value: str, back: str, what: str, level: str
) -> None:
    with Redis.from_url(settings.bus_url) as redis:
        redis.config_set("maxmemory-policy", "noeviction")
        used = redis.info("memory")["used_memory"]
        redis.config_set(name, value.format(used=int(used * 1.1)))
        try:
            found = (await look(settings))[what]
        finally:
            redis.config_set(name, back)
    assert found.level == level


async def test_an_unreachable_redis_and_broker_are_told_each(settings: Settings) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    found = await look(replace(settings, bus_url=f"redis://{nowhere}", broker_url=f"amqp://{nowhere}//"))
    assert (found["bus"].level, found["broker"].level, found["limits"].level) == ("bad", "bad", "ok")
    assert "SHANGHAI_BUS_URL" in found["bus"].todo


async def test_an_api_that_does_not_answer_is_told(settings: Settings) -> None:
    assert (await look(settings, api=f"http://127.0.0.1:{free_port()}"))["api"].level == "bad"


async def test_the_clock_of_another_machine_is_compared_with_ours(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 60)
    found = await look(settings)
    assert (found["clock of postgres"].level, found["clock of redis"].level) == ("bad", "bad")


async def test_a_redis_that_does_not_answer_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.bus.wire._ANSWER_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        [found] = await bus.look_at_engines(replace(settings, bus_url=url, broker_url=url, limits_url=url))
    assert (found.level, found.found) == ("bad", "cannot be reached: TimeoutError")


def test_the_command_prints_a_line_for_each_or_json(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("database_url", "bus_url", "broker_url", "limits_url"):
        monkeypatch.setenv(f"SHANGHAI_{name.upper()}", getattr(settings, name))
    monkeypatch.setenv("SHANGHAI_SECRET_KEY", settings.secret_key.hex())
    told = CliRunner().invoke(main, ["doctor"])
    assert told.exit_code == 2
    assert f"ok    python                {'.'.join(map(str, sys.version_info[:3]))}" in told.stdout
    as_json = CliRunner().invoke(main, ["doctor", "--json"])
    lines = [json.loads(line) for line in as_json.stdout.splitlines()]
    assert {line["what"] for line in lines} >= {"postgres", "redis", "processes"}
    monkeypatch.setenv("SHANGHAI_PORT", "many")
    refused = CliRunner().invoke(main, ["doctor", "--json"])
    assert refused.exit_code == 2
    assert json.loads(refused.stdout)["found"].startswith("SHANGHAI_PORT: ")


def test_a_folder_whose_server_does_not_run_is_bad(tmp_path: Path) -> None:
    told = CliRunner().invoke(main, ["doctor", "--data", str(tmp_path)])
    line = f"bad   server                no `shanghai up` runs on {tmp_path}: shanghai up --data {tmp_path}\n"
    assert (told.exit_code, told.output) == (2, line)
    as_json = CliRunner().invoke(main, ["doctor", "--data", str(tmp_path), "--json"])
    assert json.loads(as_json.output)["level"] == "bad"
