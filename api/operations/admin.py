"""The operators' part of the table of operations."""

from api import admin
from api.operation import REPEATED, WRITING, Operation

_GAME = "/v1/admin/games/{game_id}"
_PLAYER = "/v1/admin/players/{player_id}"

ADMIN: tuple[Operation, ...] = (
    Operation(
        id="adminListGames", tag="Admin", method="GET", path="/v1/admin/games", handler=admin.list_games,
        scope="operate",
    ),
    Operation(
        id="adminGetGame", tag="Admin", method="GET", path=_GAME, handler=admin.get_game, scope="operate",
        problems=("game_not_found",),
    ),
    Operation(
        id="adminReadLog", tag="Admin", method="GET", path=f"{_GAME}/events", handler=admin.read_log,
        scope="operate", policy="moves", problems=("game_not_found", *WRITING),
    ),
    Operation(
        id="adminEndGame", tag="Admin", method="POST", path=f"{_GAME}/end", handler=admin.end_game,
        scope="operate", headers=REPEATED, problems=("game_not_found", "game_finished", *WRITING),
    ),
    Operation(
        id="adminUnstickGame", tag="Admin", method="POST", path=f"{_GAME}/unstick", handler=admin.unstick_game,
        scope="operate", headers=REPEATED, problems=("game_not_found", "game_finished", *WRITING),
    ),
    Operation(
        id="adminSeatBot", tag="Admin", method="PUT", path=f"{_GAME}/seats/{{seat}}/bot",
        handler=admin.seat_bot, scope="operate", headers=("ETag",),
        problems=("game_not_found", "seat_not_found", "game_not_started", "game_finished", "seat_not_held", *WRITING),
    ),
    Operation(
        id="adminListPlayers", tag="Admin", method="GET", path="/v1/admin/players", handler=admin.list_players,
        scope="operate",
    ),
    Operation(
        id="adminGetPlayer", tag="Admin", method="GET", path=_PLAYER, handler=admin.get_player,
        scope="operate", problems=("player_not_found",),
    ),
    Operation(
        id="adminRevokeTokens", tag="Admin", method="DELETE", path=f"{_PLAYER}/tokens",
        handler=admin.revoke_tokens, scope="operate", status=204, problems=("player_not_found",),
    ),
    Operation(
        id="adminSuspendPlayer", tag="Admin", method="PUT", path=f"{_PLAYER}/suspension",
        handler=admin.suspend_player, scope="operate", problems=("player_not_found",),
    ),
    Operation(
        id="adminResumePlayer", tag="Admin", method="DELETE", path=f"{_PLAYER}/suspension",
        handler=admin.resume_player, scope="operate", problems=("player_not_found",),
    ),
    Operation(
        id="adminListDeeds", tag="Admin", method="GET", path="/v1/admin/audit", handler=admin.list_deeds,
        scope="operate",
    ),
)  # fmt: skip
