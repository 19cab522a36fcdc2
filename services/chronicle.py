"""A game as a text for people, made of nothing but the events that one viewer is shown."""

from collections.abc import Iterable, Sequence
from textwrap import fill

from msgspec import UnsetType

from domain import shown as v
from domain.cards import Card
from domain.meld import Placed
from domain.ruleset import Part
from services.rendering import EventBody

WIDTH = 100
_SUITS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_PARTS = {"set": "set of", "run": "run of", "run_any_suit": "run in any suit of", "colour": "one colour of"}
_RENEWALS = {"shuffle": "the pile is shuffled and becomes the stock", "turn_over": "the pile is turned over: the stock"}
_SEATS = {
    "taken": "{new} sits down on seat {seat}.",
    "left": "{old} leaves seat {seat}.",
    "abandoned": "{old} leaves the game; a bot plays on.",
    "handed_over": "{old} gives the hand to {new}.",
    "reclaimed": "{new} is back on seat {seat}.",
    "sat_in": "A bot sits in for {old}.",
    "out": "{old} is out of the game.",
}
_OPERATORS = {
    "log_read": "An operator has read the game with all hands.",
    "unstuck": "An operator has the game go on.",
    "bot_seated": "An operator seats a bot.",
    "ended": "An operator ends the game.",
}


def chronicle(events: Iterable[EventBody]) -> str:
    """Tells a game, or as much of its beginning as the events do: a line for each turn, hands where they are shown."""
    story = _Story()
    for event in events:
        story.tell(event)
    return story.text()


def face(card: Card) -> str:
    """Writes a card with its suit's sign: the signs differ in shape, so no colour is needed to read it."""
    rank, suit = card[:-1], card[-1:]
    if not rank or suit not in _SUITS or card == "JK":
        return card
    return ("10" if rank == "T" else rank) + _SUITS[suit]


def parts_in_words(contract: Sequence[Part]) -> str:
    """Writes a contract: `set of 3 + run of 4`."""
    return " + ".join(f"{_PARTS[part.kind]} {part.size}" for part in contract)


class _Story:
    """The lines so far, and the turn that is being told."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._turn: list[str] = []
        self._names: dict[int, str] = {}

    def tell(self, event: EventBody) -> None:
        """Adds an event; those that say nothing to a reader are passed over."""
        seat = event.seat if event.seat is not None else -1
        match event.data:
            case v.GameOpenedData():
                rules = f"{event.data.rules.name}, {event.data.seat_count} seats"
                self._line(f"Game {event.game_id}: {rules}, opened {event.occurred_at[:16].replace('T', ' ')} UTC.")
            case v.SeatChangedData():
                self._seat_changed(seat, event.data)
            case v.NoncesDroppedData():
                self._line("The players' own luck was not revealed in time; the game waits again.")
            case v.GameStartedData():
                self._line(f"The game starts: {', '.join(self._name(seat) for seat in sorted(self._names))}.")
            case v.RoundDealtData():
                self._dealt(event.data)
            case v.RoundEndedData():
                self._ended(event.seat, event.data)
            case v.RoundScoredData(points, totals):
                self._line(f"Points: {self._each(points)}. Totals: {self._each(totals)}.")
            case v.GameFinishedData(winners, totals):
                won = " and ".join(self._name(winner) for winner in winners)
                self._line(f"\n{won} won. Totals: {self._each(totals)}.")
            case v.GameCancelledData(reason):
                self._line(f"\nThe game is cancelled ({reason}); nobody has won.")
            case v.OperatorActedData(what):
                self._line(_OPERATORS.get(what, f"An operator has done something: {what}."))
            case v.TurnBeganData(skipped=skipped):
                self._end_turn()
                self._turn = [f"{self._name(seat)}:", *(f"({self._name(other)} is skipped)" for other in skipped)]
            case _:
                if words := self._in_turn(seat, event.data):
                    self._turn.append(words if len(self._turn) < 2 else f"· {words}")

    def text(self) -> str:
        """Gives the text, with a line's end at its end."""
        self._end_turn()
        return "".join(f"{line}\n" for line in self._lines)

    def _in_turn(self, seat: int, data: v.VisibleData) -> str:
        who = self._name(seat)
        match data:
            case v.CardDrawnData(source="discard", card=card):
                return f"takes {_shown(card)}"
            case v.CardDrawnData(card=card):
                return "draws" if isinstance(card, UnsetType) else f"draws {face(card)}"
            case v.DrawSkippedData():
                return "finds no card to draw"
            case v.CardBoughtData():
                return f"{who} buys {face(data.card)}{_penalty(data.penalty_count, data.penalty_cards)}"
            case v.DiscardOpenedData(card):
                return f"{face(card)} lies open"
            case v.ShanghaiCalledData():
                return f"{who} calls Shanghai: {face(data.card)} {'is taken back' if data.taken_back else data.meld_id}"
            case v.FalseCalledData():
                penalty = _penalty(data.penalty_count, data.penalty_cards)
                return f"{who} calls {face(data.card)} for {data.meld_id} in vain{penalty}"
            case v.MeldsLaidData(melds):
                return "lays " + "; ".join(f"{meld.meld_id} {_cards(meld.cards)}" for meld in melds)
            case v.CardsLaidOffData(meld_id, cards):
                return f"adds {_cards(cards)} to {meld_id}"
            case v.WildSwappedData():
                return f"{who} swaps {face(data.card)} for {face(data.wild)} in {data.meld_id}"
            case v.CardDiscardedData(card, declared, skip):
                told = f"discards {face(card)}{', declared' if declared else ''}"
                return told if skip is None else f"{told}: {self._name(skip)} misses a turn"
            case v.TurnEndedData():
                return "ends the turn"
            case v.StockRenewedData(how, stock_count):
                return f"{_RENEWALS.get(how, how)} ({stock_count} cards)"
            case _:
                return ""

    def _dealt(self, data: v.RoundDealtData) -> None:
        self._line(f"\nRound {data.number}: {parts_in_words(data.contract)}. {self._name(data.dealer)} deals.")
        hands = {} if isinstance(data.hands, UnsetType) else dict(enumerate(data.hands))
        for seat, count in enumerate(data.hand_counts):
            cards = " ".join(map(face, hands[seat])) if seat in hands else f"{count} cards"
            self._line(f"  {self._name(seat)}: {cards}")
        if not isinstance(data.hand, UnsetType):
            self._line(f"  The own hand: {' '.join(map(face, data.hand))}")
        top = "" if data.discard_top is None else f"; {face(data.discard_top)} is open"
        self._line(f"  {data.stock_count} in the stock{top}")

    def _ended(self, seat: int | None, data: v.RoundEndedData) -> None:
        how = {"out": f"{self._name(-1 if seat is None else seat)} goes out.", "left": "Nobody else is left."}
        self._line(how.get(data.reason, "The stock is used up."))
        for other, hand in enumerate(data.hands):
            if hand:
                self._line(f"  {self._name(other)} still holds {' '.join(map(face, hand))}")

    def _seat_changed(self, seat: int, data: v.SeatChangedData) -> None:
        old = self._name(seat)
        if data.name is not None and (data.controller == "human" or data.player_id is None):
            self._names[seat] = data.name
        elif data.controller == "open" and data.reason != "out":
            self._names.pop(seat, None)
        if data.reason in _SEATS:
            self._line(_SEATS[data.reason].format(old=old, new=self._name(seat), seat=seat))

    def _each(self, numbers: Sequence[int]) -> str:
        return ", ".join(f"{self._name(seat)} {number}" for seat, number in enumerate(numbers))

    def _name(self, seat: int) -> str:
        return self._names.get(seat, "Somebody" if seat < 0 else f"Seat {seat}")

    def _line(self, text: str) -> None:
        self._end_turn()
        start = "\n" if text.startswith("\n") else ""
        text = text.removeprefix("\n")
        indent = " " * (len(text) - len(text.lstrip()))
        wrapped = fill(text.lstrip(), WIDTH, initial_indent=indent, subsequent_indent=indent + "    ")
        self._lines.append(start + wrapped)

    def _end_turn(self) -> None:
        turn, self._turn = self._turn, []
        if len(turn) > 1:
            self._line(" ".join(turn))


def _shown(card: Card | UnsetType) -> str:
    return "a card" if isinstance(card, UnsetType) else face(card)


def _penalty(count: int, cards: Sequence[Card] | UnsetType) -> str:
    if count == 0:
        return ""
    known = "" if isinstance(cards, UnsetType) else f": {' '.join(map(face, cards))}"
    return f" and draws {count}{known}"


def _cards(placed: Iterable[Placed]) -> str:
    return " ".join(face(each.card) + (f"({face(each.as_)})" if each.as_ else "") for each in placed)
