"""Postgres: its version and settings, who logs in with which rights, the schema, the log's tables, the key."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
from cryptography.exceptions import InvalidTag

from infra import migrations
from infra.doctor.finding import Finding, bad, judged, ok, warn
from infra.doctor.machine import look_at_clock, look_at_room
from infra.migrations import MONTHS_AHEAD
from infra.postgres.database import SESSION
from infra.postgres.secrets import Seal
from infra.sql import statements
from services.ids import public_id

OLDEST_POSTGRES = 150_000
WRITES_LONG_S = 5.0  # what writes longer holds the relay back
CROWDED = 0.8  # of the connections that may be open

_SQL = statements("doctor")
_SECRET = statements("accounts")["secret"]
_ROLES = ("shanghai_app", "shanghai_projector", "shanghai_operator")
_NEEDED = (
    ("shanghai_app", "event", "INSERT"),
    ("shanghai_app", "event", "SELECT"),
    ("shanghai_app", "work", "DELETE"),
    ("shanghai_app", "game_secret", "SELECT"),
    ("shanghai_projector", "event", "SELECT"),
    ("shanghai_projector", "lobby_game", "UPDATE"),
    ("shanghai_operator", "event", "SELECT"),
)
_FORBIDDEN = (
    *((role, "event", privilege) for role in _ROLES for privilege in ("UPDATE", "DELETE", "TRUNCATE")),
    *((role, table, "DELETE") for role in _ROLES for table in ("idempotency", "game_secret", "operator_deed")),
    *((role, table, "SELECT") for role in _ROLES[1:] for table in ("game_secret", "token")),
)


async def open_session(url: str) -> asyncpg.Connection:
    """Connects as whoever logs in, with bounds on every statement. Errors: those of asyncpg, OSError."""
    bounds = {name: value for name, value in SESSION.items() if name != "role"}
    server_settings = {**bounds, "application_name": "shanghai doctor"}
    return await asyncpg.connect(url, timeout=3, command_timeout=7, server_settings=server_settings)


async def look_at_server(session: asyncpg.Connection) -> list[Finding]:
    """Looks at the server itself, as whoever logs in: Postgres shows sessions of the same login only."""
    server = await session.fetchrow(_SQL["server"])
    unsafe = [name for name in ("fsync", "full_page_writes", "synchronous_commit") if server[name] == "off"]
    writer = await session.fetchrow(_SQL["writers"], WRITES_LONG_S)
    used, allowed = server["connections"], server["allowed"]
    return [
        judged(
            "postgres", server["named"], warns=False, fails=server["version"] < OLDEST_POSTGRES,
            todo="upgrade to Postgres 15 or newer",
        ),
        judged(
            "durability", f"off: {', '.join(unsafe)}" if unsafe else "every commit is on the disk when it is answered",
            warns=False, fails=bool(unsafe), todo="turn them on: what players were told could be lost",
        ),
        judged(
            "connections", f"{used} of {allowed} are open", warns=used > CROWDED * allowed, fails=used >= allowed,
            todo="raise max_connections, or run fewer processes",
        ),
        judged(
            "transactions",
            f"{writer['name']} (pid {writer['pid']}) writes since {writer['age_s']:.0f} s" if writer
            else "nobody writes for long",
            warns=writer is not None, todo="end it: every reader of the log waits for it",
        ),
        look_at_clock("postgres", await ahead_s(session)),
    ]  # fmt: skip


async def look_at_logins(session: asyncpg.Connection, *, is_embedded: bool) -> list[Finding]:
    """Looks who logs in, and what the roles may do."""
    login = await session.fetchrow(_SQL["login"])
    if login["is_superuser"] and is_embedded:
        who = ok("login", f"{login['name']}, behind a socket that only its owner reaches")
    else:
        might = "a superuser" if login["is_superuser"] else "makes roles or databases" if login["is_mighty"] else ""
        told = f"{login['name']} is {might}" if might else f"{login['name']} has no rights of its own"
        todo = "let processes log in as members of shanghai_app and no more"
        who = judged("login", told, warns=bool(might), fails=login["is_superuser"], todo=todo)
    return [who, await _roles(session)]


async def look_at_schema(session: asyncpg.Connection) -> Finding:
    """Compares the migrations that were applied with those of this version."""
    try:
        book = {row["name"]: row["sha256"] for row in await session.fetch(_SQL["migrations"])}
    except asyncpg.UndefinedTableError:
        book = {}
    except asyncpg.InsufficientPrivilegeError:
        return bad("schema", "its book may not be read", "shanghai migrate, with the owner's login")
    files = migrations.files()
    missing, newer = sorted(files.keys() - book.keys()), sorted(book.keys() - files.keys())
    changed = [name for name in files if name in book and migrations.checksum(files[name]) != book[name]]
    if missing:
        return bad("schema", f"{', '.join(missing)} not applied", "shanghai migrate, with the owner's login")
    if changed:
        return bad("schema", f"{', '.join(changed)} applied with other content", "install what migrated it")
    if newer:
        return warn("schema", f"of a newer version ({newer[-1]})", "upgrade this installation too")
    return ok("schema", f"{len(files)} migrations, the last {max(files)}")


async def look_at_log(session: asyncpg.Connection) -> list[Finding]:
    """Looks at the log's partitions. Acts as the application."""
    missing = [row["month"] for row in await session.fetch(_SQL["partitions"], MONTHS_AHEAD)]
    astray = await session.fetchval(_SQL["astray"])
    return [
        judged(
            "partitions", f"none for {', '.join(missing)}" if missing else f"made {MONTHS_AHEAD} months ahead",
            warns=bool(missing), todo="keep a clock running, or run shanghai migrate",
        ),
        judged(
            "event_default", f"holds events, of {public_id('gam', astray)} first" if astray else "is empty",
            warns=False, fails=astray is not None,
            todo="move them by hand: their months can be neither made nor restored",
        ),
    ]  # fmt: skip


async def look_at_key(session: asyncpg.Connection, key: bytes) -> Finding:
    """Tries the secret key on the oldest and the newest seeds. Acts as the application."""
    games = [row["game_id"] for row in await session.fetch(_SQL["sealed"])]
    for game in games:
        try:
            Seal(key).open(await session.fetchval(_SECRET, game), public_id("gam", game))
        except InvalidTag:
            found = f"does not open the seed of {public_id('gam', game)}"
            return bad("secret key", found, "give SHANGHAI_SECRET_KEY that was in force then; no round can be dealt")
    return ok("secret key", f"opens the {len(games)} seeds that were tried" if games else "there is no seed yet")


async def look_at_disk(session: asyncpg.Connection) -> Finding:
    """Looks at the disk of the database, where it lies on this machine."""
    try:
        place = await session.fetchrow(_SQL["data_directory"])
    except asyncpg.InsufficientPrivilegeError:
        return ok("database's disk", "cannot be seen with this login")
    if not place["is_here"]:
        return ok("database's disk", "cannot be seen from this machine")
    return look_at_room("database's disk", Path(place["folder"]))


async def ahead_s(session: asyncpg.Connection) -> float:
    """Measures by how much Postgres's clock is ahead of this machine's."""
    before = time.time()
    told: datetime = await session.fetchval(_SQL["now"])
    middle = datetime.fromtimestamp((before + time.time()) / 2, UTC)
    return (told - middle).total_seconds()


async def _roles(session: asyncpg.Connection) -> Finding:
    roles = {row["name"]: row["is_mighty"] for row in await session.fetch(_SQL["roles"], _ROLES)}
    wrong = [f"{role} is missing" for role in _ROLES if role not in roles]
    if not wrong:
        wrong += [f"{role} logs in or has rights over the server" for role, is_mighty in roles.items() if is_mighty]
        wrong += [f"{role} may not {do} {table}" for role, table, do, held in await _held(session, _NEEDED) if not held]
        wrong += [f"{role} may {do} {table}" for role, table, do, held in await _held(session, _FORBIDDEN) if held]
    found = ", ".join(wrong) or "each may do its own work and nothing else"
    return judged("roles", found, warns=False, fails=bool(wrong), todo="grant and revoke as infra/migrations do")


async def _held(session: asyncpg.Connection, rights: tuple[tuple[str, str, str], ...]) -> Iterator[Any]:
    roles, tables, privileges = (list(column) for column in zip(*rights, strict=True))
    return iter(await session.fetch(_SQL["rights"], roles, tables, privileges))
