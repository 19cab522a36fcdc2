"""Chooses set ranks and runs for the whole hand: the tables of the suits merged, for each choice of set ranks."""

from typing import NamedTuple, TypeAlias

from domain.cards import Hand
from domain.solver_bounds import (
    Cards,
    as_counts,
    asks_for_runs,
    falls_short,
    hand_code,
    least_wilds_for_sets,
    ranks_that_need_sets,
)
from domain.solver_groups import Groups, GroupSearch, SetOption, ranks_for_sets, set_options
from domain.solver_plan import Plan
from domain.solver_sets import Sharing
from domain.solver_suits import suit_table
from domain.solver_terms import USED_BITS, USED_SHIFT, Ask, Table

MOST_WORK = 2_000  # choices of set ranks and of own places; hands of the presets have some dozens
INEXACT_WORK = 1_000  # a suit whose own budget was used up

_RUNS_MASK = (1 << USED_SHIFT) - 1

Asks: TypeAlias = list[tuple[int, Ask]]


class Choice(NamedTuple):
    """A lay-down in outline.

    groups: the sets of each rank. runs: block, question and path. sharings: how the copies of each set rank lie, where
    that is not plain.
    """

    worth: int
    cards: Cards
    groups: Groups
    runs: tuple[tuple[int, Ask, int], ...]
    wilds_in_runs: int
    wilds_in_all: int
    sharings: tuple[Sharing, ...]


class Choices:
    """The best few choices found so far, the best first.

    exact: no better one was passed over. all_seen: there are no others, and each lays all that its set ranks have.
    floor: what a further choice must be worth more than: all are looked at until there are some, then those better
    than the last, and soon only those better than the best.
    """

    def __init__(self, most: int, more_than: int = -1):
        self._most, self._work, self._added = most, 0, 0
        self.found: list[Choice] = []
        self.exact, self.is_spent, self.all_seen = True, False, False
        self.floor = more_than

    def work(self, steps: int = 1) -> None:
        """Counts steps of the search; beyond the budget nothing is good enough any more."""
        self._work += steps
        self.is_spent = self._work > MOST_WORK
        if self.is_spent:
            self.exact, self.floor = False, 1 << 62

    def add(self, choice: Choice) -> None:
        """Keeps a choice if it is among the best; the earlier stands before an equal one."""
        place = len(self.found)
        while place and self.found[place - 1].worth < choice.worth:
            place -= 1
        if place < self._most:
            self.found.insert(place, choice)
            del self.found[self._most :]
        self._added += 1
        if self._added >= 2 * self._most:
            self.floor = max(self.floor, self.found[0].worth)
        elif len(self.found) == self._most:
            self.floor = max(self.floor, self.found[-1].worth)


# Where an entry was merged from: the chain before, the place among the questions, and the path.
_Chain: TypeAlias = "tuple[_Chain, int, int] | None"
_Row: TypeAlias = dict[int, tuple[int, _Chain]]  # by wilds: worth and chain
_Rows: TypeAlias = dict[int, _Row]  # by runs and copies used, as in a table


_NO_RUNS: _Rows = {0: {0: (0, None)}}
_NONE = Choices(0)


def choices(hand: Hand, plan: Plan, most: int, more_than: int = -1) -> Choices:
    """Finds the best few choices; none where the contract cannot be met. more_than: others may be left out."""
    found: Choices | None = None
    total = hand_code(hand, plan)
    if falls_short(total, plan):
        return _NONE
    ways = as_counts(total, plan)
    for cards in ways:
        wilds = len(cards.wilds)
        if plan.set_list:
            wilds -= least_wilds_for_sets(cards, plan)
        asked = asks_for_runs(cards, plan, wilds) if wilds >= 0 else None
        if asked is None:
            continue
        found = found or Choices(most, more_than)
        found.work()
        if found.is_spent:
            break
        if not plan.run_list:
            _choose_sets(cards, plan, found)
            continue
        needed = ranks_that_need_sets(cards, plan, asked[0])
        if needed is not None:
            _choose_with_runs(cards, plan, asked[0], len(cards.wilds) - asked[1], needed, found)
    if found is None:
        return _NONE
    found.all_seen = found.all_seen and len(ways) == 1
    return found


def _choose_sets(cards: Cards, plan: Plan, found: Choices) -> None:
    wilds, above = len(cards.wilds), cards.worth_of_wilds[-1]

    def visit(groups: Groups) -> None:
        _conclude(cards, plan, [], groups, _NO_RUNS, found)

    def visit_plain(groups: Groups) -> None:
        worth = sum([one.worth for one, _ in groups]) + above
        found.add(Choice(worth, cards, groups, (), 0, wilds, ()))

    all_laid = plan.room_for_wilds >= wilds and not plan.limits.half and not plan.by_face
    GroupSearch(
        plan,
        ranks_for_sets(cards, plan, wilds),
        wilds,
        lambda: found.floor - above,
        visit_plain if all_laid else visit,
    ).run()
    found.all_seen = all_laid and found.floor < 0


def _choose_with_runs(cards: Cards, plan: Plan, asks: Asks, wilds: int, needed: set[int], found: Choices) -> None:
    """Goes through the choices of set ranks that could still be better.

    wilds: those that runs do not need. needed: ranks of which there must be a set.
    """
    spare = all(ask.spare for _, ask in asks)
    asks = [(block, ask._replace(spare=spare)) for block, ask in asks]
    rows = _merged(plan, asks, found)
    if not plan.set_list:
        _conclude(cards, plan, asks, (), rows, found)
        return
    worths = [worth for key, row in rows.items() if key == plan.all_runs for worth, _ in row.values()]
    if not worths:
        return
    above = max(worths) + cards.worth_of_wilds[-1]

    def visit(groups: Groups) -> None:
        if not needed <= {one.rank for one, _ in groups}:
            return
        found.work()
        kept = sum([1 << one.rank for one, _ in groups])
        asks_now = [(block, ask._replace(kept=kept & plan.run_plan.facts(ask.cards).present)) for block, ask in asks]
        rows_now = rows if asks_now == asks else _merged(plan, asks_now, found)
        _conclude(cards, plan, asks_now, groups, rows_now, found)

    GroupSearch(plan, ranks_for_sets(cards, plan, wilds), wilds, lambda: found.floor - above, visit).run()


def _merged(plan: Plan, asks: Asks, found: Choices) -> _Rows:
    """Merges the tables of the suits: runs, wilds and used copies add up."""
    rows: _Rows = {0: {0: (0, None)}}
    for place, (block, ask) in enumerate(asks):
        table, exact = suit_table(plan.run_plan, block, ask)
        if not exact:
            found.exact = False
            found.work(INEXACT_WORK)
        if table:
            shift = USED_SHIFT + USED_BITS * len(plan.knobs.ranks) * block if plan.by_face else USED_SHIFT
            rows = _merged_with(rows, table, place, shift, plan, ask.wilds)
    return rows


def _merged_with(rows: _Rows, table: Table, place: int, shift: int, plan: Plan, wilds: int) -> _Rows:
    merged = {key: dict(row) for key, row in rows.items()}
    for first, row in rows.items():
        for second, entries in table.items():
            key = first + (second & _RUNS_MASK | second >> USED_SHIFT << shift)
            if key & _RUNS_MASK not in plan.within_contract:
                continue
            target = merged.setdefault(key, {})
            for entry in entries:
                for used, (worth, chain) in row.items():
                    both, total = used + entry.wilds, worth + entry.worth
                    if both <= wilds and (both not in target or target[both][0] < total):
                        target[both] = (total, (chain, place, entry.path))
    return merged


def _conclude(cards: Cards, plan: Plan, asks: Asks, groups: Groups, rows: _Rows, found: Choices) -> None:
    """Adds the best that these runs and sets are worth together; where there are no sets, all that differ in wilds."""
    best: dict[int, tuple[int, int, int, _Chain, SetOption]] = {}
    wilds = len(cards.wilds)
    spare = not plan.by_face and all(ask.spare for _, ask in asks) and not (plan.limits.half and groups)
    for key, row in rows.items():
        if key & _RUNS_MASK != plan.all_runs:
            continue
        for option in set_options(cards, plan, groups, key >> USED_SHIFT):
            for used, (worth, chain) in row.items():
                if used + option.least > wilds:
                    continue
                in_all = min(wilds, plan.room_for_wilds if spare else used + option.most)
                total = worth + option.worth + cards.worth_of_wilds[in_all]
                kind = 0 if groups else used
                if kind not in best or best[kind][0] < total:
                    best[kind] = (total, used, in_all, chain, option)
    for total, used, in_all, chain, option in best.values():
        found.add(Choice(total, cards, groups, _unchained(chain, asks), used, in_all, option.sharings))


def _unchained(chain: _Chain, asks: Asks) -> tuple[tuple[int, Ask, int], ...]:
    runs = []
    while chain is not None:
        chain, place, path = chain
        runs.append((*asks[place], path))
    return tuple(reversed(runs))
