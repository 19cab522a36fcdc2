"""The whole API on one table: what the routes are made from, and the OpenAPI document."""

from api import (
    about,
    history,
    leaderboards,
    lobby,
    log,
    matchmaking,
    my_log,
    pages,
    play,
    players,
    seats,
    stream_tickets,
    webhooks,
)
from api.admin_operations import ADMIN
from api.operation import TAGS, Method, Operation, Tag, Types

__all__ = ["OPERATIONS", "TAGS", "Method", "Operation", "Tag", "Types"]

_GAME = "/v1/games/{game_id}"
_SEAT = f"{_GAME}/seats/{{seat}}"
_HOOK = "/v1/me/webhooks/{webhook_id}"
_REPEATED = ("ETag", "Idempotency-Replayed")
_WATCHED = ("game_not_found", "not_seated")
_WRITING = ("busy", "overloaded")
_SEATING = (*_WATCHED, "seat_not_found", "not_your_decision", "already_started", *_WRITING)
_LEAVING = (
    *_WATCHED,
    "seat_not_found",
    "not_your_decision",
    "game_not_started",
    "game_finished",
    "seat_not_held",
    *_WRITING,
)

OPERATIONS: tuple[Operation, ...] = (
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
    Operation(
        id="createGame", tag="Games", method="POST", path="/v1/games", handler=lobby.create_game,
        scope="play", policy="games", status=201, headers=("Location", "ETag", "Idempotency-Replayed"),
        problems=("too_many_games", *_WRITING),
    ),
    Operation(
        id="listGames", tag="Games", method="GET", path="/v1/games", handler=lobby.list_games, scope="watch",
    ),
    Operation(
        id="getGame", tag="Games", method="GET", path=_GAME, handler=lobby.get_game, scope="watch",
        headers=("ETag",), reads=("If-None-Match",), also=(304,), problems=("game_not_found",),
    ),
    Operation(
        id="startGame", tag="Games", method="POST", path=f"{_GAME}/start", handler=lobby.start_game, scope="play",
        headers=("ETag", "Idempotency-Replayed"), reads=("If-Match",),
        problems=("game_not_found", "not_your_game", "seats_open", "already_started", *_WRITING, "version_mismatch"),
    ),
    Operation(
        id="takeSeat", tag="Games", method="PUT", path=f"{_GAME}/seats/{{seat}}", handler=lobby.take_seat,
        scope="bot", headers=("ETag",),
        problems=("game_not_found", "seat_not_found", "seat_taken", "already_started", *_WRITING),
    ),
    Operation(
        id="leaveSeat", tag="Games", method="DELETE", path=_SEAT, handler=seats.leave_seat, scope="bot",
        headers=("ETag",), problems=_SEATING,
    ),
    Operation(
        id="seatBot", tag="Games", method="PUT", path=f"{_SEAT}/bot", handler=seats.seat_bot, scope="play",
        headers=("ETag",), problems=(*_SEATING, "not_your_game", "seat_taken", "game_finished", "seat_not_held"),
    ),
    Operation(
        id="removeBot", tag="Games", method="DELETE", path=f"{_SEAT}/bot", handler=seats.remove_bot, scope="play",
        headers=("ETag",), problems=(*_SEATING, "not_your_game", "seat_taken", "game_finished", "seat_not_held"),
    ),
    Operation(
        id="abandonSeat", tag="Games", method="POST", path=f"{_SEAT}/abandon", handler=seats.abandon_seat,
        scope="bot", headers=_REPEATED, problems=_LEAVING,
    ),
    Operation(
        id="reclaimSeat", tag="Games", method="POST", path=f"{_SEAT}/reclaim", handler=seats.reclaim_seat,
        scope="bot", headers=_REPEATED, problems=_LEAVING,
    ),
    Operation(
        id="handOver", tag="Games", method="POST", path=f"{_SEAT}/handover", handler=seats.hand_over,
        scope="play", headers=_REPEATED, problems=(*_LEAVING, "seat_taken", "player_not_found"),
    ),
    Operation(
        id="cancelGame", tag="Games", method="POST", path=f"{_GAME}/cancel", handler=seats.cancel_game, scope="play",
        headers=_REPEATED, problems=("game_not_found", "not_your_game", "already_started", *_WRITING),
    ),
    Operation(
        id="rematch", tag="Games", method="POST", path=f"{_GAME}/rematch", handler=seats.rematch,
        scope="play", policy="games", status=201, headers=("Location", *_REPEATED),
        problems=("game_not_found", "not_seated", "game_not_finished", "too_many_games", *_WRITING),
    ),
    Operation(
        id="createInvite", tag="Games", method="POST", path=f"{_GAME}/invites", handler=seats.create_invite,
        scope="play", status=201, headers=("Location",),
        problems=("game_not_found", "not_seated", "not_your_decision", "seat_not_found", "too_many_invites"),
    ),
    Operation(
        id="getInvite", tag="Games", method="GET", path="/v1/invites/{code}", handler=seats.get_invite, scope="watch",
        problems=("invite_not_found", "invite_expired"),
    ),
    Operation(
        id="acceptInvite", tag="Games", method="POST", path="/v1/invites/{code}/accept", handler=seats.accept_invite,
        scope="bot", headers=_REPEATED,
        problems=(
            "invite_not_found", "invite_expired", "game_full", "seat_not_found", "seat_taken", "already_started",
            "game_not_started", "game_finished", "seat_not_held", *_WRITING,
        ),
    ),
    Operation(
        id="createTicket", tag="Games", method="POST", path="/v1/matchmaking/tickets",
        handler=matchmaking.create_ticket, scope="bot", policy="games", status=201,
        headers=("Location", "Idempotency-Replayed"), problems=("already_waiting", "too_many_games"),
    ),
    Operation(
        id="listTickets", tag="Games", method="GET", path="/v1/matchmaking/tickets",
        handler=matchmaking.list_tickets, scope="watch",
    ),
    Operation(
        id="getTicket", tag="Games", method="GET", path="/v1/matchmaking/tickets/{ticket_id}",
        handler=matchmaking.get_ticket, scope="watch", problems=("ticket_not_found",),
    ),
    Operation(
        id="cancelTicket", tag="Games", method="DELETE", path="/v1/matchmaking/tickets/{ticket_id}",
        handler=matchmaking.cancel_ticket, scope="bot", status=204, problems=("ticket_not_found", "already_matched"),
    ),
    Operation(
        id="revealNonce", tag="Games", method="POST", path=f"{_GAME}/seats/{{seat}}/nonce", handler=lobby.reveal_nonce,
        scope="bot", headers=("ETag",),
        problems=(*_WATCHED, "not_your_decision", "seat_not_found", "nonce_not_asked", "wrong_nonce", *_WRITING),
    ),
    Operation(
        id="getView", tag="Play", method="GET", path=f"{_GAME}/view", handler=play.get_view,
        scope="watch", costly="at_version", headers=("ETag",), reads=("If-None-Match",), also=(304,),
        problems=_WATCHED,
    ),
    Operation(
        id="getDecisions", tag="Play", method="GET", path=f"{_GAME}/decisions", handler=play.get_decisions,
        scope="bot", problems=_WATCHED,
    ),
    Operation(
        id="makeMove", tag="Play", method="POST", path=f"{_GAME}/moves", handler=play.make_move, scope="bot",
        status=201, headers=("Location", "ETag", "Idempotency-Replayed", "Preference-Applied"),
        reads=("If-Match", "Prefer"),
        problems=(
            *_WATCHED, "not_your_decision", "decision_closed", "not_your_turn", "illegal_move", "game_not_started",
            "game_finished", *_WRITING, "version_mismatch",
        ),
    ),
    Operation(
        id="validateMove", tag="Play", method="POST", path=f"{_GAME}/moves/validate", handler=play.validate_move,
        scope="bot", policy="reads", costly=True, problems=(*_WATCHED, "not_your_decision"),
    ),
    Operation(
        id="getMove", tag="Play", method="GET", path=f"{_GAME}/moves/{{move_id}}", handler=history.get_move,
        scope="watch", problems=(*_WATCHED, "move_not_found"),
    ),
    Operation(
        id="getHint", tag="Play", method="GET", path=f"{_GAME}/hint", handler=play.get_hint, scope="bot", costly=True,
        problems=(*_WATCHED, "hints_forbidden"),
    ),
    Operation(
        id="listRounds", tag="Play", method="GET", path=f"{_GAME}/rounds", handler=history.list_rounds, scope="watch",
        problems=_WATCHED,
    ),
    Operation(
        id="getScores", tag="Play", method="GET", path=f"{_GAME}/scores", handler=history.get_scores, scope="watch",
        problems=_WATCHED,
    ),
    Operation(
        id="listEvents", tag="Log", method="GET", path=f"{_GAME}/events", handler=log.get_events, scope="watch",
        problems=_WATCHED,
    ),
    Operation(
        id="exportGame", tag="Log", method="GET", path=f"{_GAME}/export", handler=log.export_game,
        scope="watch", costly=True, headers=("Content-Disposition",), problems=_WATCHED,
        media_types=("application/x-ndjson", "text/plain"),
    ),
    Operation(
        id="getReplay", tag="Log", method="GET", path=f"{_GAME}/replay", handler=history.get_replay,
        scope="watch", costly=True, problems=(*_WATCHED, "game_not_finished"),
    ),
    Operation(
        id="getFairness", tag="Log", method="GET", path=f"{_GAME}/rounds/{{round}}/fairness",
        handler=history.get_fairness, scope="watch", costly=True, problems=(*_WATCHED, "round_not_found"),
    ),
    Operation(
        id="streamEvents", tag="Log", method="GET", path=f"{_GAME}/stream", handler=log.stream_events,
        scope="watch", reads=("Last-Event-ID",), also=(204,), problems=(*_WATCHED, "too_many_streams", "shutting_down"),
    ),
    *ADMIN,
    Operation(
        id="createWebhook", tag="Webhooks", method="POST", path="/v1/me/webhooks", handler=webhooks.create_webhook,
        scope="play", status=201, headers=("Location",), problems=("too_many_webhooks",),
    ),
    Operation(
        id="listWebhooks", tag="Webhooks", method="GET", path="/v1/me/webhooks", handler=webhooks.list_webhooks,
        scope="play",
    ),
    Operation(
        id="getWebhook", tag="Webhooks", method="GET", path=_HOOK, handler=webhooks.get_webhook, scope="play",
        problems=("webhook_not_found",),
    ),
    Operation(
        id="updateWebhook", tag="Webhooks", method="PATCH", path=_HOOK, handler=webhooks.update_webhook, scope="play",
        problems=("webhook_not_found",),
    ),
    Operation(
        id="deleteWebhook", tag="Webhooks", method="DELETE", path=_HOOK, handler=webhooks.delete_webhook, scope="play",
        status=204, problems=("webhook_not_found",),
    ),
    Operation(
        id="rotateWebhookSecret", tag="Webhooks", method="POST", path=f"{_HOOK}/rotate",
        handler=webhooks.rotate_webhook_secret, scope="play", problems=("webhook_not_found",),
    ),
    Operation(
        id="testWebhook", tag="Webhooks", method="POST", path=f"{_HOOK}/test", handler=webhooks.test_webhook,
        scope="play", status=202, problems=("webhook_not_found", "webhook_disabled"),
    ),
    Operation(
        id="listDeliveries", tag="Webhooks", method="GET", path=f"{_HOOK}/deliveries",
        handler=webhooks.list_deliveries, scope="play", problems=("webhook_not_found",),
    ),
    Operation(
        id="redeliver", tag="Webhooks", method="POST", path=f"{_HOOK}/deliveries/{{delivery_id}}/redeliver",
        handler=webhooks.redeliver, scope="play", status=202,
        problems=("webhook_not_found", "delivery_not_found", "webhook_disabled"),
    ),
    Operation(
        id="streamMine", tag="Log", method="GET", path="/v1/me/stream", handler=my_log.stream_mine, scope="watch",
        reads=("Last-Event-ID: cursor",), problems=("too_many_streams", "shutting_down"),
    ),
    Operation(
        id="createStreamTicket", tag="Log", method="POST", path="/v1/stream-tickets",
        handler=stream_tickets.create_ticket, scope="watch", status=201, problems=_WATCHED,
    ),
    Operation(
        id="listRulesets", tag="Reference", method="GET", path="/v1/rulesets", handler=about.list_rulesets,
    ),
    Operation(
        id="getRuleset", tag="Reference", method="GET", path="/v1/rulesets/{name}", handler=about.get_ruleset,
        problems=("ruleset_not_found",),
    ),
    Operation(
        id="validateRuleset", tag="Reference", method="POST", path="/v1/rulesets/validate",
        handler=about.validate_ruleset,
    ),
    Operation(id="listBots", tag="Reference", method="GET", path="/v1/bots", handler=about.list_bots),
    Operation(
        id="listProblems", tag="Reference", method="GET", path="/v1/problems", handler=about.list_problems,
    ),
    Operation(id="getMeta", tag="Reference", method="GET", path="/v1/meta", handler=about.get_meta),
    Operation(id="isAlive", tag="Health", method="GET", path="/health/live", handler=about.is_alive),
    Operation(id="isReady", tag="Health", method="GET", path="/health/ready", handler=about.is_ready, also=(503,)),
    Operation(
        id="getMetrics", tag="Health", method="GET", path="/metrics", handler=about.get_metrics, scope="operate",
        media_types=("text/plain",),
    ),
    Operation(
        id="getOpenApi", tag="Reference", method="GET", path="/openapi.json", handler=pages.get_openapi,
        is_listed=False,
    ),
    Operation(
        id="getAsyncApi", tag="Reference", method="GET", path="/asyncapi.json", handler=pages.get_asyncapi,
        is_listed=False,
    ),
    Operation(
        id="getDocs", tag="Reference", method="GET", path="/docs", handler=pages.get_docs, is_listed=False,
    ),
)  # fmt: skip
