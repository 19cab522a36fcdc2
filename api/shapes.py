"""What is sent and answered about games, as only the HTTP surface knows it; the rest is shown as the domain has it."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from api.overrides import Overrides, Preset
from api.patterns import ONE_LINE, cursor_like, id_pattern, looks
from api.problems import FieldError
from domain.bounds import MAX_PLAYERS
from domain.commands import Level, Move, Spectators, Visibility
from domain.refusals import Reason
from domain.state import Result, Status
from domain.view import DecisionView, View
from services.games import Hint
from services.history import RoundSummary
from services.rendering import EventBody, GameBody

MAX_CLAIM_WINDOW_S = 120
CORRESPONDENCE_TURN_S = 3600
MAX_CORRESPONDENCE_WINDOW_S = 2 * 24 * 3600
MIN_TURN_S, MAX_TURN_S = 5, 14 * 24 * 3600
MAX_BOT_DELAY_MS = 5_000
EVENTS_AT_MOST = 500
SPECTATOR_DELAY_S, MAX_SPECTATOR_DELAY_S = 60, 3600
MIN_INVITE_S, MAX_INVITE_S = 60, 30 * 24 * 3600
NonceCommitment: TypeAlias = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}$", max_length=64, description="SHA-256 of 16 random bytes, in lower-case hex")
]
"""max_length: a pattern's `$` would let a line feed through."""
GAMES_AT_MOST = 100


class NewPace(Struct, frozen=True, forbid_unknown_fields=True):
    """How long the table waits. claims: `early` closes the window when all have answered, `full` at its time.

    claim_window_s: two minutes at the most, and two days where a turn has an hour or more.
    """

    claim_window_s: Annotated[int, Meta(ge=0, le=MAX_CORRESPONDENCE_WINDOW_S)] = 5
    turn_s: Annotated[int, Meta(ge=MIN_TURN_S, le=MAX_TURN_S)] = 60
    bot_delay_ms: Annotated[int, Meta(ge=0, le=MAX_BOT_DELAY_MS)] = 0
    claims: Literal["early", "full"] = "early"


class _NewSeat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="controller"):
    """Who sits on a seat from the start."""


class YourSeat(_NewSeat, frozen=True, tag="you"):
    """The caller's own seat; a game has at most one. nonce_commitment: as with takeSeat."""

    nonce_commitment: NonceCommitment | None = None


class BotSeat(_NewSeat, frozen=True, tag="bot"):
    """A bot."""

    level: Level = "normal"


class OpenSeat(_NewSeat, frozen=True, tag="open"):
    """Free for whoever takes it."""


NewSeat: TypeAlias = YourSeat | BotSeat | OpenSeat


class NewGameRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A game to be opened: a preset, what differs from it, and who sits where."""

    ruleset: Preset
    seats: Annotated[tuple[NewSeat, ...], looks(minItems=2, maxItems=MAX_PLAYERS)]
    overrides: Overrides = {}
    visibility: Visibility = "public"
    spectators: Spectators = "public"
    pace: NewPace = NewPace()
    hints: Annotated[bool, Meta(description="whether players may ask what a bot would do")] = True
    spectator_delay_s: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_SPECTATOR_DELAY_S)] | None,
        Meta(
            description=f"how late `delayed` spectators see what happens, null: {SPECTATOR_DELAY_S} s; refused where"
            " there are none"
        ),
    ] = None


class SeatRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Sitting down. nonce_commitment: the player will add their own luck to every shuffle of the game."""

    nonce_commitment: NonceCommitment | None = None


class BotRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Which bot to seat."""

    level: Level = "normal"


class HandoverRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Who gets the hand."""

    player_id: Annotated[str, looks(pattern=id_pattern("ply"))]


class InviteRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """An invite: to any open seat, to one seat, or with `is_hand` to the hand on one's own seat."""

    seat: Annotated[int, Meta(ge=0, le=99)] | None = None
    is_hand: bool = False
    valid_s: Annotated[int, Meta(ge=MIN_INVITE_S, le=MAX_INVITE_S, description="seconds until it expires")] = 24 * 3600


class NonceRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The bytes behind a nonce_commitment."""

    nonce: Annotated[str, Meta(pattern="^[0-9a-f]{32}$", max_length=32, description="the 16 bytes, in lower-case hex")]


class MoveRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to one decision: any of its options, or a move of one's own."""

    decision_id: str
    move: Move


class MoveResult(Struct, frozen=True):
    """What a move led to at once. view: the table after it, on `Prefer: return=representation`."""

    move_id: str
    version: int
    events: tuple[EventBody, ...]
    view: View | None


class GamesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which games to list."""

    status: Annotated[Status | None, Meta(description="games in this state only")] = None
    mine: Annotated[
        bool,
        Meta(
            description="only games where the caller has a seat, also while a bot plays it for them, and those waiting"
            " to which they are invited"
        ),
    ] = False
    ruleset: Annotated[str | None, Meta(description="only games of this preset"), looks(pattern=ONE_LINE)] = None
    cursor: Annotated[str | None, cursor_like(id_pattern("gam"))] = None
    limit: Annotated[int, Meta(ge=1, le=GAMES_AT_MOST)] = 20


class GamePage(Struct, frozen=True):
    """Games, the newest first. A page may be short while `next_cursor` is not null: more may follow."""

    items: tuple[GameBody, ...]
    next_cursor: str | None


class EventsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which events to read."""

    after: Annotated[int, Meta(ge=0, le=2**31 - 1, description="the last version already known")] = 0
    limit: Annotated[int, Meta(ge=1, le=EVENTS_AT_MOST)] = 200


class EventPage(Struct, frozen=True):
    """Events in order. next_after: `after` of the next page; head_version: the game's last version."""

    items: tuple[EventBody, ...]
    next_after: int
    head_version: int


class ExportQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How to write the export."""

    format: Annotated[
        Literal["ndjson", "text"], Meta(description="`ndjson`: one Event a line; `text`: an account for people")
    ] = "ndjson"


Ticket: TypeAlias = Annotated[str, Meta(max_length=100)]


class StreamQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a stream begins and what it shows."""

    after: Annotated[
        int, Meta(ge=0, le=2**31 - 1, description="the last version already known; Last-Event-ID goes before it")
    ] = 0
    view: Annotated[bool, Meta(description="adds an event `view` after each batch")] = False
    ticket: Ticket | None = None


class MyStreamQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Who reads a stream of all their games."""

    ticket: Ticket | None = None


class NewStreamTicket(Struct, frozen=True, forbid_unknown_fields=True):
    """A ticket for a game's stream, or without `game_id` for that of all the caller's games.

    view: the game's stream with the event `view` after each batch.
    """

    game_id: Annotated[str | None, looks(pattern=id_pattern("gam"))] = None
    view: bool = False


class StreamTicketCreated(Struct, frozen=True):
    """A new ticket, shown this once. url: path and query of the stream, to be opened as they are."""

    ticket: str
    url: str
    use_before_at: str
    expires_at: str


class ViewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which moment to show."""

    at_version: Annotated[
        Annotated[int, Meta(ge=1, le=2**31 - 1)] | None, Meta(description="the game's version at that moment")
    ] = None


class MoveVerdict(Struct, frozen=True):
    """Whether a move is legal. Where it is not: code, reason and detail of the problem that it would be answered with.

    readings: what an ambiguous wild could stand for. errors: the meld of a lay-down that is at fault, if it is one.
    """

    legal: bool
    code: str | None = None
    reason: Reason | None = None
    detail: str | None = None
    readings: tuple[str, ...] = ()
    errors: tuple[FieldError, ...] = ()


class HintList(Struct, frozen=True):
    """A bot's answer to each open decision of the caller, at one version of the game."""

    game_id: str
    version: int
    items: tuple[Hint, ...]


class RoundList(Struct, frozen=True):
    """The rounds of a game, in order."""

    game_id: str
    version: int
    items: tuple[RoundSummary, ...]


class RoundScore(Struct, frozen=True):
    """A line of the score sheet, by seat."""

    number: int
    points: tuple[int, ...]
    totals: tuple[int, ...]


class ScoreBoard(Struct, frozen=True):
    """The score sheet. totals: by seat; result: once the game is over."""

    game_id: str
    version: int
    totals: tuple[int, ...]
    rounds: tuple[RoundScore, ...]
    result: Result | None


class DecisionList(Struct, frozen=True):
    """The caller's open decisions at one version of the game."""

    game_id: str
    version: int
    items: tuple[DecisionView, ...]
