"""Laying off on a meld that lies, and taking a wild for the card it stands for."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from domain.cards import Card, Hand
from domain.meld import Meld, Placed
from domain.meld_rules import MeldRules, meld_rules
from domain.readings import (
    RUNS,
    Reading,
    alike,
    bad_role,
    best,
    each_table_once,
    filled,
    legal,
    lowest_place,
    only,
    own_role,
    with_low_ace,
)
from domain.refusals import Reason, Refused, illegal
from domain.ruleset import Ruleset
from domain.welcome import role_of_all

End: TypeAlias = Literal["low", "high"]


class SwapOption(Struct, frozen=True):
    """A wild on the table that may be taken for a card."""

    wild: Card
    as_: str
    card: Card


class _Longer(Struct, frozen=True):
    """A run with cards added: how many of them below and above."""

    cards: Reading
    below: int
    above: int


def lay_off(meld: Meld, cards: tuple[Placed, ...], end: End | None, rules: Ruleset) -> Meld:
    """Gives the meld with cards added, several judged as a whole: `5C 6C` onto `JK(7C) 8C 9C TC`.

    end: the side for what would fit both; at least one card must go there. It says nothing for a set.
    Errors: Refused with the reason; with `ambiguous_wild` and its roles where several tables would be legal.
    Source: melds, exactly. Distinct ranks and separate runs hold for a lay-down only and are not asked here.
    """
    knobs = meld_rules(rules)
    if not cards or any(bad_role(meld.kind, placed, knobs) for placed in cards):
        raise illegal("role_not_possible" if cards else "does_not_fit")
    if meld.kind in RUNS:
        return replace(meld, cards=_run_with(meld, cards, end, knobs))
    value = role_of_all(meld)
    wanted = {placed.as_ for placed in cards if placed.card in knobs.wilds} - {None, value}
    if wanted:
        raise illegal("role_not_possible")
    if any(own_role(meld.kind, p.card) != value for p in cards if p.card not in knobs.wilds):
        raise illegal("does_not_fit")
    longer = (*meld.cards, *alike(meld.kind, cards, value))
    return replace(meld, cards=legal(meld.kind, [longer], knobs, first_laying=False)[0])


def _run_with(meld: Meld, cards: Sequence[Placed], end: End | None, rules: MeldRules) -> Reading:
    if len(meld.cards) + len(cards) > rules.longest:
        raise illegal("meld_full")
    found = _towards(end, _longer_runs(meld, cards, rules))
    if not found:
        raise illegal(_why_not(meld, cards, end, rules))
    tables = each_table_once(longer.cards for longer in found)
    return only(meld.kind, best(legal(meld.kind, tables, rules, first_laying=False)), cards, rules)


def _longer_runs(meld: Meld, cards: Sequence[Placed], rules: MeldRules) -> Iterator[_Longer]:
    """Lists the runs that the old one and the new cards make, whatever the limits say, most cards below first."""
    kind, old = meld.kind, meld.cards
    first, size = lowest_place(old, rules), len(old)
    suit = (old[0].as_ or old[0].card)[-1] if kind == "run" else ""
    for below in range(len(cards), -1, -1):
        above = len(cards) - below
        if not rules.wraps and (first - below < rules.lowest or first + size + above - 1 > rules.highest):
            continue
        places = [*range(first - below, first), *range(first + size, first + size + above)]
        ranks = [rules.rank_at(place) for place in places]
        for added in filled(kind, ranks, suit, cards, rules):
            yield _Longer((*added[:below], *old, *added[below:]), below, above)


def _towards(end: End | None, runs: Iterable[_Longer]) -> list[_Longer]:
    """Keeps the runs with the most cards at that end, at least one; all where no end is given."""
    found = list(runs)
    if end is None:
        return found
    there = [longer.below if end == "low" else longer.above for longer in found]
    most = max(there, default=0)
    return [longer for longer, cards in zip(found, there, strict=True) if cards == most > 0]


def _why_not(meld: Meld, cards: Sequence[Placed], end: End | None, rules: MeldRules) -> Reason:
    if rules.lowest > 1 and _towards(end, _longer_runs(meld, cards, with_low_ace(rules))):
        return "ace_low"
    if any(placed.as_ for placed in cards):
        unbound = [Placed(placed.card) for placed in cards]
        if _towards(end, _longer_runs(meld, unbound, rules)):
            return "role_not_possible"
    return "does_not_fit"


def swap(meld: Meld, wild: Card, as_: str, card: Card, rules: Ruleset) -> Meld:
    """Gives the meld with a natural card in the place of a wild, which leaves it or (`move`) goes to an end.

    move: to the high end if it may lie there, else to the low one; in a set it stays.
    Errors: Refused with `swap_not_allowed`, `not_represented`, or what keeps a moved wild from both ends.
    """
    if rules.swap.whose == "none" or (meld.kind not in RUNS and not rules.swap.sets):
        raise illegal("swap_not_allowed")
    taken = Placed(wild, as_)
    if taken not in meld.cards or own_role(meld.kind, card) != as_:
        raise illegal("not_represented")
    place = meld.cards.index(taken)
    after = replace(meld, cards=(*meld.cards[:place], Placed(card), *meld.cards[place + 1 :]))
    return _moved(after, wild, rules) if rules.swap.whose == "move" else after


def _moved(meld: Meld, wild: Card, rules: Ruleset) -> Meld:
    if meld.kind not in RUNS:
        return lay_off(meld, (Placed(wild),), None, rules)
    try:
        return lay_off(meld, (Placed(wild),), "high", rules)
    except Refused:
        return lay_off(meld, (Placed(wild),), "low", rules)


def swap_options(meld: Meld, hand: Hand, rules: Ruleset) -> tuple[SwapOption, ...]:
    """Lists the wilds of a meld that a card of the hand may take the place of, each pair once."""
    kind, whose = meld.kind, rules.swap.whose
    if whose == "none" or (kind not in RUNS and not rules.swap.sets):
        return ()
    found: list[SwapOption] = []
    for wild in _wilds_in(meld):
        as_ = wild.as_ or ""
        fitting = [as_] if kind == "run" else [card for card in dict.fromkeys(hand) if own_role(kind, card) == as_]
        found += [SwapOption(wild.card, as_, card) for card in fitting if card in hand]
    if whose == "move":
        return tuple(option for option in found if _may_move(meld, option, rules))
    return tuple(found)


@lru_cache(maxsize=20_000)  # the melds of some thousand tables
def _wilds_in(meld: Meld) -> tuple[Placed, ...]:
    return tuple(dict.fromkeys(placed for placed in meld.cards if placed.as_ is not None))


def _may_move(meld: Meld, option: SwapOption, rules: Ruleset) -> bool:
    try:
        swap(meld, option.wild, option.as_, option.card, rules)
    except Refused:
        return False
    return True
