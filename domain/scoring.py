"""Points of the cards left in hand."""

from domain.cards import Card, Hand, rank_of
from domain.ruleset import Ruleset


def points_of(card: Card, rules: Ruleset) -> int:
    """Gives a card's points: by its face if the ruleset has it, else by its rank, else none.

    The tables in `use` are laid over the ruleset's own in their order.
    """
    return _by_name(card, rules) if (by_face := _entry(card, rules)) is None else by_face


def _by_name(card: Card, rules: Ruleset) -> int:
    return _entry(rank_of(card), rules) or 0


def _entry(name: str, rules: Ruleset) -> int | None:
    for table in reversed(rules.points.use):
        if name in rules.points.alternatives[table]:
            return rules.points.alternatives[table][name]
    return rules.points.cards.get(name)


def hand_points(hand: Hand, rules: Ruleset) -> int:
    """Sums the points of a hand."""
    return sum(points_of(card, rules) for card in hand)
