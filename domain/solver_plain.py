"""The plain search, for contracts that mix kinds of melds which suits and ranks do not keep apart.

No preset has such a contract. It tries meld after meld, the dearest first, within a budget, and says when that ran out.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from domain.cards import Card, Hand, in_deck_order, rank_of, suit_of
from domain.lay_down import LaidMelds, fault_between
from domain.meld import Placed
from domain.readings import RUNS, Reading, fault_of, natural_if_own, naturals, own_role, role
from domain.ruleset import MeldKind
from domain.solver_plan import Plan
from domain.solver_terms import Wanted

_BUDGET = 5_000  # steps of the search with a usual hand, a tenth of a second: four times as many find a tenth more
_USUAL = 12  # cards; a bigger hand has dearer steps and gets fewer, so that no table can hold up a process
_HARD_FIRST: tuple[MeldKind, ...] = ("run", "colour", "run_any_suit", "set")

_Laid: TypeAlias = tuple[MeldKind, Reading]
_Parts: TypeAlias = list[tuple[int, tuple[MeldKind, Wanted]]]


@dataclass
class _Search:
    """The best lay-downs so far, by the cards they leave, with their worth."""

    plan: Plan
    most: int
    budget: int
    found: dict[Hand, tuple[int, LaidMelds]] = field(default_factory=dict)
    best: int = -1

    def may_go_on(self) -> bool:
        """Charges one step; false when the budget is used up."""
        self.budget -= 1
        return self.budget > 0


def plain_search(hand: Hand, plan: Plan, most: int) -> tuple[list[tuple[int, LaidMelds]], bool]:
    """Gives the best few lay-downs with their worth, and whether all were tried."""
    search = _Search(plan, most, budget=_BUDGET * _USUAL**3 // max(_USUAL, len(hand)) ** 3)
    parts = sorted(enumerate(plan.order), key=lambda part: (_HARD_FIRST.index(part[1][0]), -part[1][1].size))
    _lay(search, Counter(in_deck_order(hand)), parts, {}, 0)
    best = sorted(search.found.values(), key=lambda one: -one[0])[:most]
    return best, search.budget > 0


def _lay(search: _Search, left: Counter[Card], parts: _Parts, laid: dict[int, _Laid], worth: int) -> None:
    """Lays one part after the other; laid: by the part's place in the contract."""
    if not parts:
        rest = in_deck_order(left.elements())
        if rest not in search.found or search.found[rest][0] < worth:
            search.found[rest] = (worth, tuple(laid[place] for place in sorted(laid)))
        search.best = max(search.best, worth)
        return
    if worth + _worth(search.plan, left.elements()) <= search.best:
        return
    place, (kind, wanted) = parts[0]
    for gain, cards in _easy_first(search, left, kind, wanted):
        if not search.may_go_on():
            return
        if not any(fault_between((kind, cards), other, search.plan.knobs) for other in laid.values()):
            after = left - Counter([placed.card for placed in cards])
            _lay(search, after, parts[1:], {**laid, place: (kind, cards)}, worth + gain)


def _easy_first(search: _Search, left: Counter[Card], kind: MeldKind, wanted: Wanted) -> list[tuple[int, Reading]]:
    """Lists the melds with their worth: those with few wilds first, for the others need some too, then the dearest."""
    make = _runs if kind in RUNS else _alike
    found: dict[Reading, int] = {}
    for cards in make(search, left, kind, wanted):
        if not search.may_go_on():
            break
        if fault_of(kind, cards, search.plan.knobs, first_laying=True) is None:
            found.setdefault(cards, _worth(search.plan, (placed.card for placed in cards)))
    easy = sorted(found.items(), key=lambda one: (len(one[0]) - naturals(one[0]), -one[1]))
    return [(worth, cards) for cards, worth in easy]


def _worth(plan: Plan, cards: Iterator[Card]) -> int:
    return sum(plan.worth[card] for card in cards)


def _alike(search: _Search, left: Counter[Card], kind: MeldKind, wanted: Wanted) -> Iterator[Reading]:
    knobs = search.plan.knobs
    for value in knobs.ranks if kind == "set" else knobs.suits:
        own = [card for card in left.elements() if own_role(kind, card) == value]
        wilds = [card for card in left.elements() if card in knobs.wilds and own_role(kind, card) != value]
        sizes = range(wanted.size, (wanted.size if wanted.exact else len(own) + len(wilds)) + 1)
        for size in reversed(sizes):
            for wild in range(min(len(wilds), size) + 1):
                if size - wild > len(own):
                    continue
                for own_cards in _choices(search, own, size - wild):
                    for others in _choices(search, wilds, wild):
                        yield (*map(Placed, own_cards), *(Placed(card, value) for card in others))


def _choices(search: _Search, cards: list[Card], count: int) -> Iterator[tuple[Card, ...]]:
    """Lists the different ways to take so many of the cards."""
    seen = set()
    for chosen in combinations(cards, count):
        if not search.may_go_on():
            return
        if chosen not in seen:
            seen.add(chosen)
            yield chosen


def _runs(search: _Search, left: Counter[Card], kind: MeldKind, wanted: Wanted) -> Iterator[Reading]:
    knobs = search.plan.knobs
    for suit in knobs.suits if kind == "run" else ("",):
        for first in range(knobs.lowest, knobs.highest + 1):
            last = first + knobs.longest - 1 if knobs.wraps else knobs.highest
            ranks = [knobs.rank_at(place) for place in range(first, last + 1)]
            longest = wanted.size if wanted.exact else len(ranks)
            for cards in _filled(search, left, [(kind, rank, suit) for rank in ranks[:longest]]):
                if len(cards) >= wanted.size:
                    yield cards


def _filled(search: _Search, left: Counter[Card], places: list[tuple[MeldKind, str, str]]) -> Iterator[Reading]:
    """Fills places from the first on as far as cards go, longest first; yields every beginning of it too."""
    if places and search.may_go_on():
        kind, rank, suit = places[0]
        knobs = search.plan.knobs
        suits = suit or knobs.suits
        own = [card for card in left if left[card] and rank_of(card) == rank and suit_of(card) in tuple(suits)]
        wilds = [card for card in left if left[card] and card in knobs.wilds and card not in own]
        for card in own + wilds:
            placed = Placed(card) if card in own else Placed(card, role(kind, rank, suit))
            for others in _filled(search, left - Counter([card]), places[1:]):
                yield (natural_if_own(kind, placed), *others)
    yield ()
