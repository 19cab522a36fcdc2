"""Which single cards a meld on the table takes, and where: what laying off, calling and declaring ask all the time."""

from functools import lru_cache

from msgspec import Struct

from domain.cards import FACES, Card, Hand
from domain.commands import End
from domain.meld import Meld, Placed
from domain.meld_rules import MeldRules, meld_rules
from domain.readings import RUNS, fault_of, lowest_place, natural_if_own, own_role, role
from domain.ruleset import MeldKind, Ruleset


class LayOffOption(Struct, frozen=True, gc=False):
    """A card that fits a meld, with its role, and the end of the run where it goes."""

    card: Placed
    end: End | None


def lay_off_options(meld: Meld, hand: Hand, rules: Ruleset) -> tuple[LayOffOption, ...]:
    """Lists each face of the hand that fits alone, once for each place; every option is one legal lay-off.

    Order: as the hand has them, the low end first.
    """
    welcome = _welcome(meld, meld_rules(rules))
    if welcome.keys().isdisjoint(hand):
        return ()
    return tuple([option for card in dict.fromkeys(hand) if card in welcome for option in welcome[card]])


def fits(card: Card, meld: Meld, rules: Ruleset) -> tuple[LayOffOption, ...]:
    """Lists the places of a meld where one card fits."""
    return _welcome(meld, meld_rules(rules)).get(card, ())


def fitting_cards(melds: tuple[Meld, ...], rules: Ruleset) -> frozenset[Card]:
    """Gives the faces that fit some meld of a table."""
    return _fitting(melds, meld_rules(rules)) if melds else _NONE


_NONE: frozenset[Card] = frozenset()


@lru_cache(maxsize=5_000)  # the tables of as many games in play
def _fitting(melds: tuple[Meld, ...], rules: MeldRules) -> frozenset[Card]:
    return frozenset().union(*[_welcome(meld, rules) for meld in melds])


@lru_cache(maxsize=20_000)  # the melds of some thousand tables; about 1 kB each
def _welcome(meld: Meld, rules: MeldRules) -> dict[Card, tuple[LayOffOption, ...]]:
    """Gives for each face that fits the places where it does."""
    kind, cards = meld.kind, meld.cards
    found: dict[Card, tuple[LayOffOption, ...]] = {}
    for end, wanted in _open_places(meld, rules):
        for face in _faces_for(kind, wanted, rules):
            placed = natural_if_own(kind, Placed(face, wanted))
            longer = (placed, *cards) if end == "low" else (*cards, placed)
            if fault_of(kind, longer, rules, first_laying=False) is None:
                found[face] = (*found.get(face, ()), LayOffOption(placed, end))
    return {face: _one_of_each_role(options) for face, options in found.items()}


def _open_places(meld: Meld, rules: MeldRules) -> list[tuple[End | None, str]]:
    """Lists where a card may go, and the role it must have there."""
    kind, cards = meld.kind, meld.cards
    if kind not in RUNS:
        return [(None, role_of_all(meld))]
    if len(cards) >= rules.longest:
        return []
    suit = (cards[0].as_ or cards[0].card)[-1] if kind == "run" else ""
    first = lowest_place(cards, rules)
    last = first + len(cards) - 1
    places: list[tuple[End | None, str]] = []
    if rules.wraps or first > rules.lowest:
        places.append(("low", role(kind, rules.rank_at(first - 1), suit)))
    if rules.wraps or last < rules.highest:
        places.append(("high", role(kind, rules.rank_at(last + 1), suit)))
    return places


def role_of_all(meld: Meld) -> str:
    """Gives the role that every card of a set or colour meld has: its rank or its suit."""
    first = meld.cards[0]
    return first.as_ or own_role(meld.kind, first.card)


@lru_cache(maxsize=2_000)  # every role of some dozens of rulesets
def _faces_for(kind: MeldKind, wanted: str, rules: MeldRules) -> tuple[Card, ...]:
    """Lists the faces that can have a role: the cards that have it by nature, and the wilds."""
    faces = FACES["french" if "A" in rules.ranks else "ten-phases"]
    return tuple(face for face in faces if face in rules.wilds or own_role(kind, face) == wanted)


def _one_of_each_role(options: tuple[LayOffOption, ...]) -> tuple[LayOffOption, ...]:
    """An ace that fits both ends of `2 … K` makes the same table at either."""
    return tuple({option.card.as_: option for option in reversed(options)}.values())[::-1]
