"""Points of the cards left in hand."""

from domain.cards import FACES, Card, Hand, rank_of
from domain.remembered import Remembered
from domain.ruleset import Ruleset


def points_of(card: Card, rules: Ruleset) -> int:
    """Gives a card's points: by its face if the ruleset has it, else by its rank, else none.

    The tables in `use` are laid over the ruleset's own in their order.
    """
    return _table(rules)[card]


def points_by_face(rules: Ruleset) -> tuple[int, ...]:
    """Lists the points of all faces of the deck, in its order."""
    return tuple(_table(rules).values())


def hand_points(hand: Hand, rules: Ruleset) -> int:
    """Sums the points of a hand."""
    return sum(map(_table(rules).__getitem__, hand))


def _points_by_face(rules: Ruleset) -> dict[Card, int]:
    named = dict(rules.points.cards)
    for table in rules.points.use:
        named |= rules.points.alternatives[table]
    return {face: named.get(face, named.get(rank_of(face), 0)) for face in FACES[rules.deck.kind]}


_table = Remembered("points", _points_by_face)
