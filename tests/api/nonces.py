"""Games whose players add nonces."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

from services.tending import tend
from tests.api.world import Json, Player, World

ANNAS, BORISES = "00112233445566778899aabbccddeeff", "ff" * 16


def commitment_to(nonce: str) -> str:
    """Gives what a player sends first who will reveal this nonce."""
    return sha256(bytes.fromhex(nonce)).hexdigest()


async def started_game(anna: Player, boris: Player) -> str:
    """Opens a game in which Anna and Boris have given commitments, and starts it; the nonces are asked for."""
    seats = [{"controller": "you", "nonce_commitment": commitment_to(ANNAS)}, {"controller": "open"}]
    game_id: str = (await anna.open_game(seats=seats))["game_id"]
    await boris.sent("PUT", f"/v1/games/{game_id}/seats/1", {"nonce_commitment": commitment_to(BORISES)})
    game = await anna.sent("POST", f"/v1/games/{game_id}/start")
    assert game["status"] == "waiting"
    return game_id


async def reveal(player: Player, game_id: str, seat: int, nonce: str) -> Json:
    """Reveals a nonce."""
    return await player.sent("POST", f"/v1/games/{game_id}/seats/{seat}/nonce", {"nonce": nonce})


async def events(player: Player, game_id: str, *kinds: str) -> list[Json]:
    """Reads the events of these kinds."""
    page = await player.sent("GET", f"/v1/games/{game_id}/events?limit=500")
    return [event for event in page["items"] if event["kind"] in kinds]


async def look_after(world: World, game_id: str, *, seconds: int) -> None:
    """Does what a worker does when so much time has passed."""

    async def now() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=seconds)

    await tend(world.house.tables, world.secrets, game_id, now=now)
