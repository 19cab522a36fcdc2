"""Who plays: guests, their tokens, what others see of them."""

from api import leaderboards, players
from api.operation import Operation

PLAYERS: tuple[Operation, ...] = (
    Operation(
        id="createGuest", tag="Players", method="POST", path="/v1/players", handler=players.create_guest,
        status=201, headers=("Location",), policy="guests",
    ),
    Operation(id="getMe", tag="Players", method="GET", path="/v1/me", handler=players.get_me, scope="watch"),
    Operation(
        id="updateMe", tag="Players", method="PATCH", path="/v1/me", handler=players.update_me, scope="play",
    ),
    Operation(
        id="listTokens", tag="Players", method="GET", path="/v1/me/tokens", handler=players.list_tokens, scope="play",
    ),
    Operation(
        id="createToken", tag="Players", method="POST", path="/v1/me/tokens", handler=players.create_token,
        scope="play", status=201, headers=("Location",), problems=("scope_not_owned", "too_many_tokens"),
    ),
    Operation(
        id="revokeToken", tag="Players", method="DELETE", path="/v1/me/tokens/{token_id}",
        handler=players.revoke_token, scope="play", status=204, problems=("token_not_found",),
    ),
    Operation(
        id="deleteMe", tag="Players", method="DELETE", path="/v1/me", handler=players.delete_me, scope="play",
        status=204,
    ),
    Operation(
        id="getPlayer", tag="Players", method="GET", path="/v1/players/{player_id}", handler=players.get_player,
        scope="watch", problems=("player_not_found",),
    ),
    Operation(
        id="getLeaderboard", tag="Players", method="GET", path="/v1/leaderboards/{name}",
        handler=leaderboards.get_leaderboard, scope="watch", problems=("ruleset_not_found",),
    ),
)  # fmt: skip
