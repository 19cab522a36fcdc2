"""Tokens of a test's own choice."""

from services.identity import Scope, token_hash
from services.ids import new_uuid, public_id
from services.ports import NewToken
from tests.api.world import Player, World


async def allow(world: World, player: Player, scopes: tuple[Scope, ...]) -> str:
    """Gives a player a token with just these scopes; gives its id."""
    secret, token_id = f"shg_{new_uuid().hex}", public_id("tok", new_uuid())
    await world.accounts.add_token(player.player_id, token_hash(secret), NewToken(token_id, "", scopes), 1_000)
    player.http.headers["authorization"] = f"Bearer {secret}"
    return token_id
