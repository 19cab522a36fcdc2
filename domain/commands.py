"""What can be asked of a table: moves that answer a decision, and commands that only the house itself may give.

A client can spell a `PlayerCommand` and nothing else; `TableCommand` adds what the table does by itself.
"""

from typing import Literal, TypeAlias

from msgspec import Struct, field

from domain.cards import Card
from domain.meld import NewMeld, Placed
from domain.ruleset import Ruleset

End: TypeAlias = Literal["low", "high"]
Visibility: TypeAlias = Literal["public", "private"]
Spectators: TypeAlias = Literal["none", "public", "delayed"]
Level: TypeAlias = Literal["easy", "normal"]
Controller: TypeAlias = Literal["human", "bot", "open"]


class _Move(Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag_field="kind"):
    """A move is one answer to a decision; its fields are exactly those of the HTTP API."""


class DrawStock(_Move, frozen=True, gc=False, tag="draw_stock"):
    """Draws the next card of the stock; while claims on the discard are open it is a decline that is kept."""


class TakeDiscard(_Move, frozen=True, gc=False, tag="take_discard"):
    """Takes the open discard, in turn, for nothing."""


class Buy(_Move, frozen=True, gc=False, tag="buy"):
    """Asks for the open discard out of turn, with its penalty cards."""

    card: Card


class Pass(_Move, frozen=True, gc=False, tag="pass"):
    """Lets the open discard go, or ends a turn that ends without a discard."""

    rest_of_round: bool = False


class CallShanghai(_Move, frozen=True, gc=False, tag="call_shanghai"):
    """Calls the open discard because it fits a meld; `end` and `as` say where, if it fits more than one way."""

    meld_id: str
    end: End | None = None
    as_: str | None = field(default=None, name="as")


class LayDown(_Move, frozen=True, gc=False, tag="lay_down"):
    """Lays the whole contract at once."""

    melds: tuple[NewMeld, ...]


class LayOff(_Move, frozen=True, gc=False, tag="lay_off"):
    """Adds cards to a meld on the table."""

    meld_id: str
    cards: tuple[Placed, ...]
    end: End | None = None


class SwapWild(_Move, frozen=True, gc=False, tag="swap_wild"):
    """Takes a wild from the table for the natural card it stands for."""

    meld_id: str
    wild: Card
    as_: str = field(name="as")
    card: Card


class Discard(_Move, frozen=True, gc=False, tag="discard"):
    """Ends the turn; `declare` says "Shanghai" oneself, `skip` names who misses a turn by a skip card."""

    card: Card
    declare: bool = False
    skip: int | None = None


Move: TypeAlias = DrawStock | TakeDiscard | Buy | Pass | CallShanghai | LayDown | LayOff | SwapWild | Discard


class Pace(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """How long the table waits: claim window and turn in seconds, a bot's politeness in milliseconds.

    claims: `early` closes the window when all have answered, `full` always gives it its whole time.
    """

    claim_window_s: int = 5
    turn_s: int = 60
    bot_delay_ms: int = 0
    claims: Literal["early", "full"] = "early"


class SeatPlan(Struct, frozen=True, gc=False):
    """Who sits on a seat when a game is opened; nonce_commitment: as with TakeSeat."""

    controller: Controller
    player_id: str | None = None
    level: Level | None = None
    nonce_commitment: str | None = None


class Answer(Struct, frozen=True, gc=False, tag=True):
    """A seat's move, with the id of the decision that it answers."""

    seat: int
    decision_id: str
    move: Move


class TakeSeat(Struct, frozen=True, gc=False, tag=True):
    """A person sits down on an open seat of a waiting game; nonce_commitment: SHA-256 of 16 bytes of theirs, hex."""

    seat: int
    player_id: str
    nonce_commitment: str | None = None


class LeaveSeat(Struct, frozen=True, gc=False, tag=True):
    """A seat of a waiting game is given up; it is open again."""

    seat: int


class SeatBot(Struct, frozen=True, gc=False, tag=True):
    """A bot sits down on a seat of a waiting game that no person holds, or plays at another level there."""

    seat: int
    level: Level


class CancelGame(Struct, frozen=True, gc=False, tag=True):
    """A game that waits for its start will not be played; an expired one not to its end either."""

    reason: Literal["opener", "expired"]


class EndGame(Struct, frozen=True, gc=False, tag=True):
    """Whoever runs the server ends a game that waits or is played; nobody wins it."""


class NoteOperator(Struct, frozen=True, gc=False, tag=True):
    """Whoever runs the server looks into a game's hands, or has its work done again: the table is told."""

    what: Literal["log_read", "unstuck"]


class SeatBotForAbsent(Struct, frozen=True, gc=False, tag=True):
    """Whoever runs the server seats a bot for a person who is away; they may reclaim the seat."""

    seat: int
    level: Level


class StartGame(Struct, frozen=True, gc=False, tag=True):
    """The waiting is over; every seat must be taken."""


class RevealNonce(Struct, frozen=True, gc=False, tag=True):
    """A seat shows the 16 bytes, hex, that it has committed itself to."""

    seat: int
    nonce: str


class DropNonces(Struct, frozen=True, gc=False, tag=True):
    """The time to reveal is over: seats that have not are emptied, and the game waits again."""

    asked_at_version: int


class ChangeController(Struct, frozen=True, gc=False, tag=True):
    """The seat goes over to a person or a bot, in any phase; its cards, points and pending buys stay.

    A bot that sits in for a person keeps their `player_id`, so that they can reclaim the seat. is_silent: it does so
    because they have not answered.
    """

    seat: int
    controller: Literal["human", "bot"]
    player_id: str | None
    level: Level | None
    reason: Literal["abandoned", "handed_over", "reclaimed", "sat_in"]
    is_silent: bool = False


class LeaveForGood(Struct, frozen=True, gc=False, tag=True):
    """A person leaves the table: a bot takes the seat, or it is out, as the rules of the game say."""

    seat: int


class OpenGame(Struct, frozen=True, gc=False, tag=True):
    """Opens a game. `commitment` is `c_0` of its chain, hex; the chain's seed is kept elsewhere.

    hints: players may ask what a bot would do. rematch_of, invited, spectator_delay_s: as
    in GameOpened.
    """

    game_id: str
    rules: Ruleset
    pace: Pace
    seats: tuple[SeatPlan, ...]
    commitment: str
    opened_by: str | None = None
    visibility: Visibility = "public"
    spectators: Spectators = "public"
    hints: bool = True
    rematch_of: str | None = None
    invited: tuple[str, ...] = ()
    spectator_delay_s: int = 0


class DealRound(Struct, frozen=True, gc=False, tag=True):
    """Deals round `number` with its secret `c_number`, hex."""

    number: int
    secret: str


class ScoreRound(Struct, frozen=True, gc=False, tag=True):
    """Counts the hands of the ended round `number`, and ends the game after the last."""

    number: int


class CloseClaims(Struct, frozen=True, gc=False, tag=True):
    """The claim window opened at that version has had its time."""

    opened_at_version: int


class WarnTurn(Struct, frozen=True, gc=False, tag=True):
    """The time of the player in turn, which counts from that version, is nearly over."""

    clock_at_version: int


class ActForSeat(Struct, frozen=True, gc=False, tag=True):
    """The turn's time is over: the table answers that decision for the seat."""

    seat: int
    decision_id: str


PlayerCommand: TypeAlias = Answer | TakeSeat | LeaveSeat | SeatBot | CancelGame | StartGame | RevealNonce | LeaveForGood
TableCommand: TypeAlias = (
    PlayerCommand
    | OpenGame
    | ChangeController
    | DropNonces
    | DealRound
    | ScoreRound
    | CloseClaims
    | WarnTurn
    | ActForSeat
    | EndGame
    | NoteOperator
    | SeatBotForAbsent
)
