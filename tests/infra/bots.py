"""Games of bots on a real log, played on as a worker does."""

from domain.commands import Pace, SeatPlan
from domain.presets import preset
from infra.wiring import Services
from services.games import NewGame, open_game, start_game
from services.ids import new_uuid, public_id
from services.ports import KeyedRequest, Principal
from services.tables import Tables
from services.tending import tend

ANNA = Principal(public_id("ply", new_uuid()), "Anna", ("play",))
_TOKEN = bytes(32)


async def living_anna(services: Services) -> Principal:
    """Is Anna with a token that lives: everybody else's streams end after two seconds."""
    if await services.accounts.principal(_TOKEN) is None:
        await services.accounts.add_guest(ANNA.player_id, ANNA.name, _TOKEN, list(ANNA.scopes))
    anna = await services.accounts.principal(_TOKEN)
    assert anna is not None
    return anna


async def new_bots_game(services: Services, bots: int = 2) -> str:
    """Opens and starts a game of bots in another process; its first round waits to be dealt."""
    new = NewGame(
        rules=preset("davis"),
        pace=Pace(bot_delay_ms=0),
        seats=(SeatPlan("bot", None, "easy"),) * bots,
        visibility="public",
        spectators="public",
    )
    tables, key = Tables(services.log), KeyedRequest(ANNA.player_id, "open", str(new_uuid()), b"")
    hot, _ = await open_game(tables, services.secrets, services.reservations, ANNA, new, key, 1_000)
    await start_game(tables, ANNA, hot.game.game_id, key)
    return hot.game.game_id


async def play(services: Services, game_id: str, events: int) -> int:
    """Plays on as a worker does, at least so many events; gives the game's version."""
    tables = Tables(services.log)
    until = (await tables.fresh(game_id)).version + events
    while (version := (await tables.fresh(game_id)).version) < until:
        await tend(tables, services.secrets, game_id, now=services.work.now)
    return version
