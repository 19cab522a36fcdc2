"""Tables laid in a log."""

from domain.commands import Controller, OpenGame, Pace, SeatPlan
from domain.luck import link
from domain.presets import preset
from services.ids import new_uuid
from services.tables import Tables
from tests.appends import new_game

SEED = bytes(32)


async def opened(tables: Tables, controller: Controller = "human") -> str:
    """Opens a game for four, on whose seats people or bots sit."""
    game_id = new_game()
    plans = tuple(SeatPlan(controller, f"ply_{seat}" if controller == "human" else None) for seat in range(4))
    command = OpenGame(game_id, preset("davis"), Pace(), plans, link(SEED, 0).hex())
    await tables.carry_out(game_id, lambda draft: draft.carry_out(command, "player", new_uuid()))
    return game_id
