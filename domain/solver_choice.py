"""Chooses set ranks and runs for the whole hand: the tables of the suits merged, for each choice of set ranks."""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from domain.cards import Hand
from domain.solver_bounds import Cards, as_counts, asks_for_runs, least_wilds_for_sets
from domain.solver_plan import FIELD, Plan, Wanted
from domain.solver_runs import RANK_MASK, USED_BITS, USED_SHIFT, Table
from domain.solver_sets import Sharing, sharings, wilds_for
from domain.solver_suits import Ask

Groups: TypeAlias = tuple[tuple[int, tuple[Wanted, ...]], ...]

_RUNS_MASK = (1 << USED_SHIFT) - 1
_USED_MASK = (1 << USED_BITS) - 1


class Choice(NamedTuple):
    """A lay-down in outline. groups: the sets by rank. runs: block, question and path. wilds: in runs, in all melds.

    sharings: how the copies of each set rank lie, where that is not plain.
    """

    worth: int
    cards: Cards
    groups: Groups
    runs: tuple[tuple[int, Ask, int], ...]
    wilds_in_runs: int
    wilds_in_all: int
    sharings: tuple[Sharing, ...]


class Choices:
    """The best few choices found so far, the best first."""

    def __init__(self, most: int):
        self._most = most
        self.found: list[Choice] = []
        self.best_worth = -1

    def add(self, choice: Choice) -> None:
        """Keeps a choice among the best; the earlier stands before an equal one."""
        place = len(self.found)
        while place and self.found[place - 1].worth < choice.worth:
            place -= 1
        if place < self._most:
            self.found.insert(place, choice)
            del self.found[self._most :]
            self.best_worth = self.found[0].worth


class _SetOption(NamedTuple):
    """What sets make of the copies that runs leave: wilds at least and at most, worth, and the sharings if not plain."""

    least: int
    most: int
    worth: int
    sharings: tuple[Sharing, ...] = ()


_Chain: TypeAlias = "tuple[_Chain | None, int, int]"
_Row: TypeAlias = "dict[int, tuple[int, _Chain | None]]"
_Rows: TypeAlias = dict[int, _Row]
_Asks: TypeAlias = list[tuple[int, Ask]]


def choices(hand: Hand, plan: Plan, most: int) -> list[Choice]:
    """Finds the best few choices, the best one exactly; none where the contract cannot be met."""
    found = Choices(most)
    for cards in as_counts(hand, plan):
        wilds = len(cards.wilds)
        if plan.set_list:
            wilds -= least_wilds_for_sets(cards, plan)
        if wilds < 0:
            continue
        if not plan.run_list:
            _choose_sets(cards, plan, found)
            continue
        asked = asks_for_runs(cards, plan, wilds)
        if asked is not None:
            _choose_with_runs(cards, plan, asked[0], len(cards.wilds) - asked[1], found)
    return found.found


def _choose_sets(cards: Cards, plan: Plan, found: Choices) -> None:
    above = cards.worth_of_wilds[-1]
    for groups in _groupings(cards, plan, len(cards.wilds), above, found):
        _conclude(cards, plan, [], groups, _NO_RUNS, found)


def _choose_with_runs(cards: Cards, plan: Plan, asks: _Asks, wilds: int, found: Choices) -> None:
    """Goes through the choices of set ranks that could still be better; wilds: those that runs do not need."""
    spare = all(ask.spare for _, ask in asks)
    asks = [(block, ask._replace(spare=spare)) for block, ask in asks]
    rows = _merged(plan, asks)
    if not plan.set_list:
        _conclude(cards, plan, asks, (), rows, found)
        return
    worths = [worth for key, row in rows.items() if key == plan.all_runs for worth, _ in row.values()]
    if not worths:
        return
    for groups in _groupings(cards, plan, wilds, max(worths) + cards.worth_of_wilds[-1], found):
        kept = sum(1 << rank for rank, _ in groups)
        asks_now = [(block, ask._replace(kept=kept & plan.facts(ask.cards).present)) for block, ask in asks]
        rows_now = rows if asks_now == asks else _merged(plan, asks_now)
        _conclude(cards, plan, asks_now, groups, rows_now, found)


def _groupings(cards: Cards, plan: Plan, wilds: int, above: int, found: Choices) -> Iterator[Groups]:
    """Lists the choices of set ranks that so many wilds could fill, those worth most first as far as that is easy.

    above: what all else is worth at the most; choices that could not be better than the best found are left out.
    """
    held = plan.copies(cards.blocks)
    smallest = plan.set_list[-1]
    order = [
        (worth, rank, copies)
        for rank, (copies, worth) in enumerate(held)
        if wilds_for(copies, (smallest,), plan.limits) is not None and copies + wilds >= smallest.size
    ]
    order.sort(key=lambda one: -one[0])
    best_left = [sum(worth for worth, _, _ in order[place:][: len(plan.set_list)]) for place in range(len(order))]

    def ways(place: int, start: int, groups: dict[int, tuple[Wanted, ...]], worth: int) -> Iterator[Groups]:
        if place == len(plan.set_list):
            yield tuple(groups.items())
            return
        wanted, last = plan.set_list[place], place + 1 == len(plan.set_list)
        for index in range(start, len(order)):
            if above + worth + best_left[0 if not last and plan.set_list[place + 1] != wanted else index] <= found.best_worth:
                return
            gain, rank, copies = order[index]
            sets = groups.get(rank, ())
            if sets and plan.knobs.distinct_set_ranks:
                continue
            now = {**groups, rank: (*sets, wanted)}
            if _needed(now, held, plan) > wilds:
                continue
            again = not last and plan.set_list[place + 1] == wanted
            yield from ways(place + 1, index if again else 0, now, worth + (0 if sets else gain))

    return ways(0, 0, {}, 0)
