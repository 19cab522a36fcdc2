"""What the cards of a meld stand for: every reading that the rules allow, and the reason where there is none.

A reading is the meld as it would lie on the table: each wild with its role, a run from low to high.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TypeAlias

from msgspec.structs import replace

from domain.cards import Card, rank_of, suit_of
from domain.meld import NewMeld, Placed
from domain.meld_rules import MeldRules
from domain.refusals import Reason, illegal
from domain.ruleset import MeldKind

Reading: TypeAlias = tuple[Placed, ...]

RUNS: frozenset[MeldKind] = frozenset({"run", "run_any_suit"})


def naturals(cards: Iterable[Placed]) -> int:
    """Counts the cards that stand for themselves, in a meld whose roles are known."""
    return sum(placed.as_ is None for placed in cards)


def readings(new: NewMeld, rules: MeldRules, *, first_laying: bool = True) -> list[Reading]:
    """Lists the legal readings, each table once: at least one, else Refused with the reason.

    Wilds of several faces in several places are turned, not put in every order: enough to show each role of
    each. A reading with fewer naturals stays in the list.
    first_laying: the wild limit counts also where it is for the first laying only.
    """
    if not new.cards:
        raise illegal("contract_not_met")
    if any(_has_no_place(placed, rules) for placed in new.cards):
        raise illegal("role_not_possible")
    found = _run_readings(new, rules) if new.kind in RUNS else _alike_readings(new, rules)
    return legal(new.kind, found, rules, first_laying=first_laying)


def legal(kind: MeldKind, found: Iterable[Reading], rules: MeldRules, *, first_laying: bool) -> list[Reading]:
    """Keeps the readings within the limits; Refused with the first one's fault where none is."""
    first_fault: Reason | None = None
    within = []
    for reading in found:
        fault = fault_of(kind, reading, rules, first_laying=first_laying)
        if fault is None:
            within.append(reading)
        first_fault = first_fault or fault
    if not within and first_fault is not None:
        raise illegal(first_fault)
    return within


def fault_of(kind: MeldKind, cards: Sequence[Placed], rules: MeldRules, *, first_laying: bool) -> Reason | None:
    """Gives the limit that a meld breaks, or None."""
    natural = naturals(cards)
    wild = len(cards) - natural
    if not natural and not rules.all_wild_melds:
        return "all_wild"
    if (first_laying or rules.max_wilds.at == "always") and too_many_wilds(natural, wild, rules):
        return "too_many_wilds"
    if kind in RUNS and not rules.wilds_adjacent and _touching(cards):
        return "wilds_adjacent"
    if kind == "set" and first_laying and rules.distinct_set_suits and _a_card_twice(cards):
        return "set_same_suit"
    return None


def too_many_wilds(natural: int, wild: int, rules: MeldRules) -> bool:
    """Tells whether a meld of so many naturals and wilds breaks the wild limit."""
    match rules.max_wilds.kind:
        case "unlimited":
            return False
        case "per_meld":
            return wild > rules.max_wilds.n
        case "at_most_half" | "not_more_than_naturals":  # the same number, said twice by the sources
            return wild > natural
        case "min_naturals":
            return natural < rules.max_wilds.n


def best(found: list[Reading]) -> list[Reading]:
    """Keeps the readings with the most naturals: what can stand in its own place does."""
    most = max(map(naturals, found))
    return [reading for reading in found if naturals(reading) == most]


def only(kind: MeldKind, found: Sequence[Reading], cards: Iterable[Placed], rules: MeldRules) -> Reading:
    """Gives the one reading; where there are several, Refused with the roles of the first wild that differs.

    Order of the roles: from the lowest. Copies of a face have theirs together, without those that are clear.
    """
    if len(found) == 1:
        return found[0]
    for card in dict.fromkeys(placed.card for placed in cards if placed.as_ is None):
        roles = [_roles_of(card, kind, reading, rules) for reading in found]
        if open_ := set().union(*roles) - roles[0].intersection(*roles):
            raise illegal("ambiguous_wild", *dict.fromkeys(role for _, role in sorted(open_)))
    raise illegal("ambiguous_wild")


def _roles_of(card: Card, kind: MeldKind, reading: Reading, rules: MeldRules) -> set[tuple[int, str]]:
    """Gives what a face stands for, each with its place in the order of the ranks or suits."""
    held = enumerate(reading, start=lowest_place(reading, rules) if kind in RUNS else 0)
    roles = [(place, placed.as_ or own_role(kind, card)) for place, placed in held if placed.card == card]
    if kind in RUNS:
        return set(roles)
    order = rules.ranks if kind == "set" else tuple(rules.suits)
    return {(order.index(role), role) for _, role in roles}


def role(kind: MeldKind, rank: str, suit: str) -> str:
    """Spells a wild's role: exact card in a run, rank in a set or any-suit run, suit in a colour meld."""
    match kind:
        case "run":
            return rank + suit
        case "set" | "run_any_suit":
            return rank
        case "colour":
            return suit


@cache
def own_role(kind: MeldKind, card: Card) -> str:
    """Spells a card's own place in a meld."""
    return role(kind, rank_of(card), suit_of(card))


def lowest_place(cards: Sequence[Placed], rules: MeldRules) -> int:
    """Gives the place of a run's lowest card. A lone ace stands as low as the rules allow."""
    first = rules.ranks.index(rank_in_run(cards[0])) + 1
    return first if first >= rules.lowest else first + len(rules.ranks)


def rank_in_run(placed: Placed) -> str:
    """Gives the rank that a card of a run stands for: roles are `6H`, `10R`, or `6` in any suit."""
    stands_for = placed.as_ or placed.card
    if placed.as_ is not None and stands_for[-1].isdigit():
        return stands_for
    return stands_for if len(stands_for) == 1 else rank_of(stands_for)


def filled(
    kind: MeldKind, places: Sequence[str], suit: str, cards: Iterable[Placed], rules: MeldRules
) -> Iterator[Reading]:
    """Puts cards on the ranks given, one on each: naturals and roles first, then the wilds, in every turn.

    A card wild by face takes its own place if that is free.
    """
    slots: list[Placed | None] = [None] * len(places)
    free: list[Card] = []
    for placed in cards:
        if placed.as_ is None and placed.card in rules.wilds:
            free.append(placed.card)
        elif not _put(slots, places, suit, kind, placed):
            return
    free = [card for card in free if not _put(slots, places, suit, kind, Placed(card))]
    gaps = [place for place, slot in enumerate(slots) if slot is None]
    if len(gaps) != len(free):
        return
    turns = range(len(free)) if len(set(free)) > 1 else range(1)
    for turn in turns:
        for gap, card in zip(gaps, free[turn:] + free[:turn], strict=True):
            slots[gap] = Placed(card, role(kind, places[gap], suit))
        yield tuple(slot for slot in slots if slot is not None)


def _put(slots: list[Placed | None], places: Sequence[str], suit: str, kind: MeldKind, placed: Placed) -> bool:
    wanted = placed.as_ or own_role(kind, placed.card)
    for place, rank in enumerate(places):
        if slots[place] is None and role(kind, rank, suit) == wanted:
            slots[place] = natural_if_own(kind, placed)
            return True
    return False


def natural_if_own(kind: MeldKind, placed: Placed) -> Placed:
    """Takes the role off a card that stands in its own place."""
    return replace(placed, as_=None) if placed.as_ == own_role(kind, placed.card) else placed


def each_table_once(found: Iterable[Reading]) -> list[Reading]:
    """Drops readings with the same roles, such as a run of thirteen with its ace below or above."""
    tables: dict[tuple[tuple[str, str], ...], Reading] = {}
    for reading in found:
        tables.setdefault(tuple(sorted((placed.card, placed.as_ or "") for placed in reading)), reading)
    return list(tables.values())


def is_role(kind: MeldKind, text: str, rules: MeldRules) -> bool:
    """Tells whether a text is a role in such a meld."""
    match kind:
        case "run":
            return text[:-1] in rules.ranks and text[-1] in rules.suits
        case "set" | "run_any_suit":
            return text in rules.ranks
        case "colour":
            return len(text) == 1 and text in rules.suits


def _has_no_place(placed: Placed, rules: MeldRules) -> bool:
    """A skip, or a joker that is not wild, is in no meld."""
    return placed.card not in rules.wilds and not suit_of(placed.card)


def bad_role(kind: MeldKind, placed: Placed, rules: MeldRules) -> bool:
    """Tells whether a role is misspelt, or given to a natural card that it is not."""
    if placed.as_ is None:
        return False
    if placed.card not in rules.wilds and placed.as_ != own_role(kind, placed.card):
        return True
    return not is_role(kind, placed.as_, rules)


def _touching(cards: Sequence[Placed]) -> bool:
    return any(low.as_ is not None and high.as_ is not None for low, high in pairwise(cards))


def _a_card_twice(cards: Iterable[Placed]) -> bool:
    return any(copies > 1 for copies in Counter(p.card for p in cards if p.as_ is None).values())


def _run_readings(new: NewMeld, rules: MeldRules) -> list[Reading]:
    kind, cards = new.kind, new.cards
    if any(bad_role(kind, placed, rules) for placed in cards):
        raise illegal("role_not_possible")
    if kind == "run" and len({suit_of(p.card) for p in cards if p.card not in rules.wilds}) > 1:
        raise illegal("run_mixed_suits")
    if len(cards) > rules.longest:
        raise illegal("run_too_long")
    found = each_table_once(_placed_as_run(kind, cards, rules))
    if not found:
        raise illegal(_why_no_run(kind, cards, rules))
    return found


def _placed_as_run(kind: MeldKind, cards: Sequence[Placed], rules: MeldRules) -> Iterator[Reading]:
    last = rules.highest if rules.wraps else rules.highest - len(cards) + 1
    for suit in _suits(kind, cards, rules):
        for first in range(rules.lowest, last + 1):
            places = [rules.rank_at(first + step) for step in range(len(cards))]
            yield from filled(kind, places, suit, cards, rules)


def _suits(kind: MeldKind, cards: Iterable[Placed], rules: MeldRules) -> Iterable[str]:
    """The suits that a run may be of: that of any card that is bound to one, else all."""
    if kind == "run_any_suit":
        return ("",)
    for placed in cards:
        if placed.as_ is not None or placed.card not in rules.wilds:
            return (suit_of(placed.as_ or placed.card),)
    return rules.suits


def with_low_ace(rules: MeldRules) -> MeldRules:
    """Gives the knobs as if the ace were low too, to tell a low ace from cards that are not consecutive."""
    return replace(rules, lowest=1)


def _why_no_run(kind: MeldKind, cards: Sequence[Placed], rules: MeldRules) -> Reason:
    if rules.lowest > 1 and any(_placed_as_run(kind, cards, with_low_ace(rules))):
        return "ace_low"
    if any(_placed_as_run(kind, [Placed(placed.card) for placed in cards], rules)):
        return "role_not_possible"
    return "run_not_consecutive"


def _alike_readings(new: NewMeld, rules: MeldRules) -> list[Reading]:
    """Reads a set, or a colour meld: every card of one rank, or of one suit."""
    kind, cards = new.kind, new.cards
    if any(bad_role(kind, placed, rules) for placed in cards):
        raise illegal("role_not_possible")
    shared = {own_role(kind, placed.card) for placed in cards if placed.card not in rules.wilds}
    if len(shared) > 1:
        raise illegal("set_mixed_ranks" if kind == "set" else "colour_mixed")
    shared |= {placed.as_ for placed in cards if placed.as_ is not None}
    if len(shared) > 1:
        raise illegal("role_not_possible")
    every = rules.ranks if kind == "set" else tuple(rules.suits)
    return [alike(kind, cards, value) for value in (shared or every)]


def alike(kind: MeldKind, cards: Iterable[Placed], value: str) -> Reading:
    """Reads every card as of this rank or suit; a card that is of it stands for itself."""
    return tuple(natural_if_own(kind, Placed(placed.card, value)) for placed in cards)
