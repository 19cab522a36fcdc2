"""Every move of the kinds that can be listed, legal or not: what a seat could possibly send."""

from collections.abc import Iterable, Iterator
from itertools import product

from domain import events as e
from domain.cards import FACES, Card
from domain.commands import (
    Answer,
    Buy,
    CallShanghai,
    Discard,
    DrawStock,
    End,
    LayOff,
    Move,
    Pass,
    SwapWild,
    TakeDiscard,
)
from domain.decide import decide
from domain.decisions import Decision
from domain.events import Event
from domain.meld import Meld, Placed
from domain.meld_rules import meld_rules
from domain.readings import own_role, role
from domain.refusals import Refused
from domain.ruleset import Ruleset
from domain.state import Game, Round

ENDS: tuple[End | None, ...] = (None, "low", "high")


def finite_moves(game: Game, decision: Decision) -> Iterator[Move]:
    """Lists the moves of all finite kinds: with cards held or not, in every place and every role."""
    assert game.round is not None
    hand = game.seats[decision.seat].hand
    held = (*dict.fromkeys(hand), next(face for face in FACES[game.rules.deck.kind] if face not in hand))
    yield from (DrawStock(), TakeDiscard(), Pass(), Pass(rest_of_round=True))
    yield from _about_the_top(game, game.round)
    yield from _discards(held, len(game.seats))
    for meld in game.round.melds:
        yield from _lay_offs(meld, held, game.rules)
        yield from _swaps(meld, held)


def _about_the_top(game: Game, round_: Round) -> Iterator[Move]:
    top = round_.pile[-1].card if round_.pile else "9D"
    yield from (Buy(card) for card in dict.fromkeys((top, "7H", "JK", "9R")))
    yield CallShanghai("m99")
    for meld in round_.melds:
        for as_, end in product(_roles(meld, top, game.rules), ENDS):
            yield CallShanghai(meld.meld_id, end, as_)


def _discards(held: Iterable[Card], seats: int) -> Iterator[Move]:
    for card, declare, skip in product(held, (False, True), (None, *range(seats))):
        yield Discard(card, declare, skip)


def _lay_offs(meld: Meld, held: Iterable[Card], rules: Ruleset) -> Iterator[Move]:
    for card in held:
        for as_, end in product(_roles(meld, card, rules), ENDS):
            yield LayOff(meld.meld_id, (Placed(card, as_),), end)


def _swaps(meld: Meld, held: Iterable[Card]) -> Iterator[Move]:
    for placed, card in product(dict.fromkeys(meld.cards), held):
        yield SwapWild(meld.meld_id, placed.card, as_=placed.as_ or placed.card, card=card)


def _roles(meld: Meld, card: Card, rules: Ruleset) -> tuple[str | None, ...]:
    """Lists every role that a card could be given in a meld: none, its own, and for a wild all others."""
    if card not in rules.deck.wilds:
        return (None, own_role(meld.kind, card))
    knobs = meld_rules(rules)
    suit = next((placed.as_ or placed.card)[-1] for placed in meld.cards)
    if meld.kind == "colour":
        return (None, *knobs.suits)
    return (None, *(role(meld.kind, rank, suit) for rank in knobs.ranks))


def come_to(move: Move, events: list[Event]) -> object:
    """Tells what a move comes to: two ways of saying the same lay-off or call are one."""
    for event in events:
        match event:
            case e.CardsLaidOff(meld_id=meld_id, meld=meld) | e.ShanghaiCalled(meld_id=meld_id, cards=meld):
                return type(move), meld_id, meld, event.seat
            case e.FalseCalled():
                return e.FalseCalled
            case _:
                pass
    return move


def outcome(move: Move, game: Game, decision: Decision) -> object | None:
    """Gives what a move comes to, or None where it is refused."""
    try:
        return come_to(move, decide(Answer(decision.seat, decision.decision_id, move), game))
    except Refused:
        return None
