"""Finds what a hand can lay down."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from msgspec import Struct

from domain.cards import Card, Hand, in_deck_order, rank_of, suit_of, without
from domain.lay_down import fault_between
from domain.meld import Placed
from domain.meld_rules import MeldRules, meld_rules
from domain.readings import Reading, fault_of, natural_if_own, role
from domain.ruleset import Contract, MeldKind, Part, Ruleset
from domain.scoring import hand_points


class LayDown(Struct, frozen=True):
    """Melds that meet a contract, each wild with its role, and what they leave in hand."""

    melds: tuple[tuple[MeldKind, tuple[Placed, ...]], ...]
    rest: Hand
    points: int
    exact: bool = True


_BUDGET = 20_000


def best_lay_down(hand: Hand, contract: Contract, rules: Ruleset) -> LayDown | None:
    """Finds the lay-down that leaves the fewest points in hand, or None where the contract cannot be met."""
    return next(iter(lay_down_candidates(hand, contract, rules)), None)


def lay_down_candidates(
    hand: Hand, contract: Contract, rules: Ruleset, *, must_empty: int | None = None
) -> tuple[LayDown, ...]:
    """Lists the best few lay-downs, those that leave the fewest points first."""
    knobs = meld_rules(rules)
    found: dict[Hand, LayDown] = {}
    for steps, melds in enumerate(_lay_downs(hand, contract, knobs)):
        rest = hand
        for _, cards in melds:
            rest = without(rest, (p.card for p in cards)) or ()
        if must_empty is None or len(rest) <= must_empty:
            found.setdefault(rest, LayDown(melds, rest, hand_points(rest, rules)))
        if steps > _BUDGET:
            break
    ordered = sorted(found.values(), key=lambda one: (one.points, len(one.rest)))
    fewest = sorted(found.values(), key=lambda one: (len(one.rest), one.points))
    return tuple(dict.fromkeys([*ordered[:5], *fewest[:1]]))


def _lay_downs(hand: Hand, contract: Contract, rules: MeldRules) -> Iterator[tuple[tuple[MeldKind, Reading], ...]]:
    if not contract:
        yield ()
        return
    part, others = contract[0], contract[1:]
    for cards in _melds(in_deck_order(hand), part, rules):
        left = without(hand, (placed.card for placed in cards))
        if left is None:
            continue
        for rest in _lay_downs(left, others, rules):
            if not any(fault_between((part.kind, cards), other, rules) for other in rest):
                yield ((part.kind, cards), *rest)


def _melds(hand: Hand, part: Part, rules: MeldRules) -> Iterator[Reading]:
    found = _alike(hand, part, rules) if part.kind in ("set", "colour") else _runs(hand, part, rules)
    for cards in dict.fromkeys(found):
        if fault_of(part.kind, cards, rules, first_laying=True) is None:
            yield cards


def _alike(hand: Hand, part: Part, rules: MeldRules) -> Iterator[Reading]:
    for value in rules.ranks if part.kind == "set" else rules.suits:
        of = [c for c in hand if value == (rank_of(c) if part.kind == "set" else suit_of(c))]
        wilds = [c for c in hand if c in rules.wilds and c not in of]
        for size in range(len(of) + len(wilds), part.size - 1, -1):
            if rules.exact_sizes and size != part.size:
                continue
            for wild in range(min(len(wilds), size) + 1):
                for cards in combinations(of, size - wild):
                    chosen = (*cards, *wilds[:wild])
                    yield tuple(
                        natural_if_own(part.kind, Placed(c, value if c in rules.wilds else None)) for c in chosen
                    )


def _runs(hand: Hand, part: Part, rules: MeldRules) -> Iterator[Reading]:
    held = Counter(hand)
    wilds = tuple(c for c in hand if c in rules.wilds)
    for suit in rules.suits if part.kind == "run" else ("",):
        for first in range(rules.lowest, rules.highest + 1):
            last = first + rules.longest - 1 if rules.wraps else rules.highest
            yield from _from(first, last, suit, (), held, wilds, part, rules)


def _from(
    place: int,
    last: int,
    suit: str,
    cards: Reading,
    held: Counter[Card],
    wilds: Hand,
    part: Part,
    rules: MeldRules,
) -> Iterator[Reading]:
    if place <= last and not (rules.exact_sizes and len(cards) == part.size):
        rank = rules.rank_at(place)
        for face in [rank + suit] if suit else [rank + s for s in rules.suits]:
            if held[face]:
                left = held - Counter([face])
                fewer = without(wilds, [face]) or () if face in wilds else wilds
                yield from _from(place + 1, last, suit, (*cards, Placed(face)), left, fewer, part, rules)
        for wild in dict.fromkeys(wilds):
            left, fewer = held - Counter([wild]), without(wilds, [wild]) or ()
            placed = natural_if_own(part.kind, Placed(wild, role(part.kind, rank, suit)))
            yield from _from(place + 1, last, suit, (*cards, placed), left, fewer, part, rules)
    if len(cards) >= part.size:
        yield cards
