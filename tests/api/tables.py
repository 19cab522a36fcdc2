"""Tables made and played by hand, and brought to an end."""

from random import Random
from typing import Any

from domain.events import GameFinished
from services.ids import new_uuid
from services.ports import Append, NewEvent
from tests.api.world import Player, World


async def finish(world: World, game_id: str, *totals: int) -> None:
    """Ends a game with these points; fewest win."""
    winners = tuple(seat for seat, total in enumerate(totals) if total == min(totals))
    over = NewEvent(GameFinished(winners, totals), "table", None, new_uuid(), 0)
    version = (await world.house.tables.fresh(game_id)).version
    await world.log.append(Append(game_id, version, (over,)))


async def table(world: World, guests: list[Player], **changes: Any) -> tuple[str, str]:
    """Opens a game for the first three guests and deals; gives its id and the code of an invite."""
    seats = [{"controller": "you"}, {"controller": "open"}, {"controller": "open"}]
    pace = {"claim_window_s": 5, "turn_s": 3600, "bot_delay_ms": 0}
    game_id = (await guests[0].open_game(**{"seats": seats, "pace": pace} | changes))["game_id"]
    invite = await guests[0].sent("POST", f"/v1/games/{game_id}/invites", {})
    for guest in guests[1:3]:
        await guest.sent("POST", f"/v1/invites/{invite['code']}/accept")
    await guests[0].sent("POST", f"/v1/games/{game_id}/start")
    await world.tend(game_id)
    return game_id, invite["code"]


async def play(world: World, game_id: str, seated: list[Player], random: Random, *, moves: int) -> None:
    """Lets people send options by chance until so many were sent, or the round is over."""
    for _ in range(moves):
        await world.tend(game_id)
        asked = [(player, decision) for player in seated for decision in (await player.view(game_id))["decisions"]]
        if asked:
            player, decision = random.choice(asked)
            options = [move for move in decision["options"] if move.get("rest_of_round") is not True]
            sent = await player.move(game_id, decision["decision_id"], random.choice(options))
            assert sent.status_code == 201, sent.text
