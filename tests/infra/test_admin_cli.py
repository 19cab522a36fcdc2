"""`shanghai admin`: an operator at a terminal does what the API does, and it is noted and told in the same way."""

import pytest
from click.testing import CliRunner, Result
from msgspec import Struct

from domain.commands import Pace, SeatPlan
from domain.presets import preset
from infra.cli import main
from infra.settings import Settings
from infra.wiring import open_services
from services.games import NewGame, open_game, start_game
from services.identity import create_guest, who_is
from services.ports import KeyedRequest
from services.rendering import render_event
from services.tables import Tables
from services.tending import tend
from tests.contract.lists import project
from tests.engines import run

NOBODY = "gam_" + "0" * 26


class Open(Struct, frozen=True):
    """A game in which Anna and a bot have been dealt a round."""

    game_id: str
    anna: str
    token: str


@pytest.fixture(scope="module")
def opened(settings: Settings) -> Open:
    return run(_open(settings))


@pytest.fixture(autouse=True)
def _environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHANGHAI_OPERATOR_DATABASE_URL", settings.database_url)


async def _open(settings: Settings) -> Open:
    async with open_services(settings) as services:
        tables, guest = Tables(services.log), await create_guest(services.accounts, "Anna")
        principal = await who_is(services.accounts, guest.token)
        assert principal is not None
        seats = (SeatPlan("human", guest.player_id), SeatPlan("bot", level="easy"))
        new = NewGame(preset("davis"), Pace(), seats, "private", "none")
        keyed = KeyedRequest(guest.player_id, "createGame", "k", b"f" * 32)
        hot, _ = await open_game(tables, services.secrets, services.reservations, principal, new, keyed, 2)
        waiting = KeyedRequest(guest.player_id, "createGame", "w", b"f" * 32)
        await open_game(tables, services.secrets, services.reservations, principal, new, waiting, 2)
        await start_game(tables, principal, hot.game.game_id, KeyedRequest(guest.player_id, "startGame", "k", b""))
        await tend(tables, services.secrets, hot.game.game_id, now=services.work.now)
        await project(settings)
        return Open(hot.game.game_id, guest.player_id, guest.token)


def admin(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["admin", *arguments])


def printed(*arguments: str) -> str:
    result = admin(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def kinds(settings: Settings, game_id: str) -> list[tuple[str, str]]:
    """What Anna is told of operators."""

    async def read() -> list[tuple[str, str]]:
        async with open_services(settings) as services:
            shown = [render_event(recorded, 0, {}) for recorded in await services.log.read(game_id)]
            return [(event.kind, str(getattr(event.data, "what", ""))) for event in shown if event.actor == "operator"]

    return run(read())


def test_a_game_is_looked_at_and_nobody_is_told(settings: Settings, opened: Open) -> None:
    page = printed("game", opened.game_id)
    assert opened.game_id in page
    assert "playing" in page
    assert "Anna" in page
    assert "Bot 2" in page
    assert "turn warning at version" in page or "bots play at version" in page
    assert opened.game_id in printed("games", "--player", opened.anna)
    assert "game expires  due in 24 h" in printed("games", "--status", "waiting")
    assert printed("games", "--status", "finished") == "none\n"
    assert kinds(settings, opened.game_id) == []


def test_reading_the_events_is_told_to_the_table_and_noted(settings: Settings, opened: Open) -> None:
    page = printed("events", opened.game_id)
    assert '"hands":[[' in page
    assert '"stock":[' not in page
    assert kinds(settings, opened.game_id) == [("operator_acted", "log_read")]
    assert "read_log" in printed("audit", "--limit", "1")
    assert "game_opened" not in printed("events", opened.game_id, "--after", "5")


def test_a_game_is_unstuck_and_a_bot_seated_and_in_the_end_it_is_ended(settings: Settings, opened: Open) -> None:
    before = len(kinds(settings, opened.game_id))
    assert "has its work again" in printed("unstick", opened.game_id)
    assert "seat 0" in printed("seat-bot", opened.game_id, "0", "--level", "easy")
    assert "is ended" in printed("end", opened.game_id, "--reason", "Anna has asked for it")
    told = kinds(settings, opened.game_id)[before:]
    assert [what for kind, what in told if kind == "operator_acted"] == ["unstuck", "bot_seated", "ended"]
    assert "Anna has asked for it" in printed("audit")
    again = admin("end", opened.game_id, "--reason", "x")
    assert (again.exit_code, again.stderr) == (1, "shanghai: refused: The game is over.\n")


def test_a_player_is_found_suspended_let_in_and_signed_out(settings: Settings, opened: Open) -> None:
    async def is_known() -> bool:
        async with open_services(settings) as services:
            return await who_is(services.accounts, opened.token) is not None

    assert opened.anna in printed("player", "ann")
    assert opened.anna in printed("player", opened.anna)
    printed("suspend", opened.anna, "--reason", "insults")
    assert not run(is_known())
    printed("resume", opened.anna)
    assert run(is_known())
    printed("revoke-tokens", opened.anna)
    assert not run(is_known())

    async def speaks_for() -> str | None:
        async with open_services(settings) as services:
            principal = await who_is(services.accounts, printed_token)
            return None if principal is None else principal.player_id

    printed_token = printed("give-token", opened.anna).strip()
    assert run(speaks_for()) == opened.anna
    book = printed("audit")
    assert "give_token" in book
    assert printed_token not in book


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("game", NOBODY), "there is no such game"),
        (("events", "nonsense"), "there is no such game"),
        (("end", NOBODY, "--reason", "x"), "there is no such game"),
        (("suspend", "ply_" + "0" * 26, "--reason", "x"), "There is no such player."),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: tuple[str, ...], why: str) -> None:
    refused = admin(*arguments)
    assert (refused.exit_code, refused.stderr) == (1, f"shanghai: {why}\n")


def test_a_database_that_is_away_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHANGHAI_OPERATOR_DATABASE_URL", "postgresql://anna@127.0.0.1:1/shanghai")
    refused = admin("game", NOBODY)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("shanghai: the database cannot be used: ")
    assert refused.stderr.count("\n") == 1
    monkeypatch.delenv("SHANGHAI_OPERATOR_DATABASE_URL")
    assert admin("game", NOBODY).exit_code == 2


@pytest.mark.parametrize("name", ["[/b]", "[link=https://x.example]Anna[/link]", "[red]:smile:"])
def test_a_name_is_printed_as_it_is_and_can_steer_no_terminal(settings: Settings, name: str) -> None:
    async def add() -> str:
        async with open_services(settings) as services:
            return (await create_guest(services.accounts, name)).player_id

    player_id = run(add())
    assert name in printed("player", player_id)
    printed("suspend", player_id, "--reason", name)
    assert name in printed("audit", "--limit", "1")
