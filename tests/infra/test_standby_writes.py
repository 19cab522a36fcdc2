"""What is acknowledged beside moves is on the standby too: players, tokens, invites, webhooks, seats, tickets."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import httpx
import pytest

from infra import migrations, postgres
from infra.postgres import database as database_module
from infra.postgres import lane as lane_module
from infra.postgres import work
from infra.postgres.accounts import PostgresAccounts
from infra.postgres.database import Database, LeftAlone
from infra.settings import Settings, read_settings
from infra.sql import statements
from services.ids import new_uuid, public_id
from services.ports import Unavailable
from tests.engines import eventually
from tests.infra.full_disk import served
from tests.standby import Pair, ask, pair

PATIENCE_S = 0.3  # instead of seven seconds
GUESTS_BEFORE = 20

WRITES = {
    "a player": ("POST", "/v1/players", {"name": "Boris"}, "SELECT count(*) FROM player"),
    "a token": ("POST", "/v1/me/tokens", {"scopes": ["play"], "label": "phone"}, "SELECT count(*) FROM token"),
    "a name": ("PATCH", "/v1/me", {"name": "Anna II"}, "SELECT count(*) FROM player WHERE name = 'Anna II'"),
    "an invite": ("POST", "/v1/games/{game}/invites", {}, "SELECT count(*) FROM invite"),
    "a webhook": (
        "POST", "/v1/me/webhooks", {"url": "https://hooks.example/x", "types": ["game.round_scored"]},
        "SELECT count(*) FROM webhook",
    ),
    "a seat": ("PUT", "/v1/games/{game}/seats/1/bot", {"level": "easy"}, "SELECT max(version) FROM event"),
    "a wish to play": (
        "POST", "/v1/matchmaking/tickets", {"ruleset": "davis"}, "SELECT count(*) FROM match_ticket",
    ),
    "a game": (
        "POST", "/v1/games", {"ruleset": "davis", "seats": [{"controller": "you"}, {"controller": "bot"}]},
        "SELECT count(DISTINCT game_id) FROM event",
    ),
}  # fmt: skip

WRITING = re.compile(r"^(?!--).*\b(INSERT INTO|UPDATE|DELETE FROM)\b", re.MULTILINE)
FUNCTION = re.compile(r"^CREATE (?:OR REPLACE )?FUNCTION (\w+)\(.*?\$\$(.*?)\$\$", re.MULTILINE | re.DOTALL)
_WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
SHOWN_ONCE = ("a player", "a token", "a webhook")  # what has a secret in its answer is not repeated: one more is made


@pytest.fixture(scope="module")
def standing_by() -> Iterator[Pair]:
    with pair(is_synchronous=True) as both:
        yield both


@pytest.fixture
def lost() -> Iterator[Pair]:
    with pair(is_synchronous=True) as both:
        yield both


@pytest.fixture
def settings(standing_by: Pair) -> Settings:
    variables = {"DATABASE_URL": standing_by.url, "REDIS_URL": "unix:///nowhere", "SECRET_KEY": "00" * 32}
    return read_settings({f"SHANGHAI_{name}": value for name, value in variables.items()})


@asynccontextmanager
async def parted(both: Pair, answer_s: float = PATIENCE_S) -> AsyncIterator[None]:
    """Has the standby hear nothing while the block runs; afterwards it hears again."""
    await asyncio.to_thread(both.part)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database_module, "ANSWER_S", answer_s)
            patch.setattr(lane_module, "ANSWER_S", answer_s)
            patch.setattr(lane_module, "_SENT_AGAIN_S", answer_s)
            yield
    finally:
        both.reunite()
        await eventually(lambda: asyncio.to_thread(_hears, both))


@asynccontextmanager
async def accounts(both: Pair) -> AsyncIterator[PostgresAccounts]:
    database = Database(both.url, size=4, name="test")
    try:
        yield PostgresAccounts(database)
    finally:
        await database.close()


async def add(accounts: PostgresAccounts, number: int) -> bytes:
    """Adds a player, and gives the hash of their token."""
    token = number.to_bytes(32)
    await accounts.add_guest(public_id("ply", new_uuid()), "Boris", token, ["play"])
    return token


@pytest.mark.parametrize("what", WRITES)
async def test_nothing_is_acknowledged_or_shown_that_the_standby_lacks(
    standing_by: Pair, settings: Settings, what: str
) -> None:
    method, path, body, count = WRITES[what]
    async with served(settings) as anna:
        game = (await anna.open_game())["game_id"]

        def send(key: str) -> "asyncio.Task[httpx.Response]":
            return asyncio.create_task(anna.call(method, path.format(game=game), body, idempotency_key=key))

        before = ask(standing_by.url, count)
        async with parted(standing_by):
            refused = await send("k")
            assert (refused.status_code, refused.json()["code"]) == (503, "unavailable"), refused.text
            assert int(refused.headers["retry-after"]) > 0
            assert ask(standing_by.url, count) == before
            read = await anna.call("GET", f"/v1/games/{game}")
            assert read.status_code == 200, read.text  # reading goes on

        async def is_taken() -> bool:
            return (await send("k")).is_success

        await eventually(is_taken)
        made = int(ask(standing_by.url, count)) - int(before)
        assert made in ((1, 2) if what in SHOWN_ONCE else (1,))


async def test_behind_a_write_that_waits_nothing_takes_up_a_session_of_its_own(standing_by: Pair) -> None:
    async with accounts(standing_by) as known:
        async with parted(standing_by):
            with pytest.raises(Unavailable):
                await add(known, 1)
            for number in (2, 3):
                with pytest.raises(Unavailable, match="standby"):
                    await add(known, number)
            assert await known.principal((1).to_bytes(32)) is None
        await eventually(lambda: known.principal((1).to_bytes(32)))
        await add(known, 4)


async def test_one_that_is_left_alone_while_others_are_asked_after_is_remembered(standing_by: Pair) -> None:
    """The answer says nothing of it: taken for done, it would have further ones take up sessions behind it."""
    is_left = asyncio.Event()

    class Unhurried(Database):
        """Gets its answer about those that were left alone when another one is."""

        async def fetch(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
            rows = await super().fetch(statement, *arguments)
            await is_left.wait()
            return rows

    database = Unhurried(standing_by.url, size=4, name="test")
    known = PostgresAccounts(database)
    async with parted(standing_by, answer_s=3.0):
        first = asyncio.create_task(add(known, 21))
        await eventually(lambda: asyncio.to_thread(_waits, standing_by))
        [pid] = ask(standing_by.primary.url, _WAITING).split()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database_module, "ANSWER_S", 5.0)
            second = asyncio.create_task(add(known, 22))
            await asyncio.wait([first])
        ask(standing_by.primary.url, f"SELECT pg_terminate_backend({pid}, 5000)")  # the one that is asked after is done
        third = asyncio.create_task(add(known, 23))
        await asyncio.wait([second])
        is_left.set()
        with pytest.raises(Unavailable, match="standby"):
            await third
        assert [type(each.exception()) for each in (first, second)] == [LeftAlone, LeftAlone]
    await eventually(lambda: known.principal((22).to_bytes(32)))
    await add(known, 24)
    await database.close()


async def test_a_write_whose_caller_has_gone_is_not_cancelled(standing_by: Pair) -> None:
    """Postgres shows a cancelled one to everybody."""
    async with accounts(standing_by) as known:
        await known.names([])
        async with parted(standing_by, answer_s=30):
            writing = asyncio.create_task(add(known, 11))
            await eventually(lambda: asyncio.to_thread(_waits, standing_by))
            writing.cancel()
            await asyncio.wait([writing])
            assert await known.principal((11).to_bytes(32)) is None
            assert await asyncio.to_thread(_waits, standing_by)
        await eventually(lambda: known.principal((11).to_bytes(32)))


async def test_every_player_who_was_acknowledged_outlives_the_primary(lost: Pair) -> None:
    acknowledged: list[bytes] = []
    async with accounts(lost) as known:

        async def join(first: int) -> None:
            for number in range(first, first + 100_000):
                try:
                    acknowledged.append(await add(known, number))
                except Unavailable:
                    return

        joining = [asyncio.create_task(join((each + 1) << 32)) for each in range(4)]
        await eventually(lambda: len(acknowledged) > GUESTS_BEFORE)
        await asyncio.to_thread(lost.lose_primary)
        await asyncio.gather(*joining)
        await asyncio.to_thread(lost.promote)
        assert [token for token in acknowledged if await known.principal(token) is None] == []


def test_every_statement_that_writes_goes_the_way_that_waits_for_the_standby() -> None:
    """But for what leaders write on their sessions, the clock's work.py too: anybody can make that again."""
    wrong, right = [], 0
    functions = [FUNCTION.findall(file.read_text()) for file in Path(migrations.__file__).parent.glob("*.sql")]
    writers = {name for found in functions for name, body in found if WRITING.search(body)}
    assert "end_token" in writers
    calls_a_writer = re.compile(rf"\b({'|'.join(writers)})\(")
    for file in {*Path(postgres.__file__).parent.glob("*.py")} - {Path(work.__file__)}:
        text = file.read_text()
        sql = {name: statements(of) for name, of in re.findall(r'^(_\w+) = statements\("(\w+)"\)', text, re.MULTILINE)}
        for way, of, name in re.findall(r'_database\.(\w+)\(\s*(_\w+)\["(\w+)"\]', text):
            does_write = bool(WRITING.search(sql[of][name]) or calls_a_writer.search(sql[of][name]))
            right += does_write and way == "write"
            wrong += [(file.name, name, way)] if does_write != (way == "write") else []
    assert wrong == []
    assert right > 25


def _hears(both: Pair) -> bool:
    return ask(both.primary.url, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"


def _waits(both: Pair) -> bool:
    return ask(both.primary.url, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") != "0"
