"""What an event looks like to those who see it: one type a kind. A field that may be UNSET is absent for those who may
not know it; domain/visible.py decides who that is."""

from typing import TypeAlias

from msgspec import UNSET, Struct, UnsetType, field

from domain.cards import Card, Hand
from domain.commands import Controller, End, Level, Pace
from domain.events import Cancelling, ClaimsEnd, DrawSource, OperatorAct, Renewal, RoundEnd, SeatChange, TurnStep
from domain.meld import Meld, Placed
from domain.ruleset import Part, Ruleset


class GameOpenedData(Struct, frozen=True):
    """The rules, the pace, and the commitment to all shuffles. rematch_of: null too where spectators see late."""

    rules: Ruleset
    pace: Pace
    commitment: str
    seat_count: int
    hints: bool = True
    rematch_of: str | None = None


class SeatChangedData(Struct, frozen=True):
    """Who controls the seat from now on; the name is the player's present one, or a bot's, as in the view."""

    name: str | None
    player_id: str | None
    controller: Controller
    level: Level | None
    reason: SeatChange


class NoncesAskedData(Struct, frozen=True):
    """What each seat has committed itself to, or null."""

    commitments: tuple[str | None, ...]


class NonceRevealedData(Struct, frozen=True):
    """A seat has revealed its nonce; all are shown at once when the game starts."""


class NoncesDroppedData(Struct, frozen=True):
    """These seats are empty now, and the game waits again."""

    seats: tuple[int, ...]


class GameStartedData(Struct, frozen=True):
    """Each seat's share of the luck, or null."""

    nonces: tuple[str | None, ...]


class RoundDealtData(Struct, frozen=True):
    """A deal; `hand` is the viewer's own. In the replay of a finished game all `hands` and the `stock` are shown."""

    number: int
    contract: tuple[Part, ...]
    dealer: int
    hand_counts: tuple[int, ...]
    stock_count: int
    discard_top: Card | None
    hand: Hand | UnsetType = UNSET
    hands: tuple[Hand, ...] | UnsetType = UNSET
    stock: tuple[Card, ...] | UnsetType = UNSET


class TurnBeganData(Struct, frozen=True):
    """A turn. discard_open: the top of the pile may be taken; waiting: how many others are asked about it.

    skipped: the seats that have missed their turn before it.
    """

    step: TurnStep
    discard_open: bool
    waiting: int
    skipped: tuple[int, ...]


class TurnWarnedData(Struct, frozen=True):
    """The seat's time is nearly over; the view tells when it is."""


class CardDrawnData(Struct, frozen=True):
    """A card drawn; public when it comes from the pile."""

    source: DrawSource
    stock_count: int
    card: Card | UnsetType = UNSET


class DrawDeclinedData(Struct, frozen=True):
    """The player in turn waits for the others and then draws from the stock."""


class DrawSkippedData(Struct, frozen=True):
    """Nothing was left to draw."""


class BuyRequestedData(Struct, frozen=True):
    """A buy, called out."""

    card: Card


class PassedData(Struct, frozen=True):
    """Somebody let the card go; only that seat sees more."""

    rest_of_round: bool | UnsetType = UNSET


class CardBoughtData(Struct, frozen=True):
    """A buy carried out; the penalty cards are the buyer's alone."""

    card: Card
    penalty_count: int
    stock_count: int
    penalty_cards: tuple[Card, ...] | UnsetType = UNSET


class ClaimsClosedData(Struct, frozen=True):
    """The open discard is settled."""

    reason: ClaimsEnd


class DiscardOpenedData(Struct, frozen=True):
    """A card was uncovered and is open again."""

    card: Card
    waiting: int


class ShanghaiCalledData(Struct, frozen=True):
    """A called card and its penalty, whose card only the two seats concerned see. meld: its cards as they lie now.

    taken_back: the card went back to its discarder, `to_seat`, and not to the meld.
    """

    meld_id: str
    card: Card
    end: End | None
    from_seat: int | None
    to_seat: int | None
    penalty_count: int
    stock_count: int
    meld: tuple[Placed, ...]
    taken_back: bool
    as_: str | None = field(default=None, name="as")
    penalty_card: Card | UnsetType = UNSET


class FalseCalledData(Struct, frozen=True):
    """A call of a card that does not fit; the penalty cards are the caller's alone."""

    meld_id: str
    card: Card
    penalty_count: int
    stock_count: int
    penalty_cards: tuple[Card, ...] | UnsetType = UNSET


class MeldsLaidData(Struct, frozen=True):
    """The melds of a seat that went down."""

    melds: tuple[Meld, ...]


class CardsLaidOffData(Struct, frozen=True):
    """Cards laid on a meld. meld: its cards as they lie now."""

    meld_id: str
    cards: tuple[Placed, ...]
    end: End | None
    meld: tuple[Placed, ...]


class WildSwappedData(Struct, frozen=True):
    """A wild taken for its natural card. to_hand: it went to the hand; owed: it must be laid at once."""

    meld_id: str
    wild: Card
    as_: str = field(name="as")
    card: Card
    meld: tuple[Placed, ...]
    to_hand: bool
    owed: bool


class SwapOfferedData(Struct, frozen=True):
    """The seat is asked whether it takes a wild."""


class SwapDeclinedData(Struct, frozen=True):
    """The seat takes none."""


class CardDiscardedData(Struct, frozen=True):
    """A card on the pile."""

    card: Card
    declared: bool
    skip: int | None


class TurnEndedData(Struct, frozen=True):
    """A turn over without a discard."""


class StockRenewedData(Struct, frozen=True):
    """The pile became the stock."""

    how: Renewal
    stock_count: int
    discard_count: int


class RoundEndedData(Struct, frozen=True):
    """All hands, and the round's secret to check the deal with."""

    reason: RoundEnd
    hands: tuple[Hand, ...]
    revealed: str


class RoundScoredData(Struct, frozen=True):
    """Points and totals by seat; contracts: each seat's next contract, from 0."""

    points: tuple[int, ...]
    totals: tuple[int, ...]
    contracts: tuple[int, ...]


class GameFinishedData(Struct, frozen=True):
    """The end."""

    winners: tuple[int, ...]
    totals: tuple[int, ...]


class GameCancelledData(Struct, frozen=True):
    """The game is not played, or not to its end."""

    reason: Cancelling


class OperatorActedData(Struct, frozen=True):
    """Who runs the server has done something to the game: `log_read` (they saw all hands), `unstuck`, and so on."""

    what: OperatorAct


VisibleData: TypeAlias = (
    GameOpenedData
    | SeatChangedData
    | NoncesAskedData
    | NonceRevealedData
    | NoncesDroppedData
    | GameStartedData
    | RoundDealtData
    | TurnBeganData
    | TurnWarnedData
    | CardDrawnData
    | DrawDeclinedData
    | DrawSkippedData
    | BuyRequestedData
    | PassedData
    | CardBoughtData
    | ClaimsClosedData
    | DiscardOpenedData
    | ShanghaiCalledData
    | FalseCalledData
    | MeldsLaidData
    | CardsLaidOffData
    | WildSwappedData
    | SwapOfferedData
    | SwapDeclinedData
    | CardDiscardedData
    | TurnEndedData
    | StockRenewedData
    | RoundEndedData
    | RoundScoredData
    | GameFinishedData
    | GameCancelledData
    | OperatorActedData
)
