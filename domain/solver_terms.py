"""The words and numbers that the parts of the solver share."""

from typing import NamedTuple, TypeAlias

FIELD = 6  # bits for the copies of a card or rank: six packs hold 24 cards of a rank
RANK_MASK = (1 << FIELD) - 1
ENDLESS = 10**6  # more wilds than any deck has

CLASS_BITS = 4  # a contract has at most five melds
USED_BITS = 4  # five runs use at most ten cards of a rank, two aces each
USED_SHIFT = 20  # five classes of runs below

# A walk packs line, wilds and copies used into one int, and its steps into another.
STEP_BITS = 10
LINE_BITS = 20  # as many as finished runs of five classes take
LINE_MASK = (1 << LINE_BITS) - 1
WILD_BITS = 5  # a deck holds at most 24 wilds
WILD_MASK = (1 << WILD_BITS) - 1
KEPT_SHIFT = LINE_BITS + WILD_BITS


class Wanted(NamedTuple):
    """A meld to find: its least size, or its only one."""

    size: int
    exact: bool


class Limits(NamedTuple):
    """How many naturals and wilds a meld may hold. cap: most wilds. half: no more wilds than naturals."""

    least_naturals: int
    cap: int
    half: bool

    def naturals_for(self, size: int) -> int:
        """Gives the fewest naturals that a meld of this size needs."""
        return max(self.least_naturals, size - self.cap, (size + 1) // 2 if self.half else 0)


class RunRules(NamedTuple):
    """What runs are asked for. classes: sizes, with how many runs of each. separate: none may join end to end."""

    classes: tuple[tuple[Wanted, int], ...]
    limits: Limits
    wilds_adjacent: bool
    separate: bool


class Entry(NamedTuple):
    """One way to lay runs: wilds in them, worth of their naturals, and the steps as numbers in one int."""

    wilds: int
    worth: int
    path: int


# By key: the number of runs of each class and, from USED_SHIFT, the copies used of each rank kept account of.
Table: TypeAlias = dict[int, list[Entry]]


class Ask(NamedTuple):
    """A question to one suit; equal questions have equal answers.

    kept: the ranks, as bits, whose copies sets may want. wilds: at hand. most: runs in the suit.
    replace: wilds may stand where a natural could lie, which pays only where they cannot be laid elsewhere.
    spare: a wild not needed here can be laid elsewhere.
    """

    cards: int
    kept: int
    wilds: int
    most: int
    replace: bool
    spare: bool


class FoundRun(NamedTuple):
    """A run of a suit: its class, its lowest place, and for each place whether a natural lies there."""

    wanted: int
    first: int
    naturals: tuple[bool, ...]


def worth_keeping(entries: list[Entry], *, spare: bool) -> list[Entry]:
    """Drops the entries that another beats with as many wilds, or with fewer where wilds can be spared."""
    best: list[Entry] = []
    for entry in sorted(entries, key=lambda entry: (entry.wilds, -entry.worth)):
        if not best or (entry.wilds > best[-1].wilds and not (spare and entry.worth <= best[-1].worth)):
            best.append(entry)
    return best
