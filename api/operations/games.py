"""Opening games, finding them, sitting down, starting."""

from api import lobby, matchmaking, seats
from api.operation import GAME, REPEATED, WATCHED, WRITING, Operation

_SEAT = f"{GAME}/seats/{{seat}}"
_BOTS = (
    *WATCHED,
    "seat_not_found",
    "not_your_game",
    "seat_taken",
    "already_started",
    "game_finished",
    "too_many_seatings",
    *WRITING,
)
_PLAYED = (*WATCHED, "seat_not_found", "game_finished", "too_many_seatings", *WRITING)
_LEAVING = (*_PLAYED, "not_your_decision", "game_not_started")

GAMES: tuple[Operation, ...] = (
    Operation(
        id="createGame", tag="Games", method="POST", path="/v1/games", handler=lobby.create_game,
        scope="play", policy="games", status=201, headers=("Location", *REPEATED),
        problems=("too_many_games", "game_not_found", *WRITING),
    ),
    Operation(
        id="listGames", tag="Games", method="GET", path="/v1/games", handler=lobby.list_games, scope="watch",
    ),
    Operation(
        id="getGame", tag="Games", method="GET", path=GAME, handler=lobby.get_game, scope="watch",
        headers=("ETag",), reads=("If-None-Match",), also=(304,), problems=("game_not_found",),
    ),
    Operation(
        id="startGame", tag="Games", method="POST", path=f"{GAME}/start", handler=lobby.start_game, scope="play",
        headers=REPEATED, reads=("If-Match",),
        problems=("game_not_found", "not_your_game", "seats_open", "already_started", *WRITING, "version_mismatch"),
    ),
    Operation(
        id="takeSeat", tag="Games", method="PUT", path=_SEAT, handler=lobby.take_seat,
        scope="bot", headers=("ETag",),
        problems=("game_not_found", "seat_not_found", "seat_taken", "already_started", "too_many_seatings", *WRITING),
    ),
    Operation(
        id="leaveSeat", tag="Games", method="DELETE", path=_SEAT, handler=seats.leave_seat, scope="bot",
        headers=("ETag",), problems=(*WATCHED, "seat_not_found", "not_your_decision", "already_started", *WRITING),
    ),
    Operation(
        id="seatBot", tag="Games", method="PUT", path=f"{_SEAT}/bot", handler=seats.seat_bot, scope="play",
        headers=("ETag",), problems=(*_BOTS, "not_your_decision"),
    ),
    Operation(
        id="removeBot", tag="Games", method="DELETE", path=f"{_SEAT}/bot", handler=seats.remove_bot, scope="play",
        headers=("ETag",), problems=_BOTS,
    ),
    Operation(
        id="abandonSeat", tag="Games", method="POST", path=f"{_SEAT}/abandon", handler=seats.abandon_seat,
        scope="bot", headers=REPEATED, problems=_LEAVING,
    ),
    Operation(
        id="reclaimSeat", tag="Games", method="POST", path=f"{_SEAT}/reclaim", handler=seats.reclaim_seat,
        scope="bot", headers=REPEATED, problems=(*_PLAYED, "seat_not_held"),
    ),
    Operation(
        id="handOver", tag="Games", method="POST", path=f"{_SEAT}/handover", handler=seats.hand_over,
        scope="play", headers=REPEATED, problems=(*_LEAVING, "seat_taken", "player_not_found", "hands_full"),
    ),
    Operation(
        id="cancelGame", tag="Games", method="POST", path=f"{GAME}/cancel", handler=seats.cancel_game, scope="play",
        headers=REPEATED, problems=("game_not_found", "not_your_game", "already_started", *WRITING),
    ),
    Operation(
        id="rematch", tag="Games", method="POST", path=f"{GAME}/rematch", handler=seats.rematch,
        scope="play", policy="games", status=201, headers=("Location", *REPEATED),
        problems=("game_not_found", "not_seated", "game_not_finished", "too_many_games", *WRITING),
    ),
    Operation(
        id="createInvite", tag="Games", method="POST", path=f"{GAME}/invites", handler=seats.create_invite,
        scope="play", status=201, headers=("Location", "Idempotency-Replayed"),
        problems=(*WATCHED, "not_your_decision", "seat_not_found", "game_finished", "too_many_invites"),
    ),
    Operation(
        id="getInvite", tag="Games", method="GET", path="/v1/invites/{code}", handler=seats.get_invite, scope="watch",
        problems=("invite_not_found", "invite_expired"),
    ),
    Operation(
        id="acceptInvite", tag="Games", method="POST", path="/v1/invites/{code}/accept", handler=seats.accept_invite,
        scope="bot", headers=REPEATED,
        problems=(
            "invite_not_found", "invite_expired", "game_full", "seat_taken", "already_started",
            "game_not_started", "game_finished", "seat_not_held", "too_many_seatings", *WRITING,
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
        id="revealNonce", tag="Games", method="POST", path=f"{_SEAT}/nonce", handler=lobby.reveal_nonce,
        scope="bot", headers=("ETag",),
        problems=(*WATCHED, "not_your_decision", "seat_not_found", "nonce_not_asked", "wrong_nonce", *WRITING),
    ),
)  # fmt: skip
