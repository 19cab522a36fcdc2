"""The runs that a lay-down asks for, and what was found out about suits: shared by all contracts with these runs."""

from functools import lru_cache
from typing import NamedTuple

from domain.meld_rules import MeldRules
from domain.ruleset import MeldKind
from domain.solver_runs import RunGraph, run_graph
from domain.solver_terms import ENDLESS, FIELD, RANK_MASK, Limits, RunRules, Table, Wanted


class Shape(NamedTuple):
    """Which runs are wanted: classes with how many of each, the largest first, and the knobs that judge them.

    by_face: the copies of a set rank are not all laid in any case.
    """

    knobs: MeldRules
    kind: MeldKind
    classes: tuple[tuple[Wanted, int], ...]
    limits: Limits
    by_face: bool


class Facts(NamedTuple):
    """What is seen of a suit at once: cards, ranks (as bits too), and how many wilds no, one, two … runs need."""

    cards: int
    ranks: int
    present: int
    least: tuple[int, ...]


class RunPlan:
    """The runs of a plan. weights: what a laid natural is worth, by block and rank."""

    def __init__(self, shape: Shape, weights: tuple[tuple[int, ...], ...]):
        self.knobs, _, self.classes, self.limits, self.by_face = shape
        self.weights = weights
        self.same_weights = [weights.index(one) for one in weights]
        self.list = tuple(wanted for wanted, number in self.classes for _ in range(number))
        separate = shape.kind == "run" and self.knobs.separate_runs
        self.rules = RunRules(self.classes, self.limits, self.knobs.wilds_adjacent, separate)
        lowest, ranks = self.knobs.lowest, len(self.knobs.ranks)
        highest = self.knobs.highest + (self.knobs.longest - 1 if self.knobs.wraps else 0)
        self.ranks_of_places = [(place - 1) % ranks for place in range(lowest, highest + 1)]
        self.first_places = self.knobs.highest - lowest + 1
        ones = sum(1 << FIELD * rank for rank in range(ranks))
        self._over = ones << FIELD - 1
        self._lift = self._over - ones
        self._two_aces = self.knobs.longest > ranks
        self._facts: dict[int, Facts] = {}
        self._graphs: dict[tuple[int, int], RunGraph] = {}
        self.tables: dict[tuple[int, tuple[int, ...]], tuple[Table, bool]] = {}

    def graph(self, wilds: int, most: int) -> RunGraph:
        """Gives the lines of runs for so many wilds and runs."""
        found = self._graphs.get((wilds, most))  # kept here, for paths are read back by the graph that made them
        if found is None:
            found = self._graphs[wilds, most] = run_graph(self.rules, wilds, most)
        return found

    def facts(self, block: int) -> Facts:
        """Gives what is seen of a suit at once, remembered by the ranks present and the number of cards.

        A field is worth 1 modulo 63, so the remainder is the sum of all fields: the cards, of which there are fewer.
        """
        key = (block + self._lift & self._over) << FIELD | block % 63
        found = self._facts.get(key)
        if found is None:
            found = self._facts[key] = self._seen(block)
        return found

    def for_one_run(self, block: int) -> int:
        """Gives the cards that one run of a suit could take: each rank once, the ace twice where it is both ends."""
        once = (block + self._lift & self._over) >> FIELD - 1
        return once + 1 if self._two_aces and block & RANK_MASK > 1 else once

    def _seen(self, block: int) -> Facts:
        present = sum(1 << rank for rank in range(len(self.knobs.ranks)) if block >> FIELD * rank & (1 << FIELD) - 1)
        cards, gaps = block % 63, self._least_gaps(present)
        least, wanted = [0], 0
        for runs, one in enumerate(reversed(self.list), start=1):
            wanted += one.size
            least.append(max(runs * gaps, wanted - cards) if gaps <= self.limits.cap else ENDLESS)
        return Facts(cards, present.bit_count(), present, tuple(least))

    def _least_gaps(self, present: int) -> int:
        """Counts the gaps of the best stretch for the smallest run."""
        size = self.list[-1].size
        there = [present >> rank & 1 for rank in self.ranks_of_places]
        return size - max(sum(there[first : first + size]) for first in range(len(there) - size + 1))


@lru_cache(maxsize=100)  # two for each way in which the contracts of the rulesets in play ask for runs
def run_plan(shape: Shape, weights: tuple[tuple[int, ...], ...]) -> RunPlan:
    """Gives the runs of a plan, with their memos."""
    return RunPlan(shape, weights)
