"""`shanghai admin` and `shanghai doctor`: looking into an installation and its games from a terminal."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from infra.cli_help import RUNNING, WholeSentences
from infra.ending import database_errors_as_lines, errors_as_lines, fail

if TYPE_CHECKING:
    from domain.commands import Level
    from domain.state import Status
    from infra.doctor.finding import Finding
    from infra.office import Office

T = TypeVar("T")
Work = Callable[["Office"], Awaitable[T]]

_COLOURS = {"ok": "green", "warn": "yellow", "bad": "red"}


@click.command()
@RUNNING
@click.option("--api", help="The address of an API process to ask too: http://….")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def doctor(data: Path | None, api: str | None, *, as_json: bool) -> None:
    """Looks at an installation, changes nothing, and says what to do.

    Exit 0: all is well. 1: something will not go well for long. 2: something does not work.
    """
    from infra.doctor.examination import examine
    from infra.doctor.finding import bad, exit_code
    from infra.embedded.reaching import NothingRuns, settings_of
    from infra.settings import SettingRefused, read_settings

    async def look() -> int:
        findings = []
        async for finding in examine(settings, data, api):
            findings.append(finding)
            _show_finding(finding, as_json=as_json)
        return exit_code(findings)

    with errors_as_lines():
        try:
            settings = read_settings() if data is None else settings_of(data)
        except SettingRefused as refused:
            _show_finding(bad("settings", str(refused), "see shanghai settings, or give --data"), as_json=as_json)
            sys.exit(2)
        except NothingRuns as refused:
            _show_finding(bad("server", str(refused), f"shanghai up --data {data}"), as_json=as_json)
            sys.exit(2)
    sys.exit(asyncio.run(look()))


@click.group(cls=WholeSentences)
def admin() -> None:
    """Looks into games and players and mends them; everything but looking is noted and told to the table.

    The login of SHANGHAI_OPERATOR_DATABASE_URL has to be a member of shanghai_app.
    """


@admin.command()
@click.option("--player", help="Games that this player has opened or sits at: ply_….")
@click.option("--status", type=click.Choice(["waiting", "playing", "finished", "cancelled"]))
@click.option("--stalled", is_flag=True, help="Games where something should have happened and has not.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@RUNNING
def games(player: str | None, status: "Status | None", limit: int, data: Path | None, *, stalled: bool) -> None:
    """Lists games, the newest first."""
    from infra.admin_pages import print_games
    from services.operating import GamesSought

    sought = GamesSought(None, player, status, stalled)
    print_games(_run(data, lambda office: office.desk.games(sought, None, limit)))


@admin.command()
@click.argument("game_id")
@RUNNING
def game(game_id: str, data: Path | None) -> None:
    """Looks at a game from outside: no hand is shown, and nobody is told."""
    from infra.admin_pages import print_game
    from services.looking import GameLook, look_at

    async def look(office: "Office") -> GameLook:
        return await look_at(office.tables, office.accounts, office.desk, game_id, await office.now())

    print_game(_run(data, look))


@admin.command()
@click.argument("game_id")
@click.option("--after", default=0, show_default=True, type=click.IntRange(0), help="The last version already known.")
@RUNNING
def events(game_id: str, after: int, data: Path | None) -> None:
    """Prints a game's events with all hands open. While it is played, every seat is told first."""
    from infra.admin_pages import print_events
    from services.operating import read_log, render_log
    from services.rendering import EventBody, names_at

    async def read(office: "Office") -> tuple[EventBody, ...]:
        hot, upto = await read_log(office.tables, office.desk, office.operator, game_id)
        names = await names_at(office.accounts, [hot.game], hot.events)
        return render_log(hot, upto, after, upto, names)

    print_events(_run(data, read))


@admin.command()
@click.argument("game_id")
@click.option("--reason", required=True, help="Kept in the book; players do not see it.")
@RUNNING
def end(game_id: str, reason: str, data: Path | None) -> None:
    """Ends a game; nobody wins it."""
    from services.operating import end_game

    outcome = _run(data, lambda office: end_game(office.tables, office.desk, office.operator, game_id, reason, None))
    click.echo(f"{game_id} is ended, at version {outcome.last}")


@admin.command()
@click.argument("game_id")
@RUNNING
def unstick(game_id: str, data: Path | None) -> None:
    """Writes anew what is due in a game, so that it is handed out again; with --data it is done at once too."""
    from services.operating import unstick_game

    async def mend(office: "Office") -> int:
        what = (office.tables, office.desk, office.operator, game_id, None, office.secrets, office.now)
        await unstick_game(*what)
        return (await office.tables.fresh(game_id)).version

    click.echo(f"{game_id} has its work again, and is at version {_run(data, mend)}")


@admin.command("seat-bot")
@click.argument("game_id")
@click.argument("seat", type=int)
@click.option("--level", default="normal", show_default=True, type=click.Choice(["easy", "normal"]))
@RUNNING
def seat_bot(game_id: str, seat: int, level: "Level", data: Path | None) -> None:
    """Seats a bot for a person who is away, and who may reclaim the seat."""
    from services import operating

    _run(data, lambda office: operating.seat_bot(office.tables, office.desk, office.operator, game_id, seat, level))
    click.echo(f"a bot sits on seat {seat} of {game_id}")


@admin.command()
@click.argument("name_or_id")
@RUNNING
def player(name_or_id: str, data: Path | None) -> None:
    """Finds players by their id or a part of their name."""
    from infra.admin_pages import print_players
    from services.operating import FoundPlayer

    async def find(office: "Office") -> list[FoundPlayer]:
        known = await office.desk.player(name_or_id)
        return [known] if known else await office.desk.players(name_or_id, None, 50)

    print_players(_run(data, find))


@admin.command("revoke-tokens")
@click.argument("player_id")
@RUNNING
def revoke_tokens(player_id: str, data: Path | None) -> None:
    """Ends all tokens of a player and switches their webhooks off."""
    from services import operating

    _run(data, lambda office: operating.revoke_tokens(office.desk, office.operator, player_id))
    click.echo(f"{player_id} has no token any more, and no webhook that sends")


@admin.command("give-token")
@click.argument("player_id")
@RUNNING
def give_token(player_id: str, data: Path | None) -> None:
    """Prints a new token of a player whose tokens are all ended, this once: who has it is that player."""
    from services import operating
    from services.identity import GUEST_SCOPES, TooManyTokens

    async def give(office: "Office") -> str:
        return await operating.give_token(office.desk, office.accounts, office.operator, player_id, GUEST_SCOPES)

    try:
        click.echo(_run(data, give))
    except TooManyTokens:
        fail(f"{player_id} has as many tokens as there may be: revoke-tokens ends them", 1)


@admin.command()
@click.argument("player_id")
@click.option("--reason", required=True, help="Kept in the book; players do not see it.")
@RUNNING
def suspend(player_id: str, reason: str, data: Path | None) -> None:
    """Shuts a player out until they are let in again."""
    from infra.admin_pages import print_players
    from services.operating import suspend_player

    print_players([_run(data, lambda office: suspend_player(office.desk, office.operator, player_id, reason))])


@admin.command()
@click.argument("player_id")
@RUNNING
def resume(player_id: str, data: Path | None) -> None:
    """Lets a suspended player in again."""
    from infra.admin_pages import print_players
    from services.operating import resume_player

    print_players([_run(data, lambda office: resume_player(office.desk, office.operator, player_id))])


@admin.command()
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@RUNNING
def audit(limit: int, data: Path | None) -> None:
    """Lists what operators have asked for, the latest first."""
    from infra.admin_pages import print_deeds

    print_deeds(_run(data, lambda office: office.desk.deeds(None, limit)))


def _run(data: Path | None, work: "Work[T]") -> T:
    """Does something in the office; what an operator can understand is one line and exit code 1."""
    from domain.refusals import Refused
    from infra.embedded.reaching import settings_of
    from infra.office import open_office
    from infra.settings import read_database_url
    from services.outcomes import Busy, Denied, GameNotFound
    from services.ports import Unavailable

    with errors_as_lines(way_out="set it, or give --data"):
        if data is None:
            url, key = read_database_url(of="operator"), None
        else:
            settings = settings_of(data)
            url, key = settings.database_url, settings.secret_key

    async def in_office() -> T:
        async with open_office(url, key) as office:
            return await work(office)

    try:
        with database_errors_as_lines():
            return asyncio.run(in_office())
    except GameNotFound:
        fail("there is no such game", 1)
    except Refused as refused:
        fail(f"refused: {(type(refused.broken).__doc__ or '').splitlines()[0]}", 1)
    except Denied as denied:
        fail((type(denied).__doc__ or "").splitlines()[0], 1)
    except (Busy, Unavailable) as error:
        fail(f"the database cannot be used: {error}", 1)


def _show_finding(finding: "Finding", *, as_json: bool) -> None:
    import msgspec

    if as_json:
        click.echo(msgspec.json.encode(finding))
    else:
        level, rest = finding.line()[:4], finding.line()[4:]
        click.echo(click.style(level, fg=_COLOURS[finding.level]) + rest)
