"""What happened at a table. These are the stored facts, hidden ones included; domain/visible.py says who sees what.

An event holds whatever depended on a rule or on luck, so `evolve` only records. New optional fields may be added; any
other change of a field needs a new schema number and an upcaster (services/codec.py).
"""

from typing import Literal, TypeAlias

from msgspec import Struct, field

from domain.cards import Card, Hand
from domain.commands import Controller, End, Level, Pace, Spectators, Visibility
from domain.meld import Meld, Placed
from domain.ruleset import Part, Ruleset

TurnStep: TypeAlias = Literal["draw", "discard"]
DrawSource: TypeAlias = Literal["stock", "discard"]
ClaimsEnd: TypeAlias = Literal["answered", "time", "taken", "called", "left"]
Renewal: TypeAlias = Literal["shuffle", "turn_over"]
RoundEnd: TypeAlias = Literal["out", "exhausted", "left"]
Cancelling: TypeAlias = Literal["opener", "expired", "operator"]
OperatorAct: TypeAlias = Literal["log_read", "unstuck", "bot_seated", "ended"]
SeatChange: TypeAlias = Literal["opened", "taken", "left", "abandoned", "handed_over", "reclaimed", "sat_in", "out"]


class GameOpened(Struct, frozen=True, gc=False):
    """The first event: the whole ruleset, and the commitment `c_0` to all shuffles.

    rematch_of: the game that this one follows. invited: players who may know of it although it is private.
    spectator_delay_s: how late delayed spectators see what happens.
    """

    game_id: str
    rules: Ruleset
    pace: Pace
    commitment: str
    seat_count: int
    opened_by: str | None
    visibility: Visibility
    spectators: Spectators
    hints: bool = True
    rematch_of: str | None = None
    invited: tuple[str, ...] = ()
    spectator_delay_s: int = 0


class SeatChanged(Struct, frozen=True, gc=False):
    """Somebody else controls the seat now; `out` means that nobody does any more.

    nonce_commitment: what a person who sits down gives with it; it is published when the game starts. is_silent: the
    person has not answered for long, and a bot sits in until they are back.
    """

    seat: int
    controller: Controller
    player_id: str | None
    level: Level | None
    reason: SeatChange
    nonce_commitment: str | None = None
    is_silent: bool = False


class NoncesAsked(Struct, frozen=True, gc=False):
    """The commitments are closed and public; each seat that gave one now reveals what is behind it."""

    commitments: tuple[str | None, ...]


class NonceRevealed(Struct, frozen=True, gc=False):
    """A seat has revealed its nonce, which stays hidden until all have."""

    seat: int
    nonce: str


class NoncesDropped(Struct, frozen=True, gc=False):
    """These seats did not reveal in time and are empty now; all commitments are thrown away, the game waits again."""

    seats: tuple[int, ...]


class GameStarted(Struct, frozen=True, gc=False):
    """Seats are fixed; `nonces` holds each seat's share of the luck, hex."""

    nonces: tuple[str | None, ...]


class RoundDealt(Struct, frozen=True, gc=False):
    """A round's whole deal. `secret` is `c_number`; the stock's front is drawn next.

    contracts: the contract of each seat in this round.
    """

    number: int
    contracts: tuple[tuple[Part, ...], ...]
    dealer: int
    secret: str
    hands: tuple[Hand, ...]
    upcard: Card | None
    stock: tuple[Card, ...]


class TurnBegan(Struct, frozen=True, gc=False):
    """The seat is asked to draw, or in a first turn with an extra card to discard.

    discard_open: the top of the pile may be taken. claimants: the other seats that are asked about it. skipped: the
    seats that have missed their turn before it.
    """

    seat: int
    step: TurnStep
    discard_open: bool
    claimants: tuple[int, ...]
    skipped: tuple[int, ...] = ()


class CardDrawn(Struct, frozen=True, gc=False):
    """The player in turn has a card more, from the stock or the pile."""

    seat: int
    source: DrawSource
    card: Card
    stock_count: int


class DrawDeclined(Struct, frozen=True, gc=False):
    """The player in turn leaves the open discard to the others and will draw from the stock."""

    seat: int


class DrawSkipped(Struct, frozen=True, gc=False):
    """Stock and pile were empty: the turn goes on without a card."""

    seat: int


class BuyRequested(Struct, frozen=True, gc=False):
    """A seat wants the open discard, out of turn."""

    seat: int
    card: Card


class Passed(Struct, frozen=True, gc=False):
    """A seat lets the open discard go; who it was stays hidden."""

    seat: int
    rest_of_round: bool


class CardBought(Struct, frozen=True, gc=False):
    """The buyer has the card and then the penalty cards that the stock still had."""

    seat: int
    card: Card
    penalty_cards: tuple[Card, ...]
    stock_count: int


class ClaimsClosed(Struct, frozen=True, gc=False):
    """Nobody is asked about the open discard any more."""

    reason: ClaimsEnd


class DiscardOpened(Struct, frozen=True, gc=False):
    """The card below a bought one is open again; the player in turn is asked anew, and so are the claimants."""

    card: Card
    claimants: tuple[int, ...]


class ShanghaiCalled(Struct, frozen=True, gc=False):
    """The open discard went to a meld, whose cards stand in `cards` as they lie now.

    from_seat: whose hand the penalty card left, None for the stock. to_seat: who drew it, None where nobody did.
    taken_back: the card did not go to the meld but back to its discarder, `to_seat`.
    """

    seat: int
    meld_id: str
    card: Card
    end: End | None
    from_seat: int | None
    to_seat: int | None
    penalty_card: Card | None
    stock_count: int
    cards: tuple[Placed, ...]
    as_: str | None = field(default=None, name="as")
    taken_back: bool = False


class FalseCalled(Struct, frozen=True, gc=False):
    """A seat called the open discard, which does not fit that meld; it drew `penalty_cards` and has had its say."""

    seat: int
    meld_id: str
    card: Card
    penalty_cards: tuple[Card, ...]
    stock_count: int


class MeldsLaid(Struct, frozen=True, gc=False):
    """The seat is down."""

    seat: int
    melds: tuple[Meld, ...]


class CardsLaidOff(Struct, frozen=True, gc=False):
    """Cards went onto a meld; `meld` holds all its cards as they lie now."""

    seat: int
    meld_id: str
    cards: tuple[Placed, ...]
    end: End | None
    meld: tuple[Placed, ...]


class WildSwapped(Struct, frozen=True, gc=False):
    """A natural card took a wild's place. owed: the wild must be laid before anything else."""

    seat: int
    meld_id: str
    wild: Card
    as_: str = field(name="as")
    card: Card
    meld: tuple[Placed, ...]
    to_hand: bool
    owed: bool


class SwapOffered(Struct, frozen=True, gc=False):
    """The seat may take a wild from the table now, before the player in turn goes on."""

    seat: int


class SwapDeclined(Struct, frozen=True, gc=False):
    """The seat takes no wild."""

    seat: int


class CardDiscarded(Struct, frozen=True, gc=False):
    """The turn is over with this card on the pile."""

    seat: int
    card: Card
    declared: bool
    skip: int | None


class TurnWarned(Struct, frozen=True, gc=False):
    """The time of the player in turn is nearly over."""

    seat: int


class TurnEnded(Struct, frozen=True, gc=False):
    """The turn is over without a discard."""

    seat: int


class StockRenewed(Struct, frozen=True, gc=False):
    """The pile is the stock now, in this order, but for the `kept` cards at its top.

    kept: 1, or 2 while the top is on its way to a buyer or a meld.
    """

    how: Renewal
    stock: tuple[Card, ...]
    kept: int


class RoundEnded(Struct, frozen=True, gc=False):
    """Hands are open now, and `revealed` is the round's secret, so that everybody can check the deal."""

    seat: int | None
    reason: RoundEnd
    hands: tuple[Hand, ...]
    revealed: str


class RoundScored(Struct, frozen=True, gc=False):
    """Points of the round and totals by seat; `contracts` is each seat's next contract, from 0."""

    points: tuple[int, ...]
    totals: tuple[int, ...]
    contracts: tuple[int, ...]


class GameFinished(Struct, frozen=True, gc=False):
    """The game is over; several winners share it."""

    winners: tuple[int, ...]
    totals: tuple[int, ...]


class GameCancelled(Struct, frozen=True, gc=False):
    """The game will not be played, or not to its end; nobody has won."""

    reason: Cancelling


class OperatorActed(Struct, frozen=True, gc=False):
    """Somebody who runs the server looked into the hands or took a hand in the game; who it was is kept elsewhere."""

    what: OperatorAct


Event: TypeAlias = (
    GameOpened
    | SeatChanged
    | NoncesAsked
    | NonceRevealed
    | NoncesDropped
    | GameStarted
    | RoundDealt
    | TurnBegan
    | TurnWarned
    | CardDrawn
    | DrawDeclined
    | DrawSkipped
    | BuyRequested
    | Passed
    | CardBought
    | ClaimsClosed
    | DiscardOpened
    | ShanghaiCalled
    | FalseCalled
    | MeldsLaid
    | CardsLaidOff
    | WildSwapped
    | SwapOffered
    | SwapDeclined
    | CardDiscarded
    | TurnEnded
    | StockRenewed
    | RoundEnded
    | RoundScored
    | GameFinished
    | GameCancelled
    | OperatorActed
)
