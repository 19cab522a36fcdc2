"""What one viewer may see of an event. Each kind's public fields are built up here; a hidden field is absent.

A seat sees its own cards, everybody else sees that cards moved. How an event looks never depends on when it is read.
"""

from typing import TypeAlias, assert_never

from msgspec import UNSET, Struct, UnsetType, field

from domain import events as e
from domain.cards import Card, Hand, in_deck_order
from domain.commands import Controller, End, Level, Pace
from domain.meld import Meld, Placed
from domain.ruleset import Part, Ruleset


class GameOpenedData(Struct, frozen=True):
    """The rules, the pace, and the commitment to all shuffles."""

    rules: Ruleset
    pace: Pace
    commitment: str
    seat_count: int


class SeatChangedData(Struct, frozen=True):
    """Who controls the seat from now on; the name is the player's present one."""

    name: str | None
    player_id: str | None
    controller: Controller
    level: Level | None
    reason: str


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
    """A deal; `hand` is the viewer's own."""

    number: int
    contract: tuple[Part, ...]
    dealer: int
    hand_counts: tuple[int, ...]
    stock_count: int
    discard_top: Card | None
    hand: Hand | UnsetType = UNSET


class TurnBeganData(Struct, frozen=True):
    """A turn. discard_open: the top of the pile may be taken; waiting: how many others are asked about it.

    skipped: the seats that have missed their turn before it.
    """

    step: str
    discard_open: bool
    waiting: int
    skipped: tuple[int, ...]


class CardDrawnData(Struct, frozen=True):
    """A card drawn; public when it comes from the pile."""

    source: str
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

    reason: str


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

    how: str
    stock_count: int
    discard_count: int


class RoundEndedData(Struct, frozen=True):
    """All hands, and the round's secret to check the deal with."""

    reason: str
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


VisibleData: TypeAlias = (
    GameOpenedData
    | SeatChangedData
    | NoncesAskedData
    | NonceRevealedData
    | NoncesDroppedData
    | GameStartedData
    | RoundDealtData
    | TurnBeganData
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
)


def kind_of(event: e.Event) -> str:
    """Gives an event's public name, `card_drawn` for CardDrawn."""
    return KINDS[type(event)]


def seat_of(event: e.Event, viewer: int | None) -> int | None:
    """Gives the seat that the event is about; who passed is hidden from the others."""
    if isinstance(event, e.Passed):
        return event.seat if event.seat == viewer else None
    return getattr(event, "seat", None)


def visible_data(event: e.Event, viewer: int | None) -> VisibleData:
    """Shows an event to the seat `viewer`, or to a spectator. Names are filled in by the house."""
    match event:
        case e.GameOpened():
            return GameOpenedData(event.rules, event.pace, event.commitment, event.seat_count)
        case e.SeatChanged():
            return SeatChangedData(None, event.player_id, event.controller, event.level, event.reason)
        case e.NoncesAsked(commitments):
            return NoncesAskedData(commitments)
        case e.NonceRevealed():
            return NonceRevealedData()
        case e.NoncesDropped(seats):
            return NoncesDroppedData(seats)
        case e.GameStarted(nonces):
            return GameStartedData(nonces)
        case e.RoundDealt():
            return _round_dealt(event, viewer)
        case e.TurnBegan():
            return TurnBeganData(event.step, event.discard_open, len(event.claimants), event.skipped)
        case e.CardDrawn():
            seen = event.source == "discard" or event.seat == viewer
            return CardDrawnData(event.source, event.stock_count, event.card if seen else UNSET)
        case e.DrawDeclined():
            return DrawDeclinedData()
        case e.DrawSkipped():
            return DrawSkippedData()
        case e.BuyRequested():
            return BuyRequestedData(event.card)
        case e.Passed():
            return PassedData(event.rest_of_round if event.seat == viewer else UNSET)
        case e.CardBought():
            penalty = event.penalty_cards if event.seat == viewer else UNSET
            return CardBoughtData(event.card, len(event.penalty_cards), event.stock_count, penalty)
        case e.ClaimsClosed(reason):
            return ClaimsClosedData(reason)
        case e.DiscardOpened(card, claimants):
            return DiscardOpenedData(card, len(claimants))
        case e.ShanghaiCalled():
            return _shanghai_called(event, viewer)
        case e.FalseCalled():
            penalty = event.penalty_cards if event.seat == viewer else UNSET
            count = len(event.penalty_cards)
            return FalseCalledData(event.meld_id, event.card, count, event.stock_count, penalty)
        case e.MeldsLaid():
            return MeldsLaidData(event.melds)
        case e.CardsLaidOff():
            return CardsLaidOffData(event.meld_id, event.cards, event.end, event.meld)
        case e.WildSwapped():
            return WildSwappedData(
                event.meld_id, event.wild, event.as_, event.card, event.meld, event.to_hand, event.owed
            )
        case e.SwapOffered():
            return SwapOfferedData()
        case e.SwapDeclined():
            return SwapDeclinedData()
        case e.CardDiscarded():
            return CardDiscardedData(event.card, event.declared, event.skip)
        case e.TurnEnded():
            return TurnEndedData()
        case e.StockRenewed():
            return StockRenewedData(event.how, len(event.stock), event.kept)
        case e.RoundEnded():
            return RoundEndedData(event.reason, event.hands, event.revealed)
        case e.RoundScored():
            return RoundScoredData(event.points, event.totals, event.contracts)
        case e.GameFinished():
            return GameFinishedData(event.winners, event.totals)
        case _:
            assert_never(event)


def _round_dealt(event: e.RoundDealt, viewer: int | None) -> RoundDealtData:
    return RoundDealtData(
        number=event.number,
        contract=event.contracts[viewer or 0],
        dealer=event.dealer,
        hand_counts=tuple(len(hand) for hand in event.hands),
        stock_count=len(event.stock),
        discard_top=event.upcard,
        hand=UNSET if viewer is None else in_deck_order(event.hands[viewer]),
    )


def _shanghai_called(event: e.ShanghaiCalled, viewer: int | None) -> ShanghaiCalledData:
    concerned = viewer is not None and viewer in (event.from_seat, event.to_seat)
    seen = concerned and event.penalty_card is not None
    return ShanghaiCalledData(
        meld_id=event.meld_id,
        card=event.card,
        end=event.end,
        from_seat=event.from_seat,
        to_seat=event.to_seat,
        penalty_count=int(event.penalty_card is not None),
        stock_count=event.stock_count,
        meld=event.cards,
        taken_back=event.taken_back,
        as_=event.as_,
        penalty_card=event.penalty_card if seen and event.penalty_card is not None else UNSET,
    )


KINDS: dict[type[e.Event], str] = {
    e.GameOpened: "game_opened",
    e.SeatChanged: "seat_changed",
    e.NoncesAsked: "nonces_asked",
    e.NonceRevealed: "nonce_revealed",
    e.NoncesDropped: "nonces_dropped",
    e.GameStarted: "game_started",
    e.RoundDealt: "round_dealt",
    e.TurnBegan: "turn_began",
    e.CardDrawn: "card_drawn",
    e.DrawDeclined: "draw_declined",
    e.DrawSkipped: "draw_skipped",
    e.BuyRequested: "buy_requested",
    e.Passed: "passed",
    e.CardBought: "card_bought",
    e.ClaimsClosed: "claims_closed",
    e.DiscardOpened: "discard_opened",
    e.ShanghaiCalled: "shanghai_called",
    e.FalseCalled: "false_called",
    e.MeldsLaid: "melds_laid",
    e.CardsLaidOff: "cards_laid_off",
    e.WildSwapped: "wild_swapped",
    e.SwapOffered: "swap_offered",
    e.SwapDeclined: "swap_declined",
    e.CardDiscarded: "card_discarded",
    e.TurnEnded: "turn_ended",
    e.StockRenewed: "stock_renewed",
    e.RoundEnded: "round_ended",
    e.RoundScored: "round_scored",
    e.GameFinished: "game_finished",
}
