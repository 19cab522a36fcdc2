"""Every way in which a request can fail, as RFC 9457 problems: one table of codes, one of who raises which.

A problem tells what the caller may know anyway: no refusal carries a hidden card, and a game that is private to others
is reported exactly like one that does not exist.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from api.faults import FaultCode
from api.reasons import REASONS
from domain import refusals as r
from domain.faults import FaultyRuleset
from domain.refusals import Reason, Refused, RuleBroken
from services.games import HintsForbidden, NotYourDecision, NotYourGame, RefusedUnseen, TooManySeatings
from services.identity import ScopeNotOwned, TooManyTokens
from services.invites import GameFull, InviteExpired, InviteNotFound, TooManyInvites
from services.limits import TooManyGames
from services.outcomes import Busy, GameNotFound, KeyReused, OtherVersion
from services.ports import Overloaded, Unavailable
from services.seats import GameNotFinished, HandsFull, PlayerNotFound
from services.seeing import NotSeated
from services.tickets import AlreadyMatched, AlreadyWaiting, TicketNotFound
from services.webhooks import TooManyWebhooks, WebhookDisabled, WebhookNotFound

T = TypeVar("T")
Place: TypeAlias = Literal["body", "query", "header", "path"]


class Kind(Struct, frozen=True):
    """A kind of problem. retry_after_s: where sending the same request again later may help."""

    status: int
    title: str
    meaning: str
    retry_after_s: int | None = None


KINDS: dict[str, Kind] = {
    "bad_request": Kind(400, "Bad request", "The request is not proper HTTP: its Host, or a header given twice."),
    "malformed_json": Kind(400, "Malformed JSON", "The body is not JSON in UTF-8."),
    "idempotency_key_required": Kind(
        400, "Idempotency-Key required", "This request needs an Idempotency-Key of 1 to 128 printable characters."
    ),
    "unauthenticated": Kind(
        401, "Unauthenticated", "A bearer token is missing, unknown or revoked, or its player suspended."
    ),
    "insufficient_scope": Kind(403, "Insufficient scope", "The token is not allowed to do this."),
    "not_seated": Kind(
        403, "Not seated", "Only those who have a seat at this table, or this very seat, may do or see this."
    ),
    "not_your_decision": Kind(
        403, "Not your decision", "The question is asked to another seat, or that seat is another player's."
    ),
    "scope_not_owned": Kind(403, "Scope not owned", "A token can hand on only scopes that it has itself."),
    "hints_forbidden": Kind(403, "Hints forbidden", "This game is played without hints."),
    "not_your_game": Kind(403, "Not your game", "Only the player who opened the game may do this."),
    "not_found": Kind(404, "Not found", "There is nothing at this path."),
    "game_not_found": Kind(404, "Game not found", "There is no such game, or it is private to others."),
    "player_not_found": Kind(404, "Player not found", "There is no such player, or not any more."),
    "seat_not_found": Kind(404, "Seat not found", "The game has no such seat."),
    "token_not_found": Kind(404, "Token not found", "The caller has no such token."),
    "invite_not_found": Kind(404, "Invite not found", "There is no invite with this code."),
    "webhook_not_found": Kind(404, "Webhook not found", "The caller has no such webhook."),
    "delivery_not_found": Kind(404, "Delivery not found", "The webhook has no such delivery, or not any more."),
    "ticket_not_found": Kind(404, "Ticket not found", "The caller has no such ticket, or not any more."),
    "move_not_found": Kind(404, "Move not found", "The caller's seat has made no such move in this game."),
    "round_not_found": Kind(404, "Round not found", "The game has not come to such a round."),
    "ruleset_not_found": Kind(404, "Ruleset not found", "There is no such ruleset."),
    "method_not_allowed": Kind(405, "Method not allowed", "This path knows other methods; see the header Allow."),
    "request_timeout": Kind(408, "Request timeout", "The body did not come in time.", 1),
    "payload_too_large": Kind(413, "Payload too large", "The body is larger than the bound in /v1/meta."),
    "unsupported_media_type": Kind(415, "Unsupported media type", "Bodies are sent as application/json."),
    "decision_closed": Kind(
        409, "Decision closed", "The question was answered or has changed; read the decisions again."
    ),
    "seat_taken": Kind(
        409, "Seat taken", "Somebody else sits there, or who would sit there has another seat in this game."
    ),
    "seats_open": Kind(409, "Seats open", "A game starts with every seat taken."),
    "already_started": Kind(
        409, "Already started", "That is done only while a game waits; this one has begun or is over."
    ),
    "game_not_started": Kind(409, "Game not started", "The game still waits for its start."),
    "game_finished": Kind(409, "Game finished", "The game is over."),
    "game_not_finished": Kind(409, "Game not finished", "That comes when the game is over."),
    "not_your_turn": Kind(409, "Not your turn", "That move belongs to the player in turn."),
    "nonce_not_asked": Kind(409, "Nonce not asked", "No nonce of this seat is waited for."),
    "wrong_nonce": Kind(422, "Wrong nonce", "These are not the 16 bytes that the seat has committed itself to."),
    "seat_not_held": Kind(
        409,
        "Seat not held",
        "The seat is out of the game, its hand is not the inviter's any more, or no bot plays for its person.",
    ),
    "game_full": Kind(409, "Game full", "No seat is open any more."),
    "hands_full": Kind(409, "Hands full", "That player plays so many games: ask them by an invite with is_hand."),
    "too_many_games": Kind(409, "Too many games", "So many of the caller's games are not over; see /v1/meta."),
    "too_many_tokens": Kind(409, "Too many tokens", "Revoke a token first; see /v1/meta."),
    "already_waiting": Kind(409, "Already waiting", "The caller has a ticket for this ruleset that waits."),
    "already_matched": Kind(409, "Already matched", "The ticket has its game."),
    "too_many_invites": Kind(
        409, "Too many invites", "So many of the caller's invites to this game can be used; see /v1/meta."
    ),
    "too_many_webhooks": Kind(409, "Too many webhooks", "Remove one first; see /v1/meta."),
    "webhook_disabled": Kind(409, "Webhook disabled", "Nothing is sent to it until it is switched on again."),
    "too_many_seatings": Kind(
        409, "Too many seatings", "The player has sat down in this game, or the opener has seated bots, too often."
    ),
    "invite_expired": Kind(410, "Invite expired", "The time of this invite is over."),
    "version_mismatch": Kind(
        412, "Version mismatch", "The game is not at a version in If-Match; a weak tag matches none."
    ),
    "precondition_required": Kind(428, "Precondition required", "The request needs If-Match; so far none does."),
    "invalid_request": Kind(422, "Invalid request", "The request does not have the documented shape; see errors."),
    "illegal_move": Kind(422, "Illegal move", "The rules of this game forbid the move; see reason."),
    "idempotency_key_reused": Kind(422, "Idempotency-Key reused", "The key belongs to another request of this player."),
    "rate_limited": Kind(429, "Rate limited", "Too many requests of this kind; see Retry-After.", 1),
    "too_many_streams": Kind(429, "Too many streams", "The token or the address has too many open; see /v1/meta.", 5),
    "internal_error": Kind(500, "Internal error", "A fault of the server; the request id finds it in the log."),
    "busy": Kind(503, "Busy", "The game changed under every try; send the request again.", 1),
    "overloaded": Kind(503, "Overloaded", "More waits to be written than can be written soon; nothing was changed.", 1),
    "unavailable": Kind(
        503,
        "Unavailable",
        "The database cannot be reached or cannot write; with its Idempotency-Key a write can be repeated.",
        1,
    ),
    "shutting_down": Kind(503, "Shutting down", "This process is about to end; another one answers.", 1),
}

REFUSALS: dict[type[RuleBroken], str] = {
    r.IllegalMove: "illegal_move",
    r.DecisionClosed: "decision_closed",
    r.NotYourTurn: "not_your_turn",
    r.GameNotStarted: "game_not_started",
    r.GameFinished: "game_finished",
    r.AlreadyStarted: "already_started",
    r.SeatTaken: "seat_taken",
    r.SeatNotFound: "seat_not_found",
    r.SeatsOpen: "seats_open",
    r.NonceNotAsked: "nonce_not_asked",
    r.WrongNonce: "wrong_nonce",
    r.SeatNotHeld: "seat_not_held",
    r.Outdated: "decision_closed",
}

EXCEPTIONS: dict[type[Exception], str] = {
    GameNotFound: "game_not_found",
    NotSeated: "not_seated",
    NotYourDecision: "not_your_decision",
    NotYourGame: "not_your_game",
    HintsForbidden: "hints_forbidden",
    GameNotFinished: "game_not_finished",
    PlayerNotFound: "player_not_found",
    HandsFull: "hands_full",
    InviteNotFound: "invite_not_found",
    InviteExpired: "invite_expired",
    GameFull: "game_full",
    TooManyGames: "too_many_games",
    TooManyTokens: "too_many_tokens",
    TooManyInvites: "too_many_invites",
    TooManySeatings: "too_many_seatings",
    TicketNotFound: "ticket_not_found",
    AlreadyWaiting: "already_waiting",
    AlreadyMatched: "already_matched",
    ScopeNotOwned: "scope_not_owned",
    WebhookNotFound: "webhook_not_found",
    WebhookDisabled: "webhook_disabled",
    TooManyWebhooks: "too_many_webhooks",
    OtherVersion: "version_mismatch",
    KeyReused: "idempotency_key_reused",
    FaultyRuleset: "invalid_request",
    Busy: "busy",
    Overloaded: "overloaded",
    Unavailable: "unavailable",
}


class FieldError(Struct, frozen=True, rename={"place": "in"}):
    """One fault of a request. pointer: JSON Pointer into the body, or the name of a parameter or header.

    code: what is wrong, as listed in /v1/problems; of a meld that is at fault, the reason.
    """

    place: Place
    pointer: str
    code: Literal[FaultCode, Reason]
    detail: str


class Problem(Struct, frozen=True):
    """An RFC 9457 problem. reason: of an illegal move; readings: what an ambiguous wild could stand for."""

    type: str
    title: str
    status: Annotated[int, Meta(ge=400, le=599)]
    code: str
    detail: str
    instance: str
    request_id: str
    reason: Reason | None
    errors: tuple[FieldError, ...]
    current_version: int | None
    readings: tuple[str, ...] | UnsetType = UNSET


class Failed(Exception):
    """A request that ends as a problem of kind `code`; `detail` is said instead of the kind's meaning.

    current_version: of the game, as far as the caller sees it.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        errors: tuple[FieldError, ...] = (),
        reason: Reason | None = None,
        readings: tuple[str, ...] = (),
        headers: Mapping[str, str] | None = None,
        current_version: int | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail or KINDS[code].meaning
        self.errors = errors
        self.reason = reason
        self.readings = readings
        self.headers = dict(headers or {})
        self.current_version = current_version


def failure_of(error: Exception) -> Failed:
    """Finds the problem for whatever a use-case raised; an error that no table knows is an internal one."""
    match error:
        case Failed():
            return error
        case Refused(broken=r.IllegalMove(reason, readings), meld=meld):
            words = REASONS[reason]
            at = () if meld is None else (FieldError("body", f"/move/melds/{meld}", reason, words),)
            return Failed("illegal_move", words, errors=at, reason=reason, readings=readings)
        case Refused(broken=broken):
            return Failed(REFUSALS[type(broken)])
        case RefusedUnseen(refusal=refusal):
            return failure_of(refusal)
        case FaultyRuleset(faults=faults):
            errors = tuple(FieldError("body", fault.path, fault.code, fault.detail) for fault in faults)
            return Failed("invalid_request", errors[0].detail, errors=errors)
        case _:
            codes = (EXCEPTIONS[base] for base in type(error).__mro__ if base in EXCEPTIONS)
            return Failed(next(codes, "internal_error"))


def read_part(faults: list[FieldError], read: Callable[[], T]) -> T | None:
    """Reads a part of a request; for one that cannot be read gives None, and its faults are added to the others'."""
    try:
        return read()
    except (Failed, FaultyRuleset) as error:
        faults += failure_of(error).errors
        return None


def problem_of(failure: Failed, *, instance: str, request_id: str, current_version: int | None) -> Problem:
    """Writes a failure as the body of its answer."""
    kind = KINDS[failure.code]
    return Problem(
        type=f"/v1/problems#{failure.code}",
        title=kind.title,
        status=kind.status,
        code=failure.code,
        detail=failure.detail,
        instance=instance,
        request_id=request_id,
        reason=failure.reason,
        errors=failure.errors,
        current_version=current_version,
        readings=failure.readings or UNSET,
    )


def headers_of(failure: Failed) -> dict[str, str]:
    """Gives the headers that belong to a failure. Source: RFC 9110, for 401."""
    kind = KINDS[failure.code]
    headers = {} if kind.retry_after_s is None else {"retry-after": str(kind.retry_after_s)}
    if kind.status == 401:
        headers["www-authenticate"] = "Bearer"
    return headers | failure.headers
