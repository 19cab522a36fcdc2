"""What a lay-down must be, worked out once for a contract under a ruleset, and the memos that go with it.

A hand is one int here: a block for each suit with six bits for each rank (six packs hold 24 cards of a rank), and
above the blocks six bits for each wild face. The sum of the blocks counts the ranks. Where a run may be of any suit
there is one block for all.
"""

from itertools import product
from typing import Literal, NamedTuple, TypeAlias

from domain.cards import FACES, Card, rank_of, suit_of
from domain.meld import Placed
from domain.meld_rules import MeldRules
from domain.ruleset import Contract, MeldKind
from domain.solver_run_plan import Shape, run_plan
from domain.solver_terms import CLASS_BITS, ENDLESS, FIELD, Limits, Wanted

Aim: TypeAlias = Literal["points", "cards"]


class OwnPlace(NamedTuple):
    """Copies of a card wild by face that stand for themselves."""

    block: int
    rank: int
    number: int


class WildWay(NamedTuple):
    """What the wild faces of a hand are: naturals, as a code to add to the others, and wilds with their worth."""

    code: int
    wilds: tuple[Card, ...]
    worth: tuple[int, ...]
    own: tuple[OwnPlace, ...]


class WildWays(NamedTuple):
    """All that the wild faces of a hand could be. most: the naturals, if all that can are naturals."""

    most: int
    ways: tuple[WildWay, ...]


class Windows(NamedTuple):
    """What finds the best stretch of places for the smallest run in all suits at once.

    number, size: of the runs. over, lift: tell which cards are there. again, up: the ranks that are places above the
    last one too, and how far up. steps: from a field to those that follow in a stretch. starts: the fields where one
    may begin; lifts: what lifts there, by cards missing, the counts that are enough.
    """

    number: int
    size: int
    over: int
    lift: int
    again: int
    up: int
    steps: tuple[int, ...]
    starts: int
    lifts: tuple[int, ...]


class Plan:
    """A contract under certain knobs and points, aimed at few points or at few cards in hand.

    sets, runs: classes of melds with how many of each are wanted, the largest first. weights: what a laid natural is
    worth, by block and rank. by_face: the copies of a set rank differ, for not all of them are always laid.
    odd: the kinds do not go through suits and ranks, so that the plain search is used.
    """

    def __init__(self, knobs: MeldRules, contract: Contract, extra: Contract, points: tuple[int, ...], aim: Aim):
        self.knobs, self.contract, self.extra, self.points, self.aim = knobs, contract, extra, points, aim
        kinds = {part.kind for part in (*contract, *extra)}
        self.run_kind: MeldKind = "run_any_suit" if "run_any_suit" in kinds else "run"
        self.set_kind: MeldKind = "colour" if "colour" in kinds else "set"
        self.limits = _limits(knobs)
        self._read_contract()
        self._read_faces(points, aim)
        self.odd = self._is_odd(kinds)
        shape = Shape(knobs, self.run_kind, self.runs, self.limits, self.by_face)
        self.run_plan = run_plan(shape, tuple(map(tuple, self.weights)))

    def _read_contract(self) -> None:
        self.sets, self.runs = self._classes(self.set_kind), self._classes(self.run_kind)
        self.set_list = tuple(wanted for wanted, number in self.sets for _ in range(number))  # equal ones identical
        self.run_list = tuple(wanted for wanted, number in self.runs for _ in range(number))
        self.naturals_for = tuple(self.limits.naturals_for(wanted.size) for wanted in self.set_list)
        self.distinct_ranks = self.knobs.distinct_set_ranks and self.set_kind == "set"
        self.least_cards = sum(wanted.size for wanted in (*self.set_list, *self.run_list))
        self.order = [(part.kind, Wanted(part.size, self.knobs.exact_sizes)) for part in self.contract]
        self.order += [(part.kind, Wanted(part.size, exact=False)) for part in self.extra]
        self.smallest = min(wanted.size for wanted in (*self.set_list, *self.run_list))
        knobs, limits, numbers = self.knobs, self.limits, [number for _, number in self.runs]
        self.all_runs = sum(number << CLASS_BITS * place for place, number in enumerate(numbers))
        self.within_contract = frozenset(
            sum(number << CLASS_BITS * place for place, number in enumerate(chosen))
            for chosen in product(*(range(number + 1) for number in numbers))
        )
        self.by_face = knobs.exact_sizes or (knobs.distinct_set_suits and bool(self.sets))
        self.room_for_wilds = min(ENDLESS, limits.cap * len(self.set_list + self.run_list))
        endless = limits.cap >= ENDLESS and not limits.half and limits.least_naturals <= 1
        self.wilds_do_all = endless and knobs.wilds_adjacent and not self.by_face

    def _classes(self, kind: MeldKind) -> tuple[tuple[Wanted, int], ...]:
        wanted = [Wanted(part.size, self.knobs.exact_sizes) for part in self.contract if part.kind == kind]
        wanted += [Wanted(part.size, exact=False) for part in self.extra if part.kind == kind]
        return tuple((one, wanted.count(one)) for one in sorted(set(wanted), reverse=True))

    def _read_faces(self, points: tuple[int, ...], aim: Aim) -> None:
        knobs = self.knobs
        faces = FACES["french" if "A" in knobs.ranks else "ten-phases"]
        self.worth = {face: worth_of_card(value, aim) for face, value in zip(faces, points, strict=True)}
        self.wild_faces = tuple(sorted(knobs.wilds, key=lambda face: (-self.worth[face], face)))
        self.wild_ranks = {rank_of(face) for face in self.wild_faces}
        ranks = len(knobs.ranks)
        ones = sum(1 << FIELD * rank for rank in range(ranks))
        self.block_mask = (1 << FIELD * ranks) - 1
        self.over = ones << FIELD - 1
        self.lifts = [self.over - ones * copies for copies in range((1 << FIELD - 1) + 1)]
        self.set_lifts = self._set_lifts()
        self.blocks = 1 if self.run_kind == "run_any_suit" else len(knobs.suits)
        again = knobs.highest - ranks + (self.run_list[-1].size - 1 if knobs.wraps and self.run_list else 0)
        self.width = FIELD * (ranks + again)
        self.shifts = tuple(range(0, self.width * self.blocks, self.width))
        self.wild_shift = self.width * self.blocks
        self.naturals_mask = (1 << self.wild_shift) - 1
        if self.run_list:
            self.windows = self._windows(again)
        self.naturals = [[Placed("")] * len(knobs.ranks) for _ in range(self.blocks)]
        self.weights = [[0] * len(knobs.ranks) for _ in range(self.blocks)]
        self.natural_codes: dict[Card, int] = {}
        self.sets_refuse_wilds = self.by_face and bool(self.wild_ranks & set(knobs.ranks))
        self.even = True
        for face in filter(suit_of, faces):
            self._read_natural(face)
        wilds = {face: 1 << self.wild_shift + FIELD * place for place, face in enumerate(self.wild_faces)}
        self.code: dict[Card, int] = {**dict.fromkeys(faces, 0), **self.natural_codes, **wilds}
        by_rank = [set(weights) for weights in zip(*self.weights, strict=True)]
        self.even_weights = [weights.pop() if len(weights) == 1 else None for weights in by_rank]
        self.wild_ways: dict[int, WildWays] = {}

    def place_of(self, face: Card) -> tuple[int, int]:
        """Gives a natural's block and rank."""
        block = self.knobs.suits.index(suit_of(face)) if self.blocks > 1 else 0
        return block, self.knobs.ranks.index(rank_of(face))

    def _read_natural(self, face: Card) -> None:
        block, rank = self.place_of(face)
        self.even = self.even and self.weights[block][rank] in (0, self.worth[face])
        self.naturals[block][rank] = Placed(face)
        self.weights[block][rank] = self.worth[face]
        self.natural_codes[face] = 1 << self.width * block + FIELD * rank

    def _set_lifts(self) -> list[list[int]]:
        """Lists, by wilds missing, what lifts the ranks that have enough for one, two … sets.

        A further set of a rank may lack more than one alone: the sets before give copies away.
        """
        if not self.set_list or self.set_kind == "colour":
            return [[self.over]]  # no bound
        size, most = self.set_list[-1].size, 1 if self.knobs.distinct_set_ranks else len(self.set_list)
        least = self.limits.naturals_for(size)
        found = []
        for missing in range(size + 1):
            copies = [
                max(size * sets - missing if sets == 1 or missing < size else 0, least * sets)
                for sets in range(1, most + 1)
            ]
            found.append([self.lifts[number] for number in copies if number < len(self.lifts)])
        return found

    def _windows(self, again: int) -> Windows:
        """Prepares the look at all stretches of all suits at once. again: ranks that are also places above the last."""
        knobs, size, places = self.knobs, self.run_list[-1].size, len(self.knobs.ranks)
        starts = range(knobs.lowest - 1, places if knobs.wraps else knobs.highest - size + 1)
        first = sum(1 << FIELD * place for place in starts)

        def everywhere(block: int) -> int:
            return sum(block << shift for shift in self.shifts)

        return Windows(
            number=len(self.run_list),
            size=size,
            over=everywhere(self.over),
            lift=everywhere(self.lifts[1]),
            again=everywhere((1 << FIELD * again) - 1),
            up=FIELD * places,
            steps=tuple(FIELD * step for step in range(1, size)),
            starts=everywhere(first << FIELD - 1),
            lifts=tuple(everywhere(first * ((1 << FIELD - 1) - there)) for there in range(size, 0, -1)),
        )

    def _is_odd(self, kinds: set[MeldKind]) -> bool:
        if "run_any_suit" in kinds:
            return "run" in kinds or "colour" in kinds or not self.even or (self.by_face and bool(self.sets))
        return "colour" in kinds and (len(kinds) > 1 or self.by_face)


def _limits(knobs: MeldRules) -> Limits:
    limit, least = knobs.max_wilds, 0 if knobs.all_wild_melds else 1
    match limit.kind:
        case "unlimited":
            return Limits(least, ENDLESS, half=False)
        case "per_meld":
            return Limits(least, limit.n, half=False)
        case "at_most_half" | "not_more_than_naturals":
            return Limits(least, ENDLESS, half=True)
        case "min_naturals":
            return Limits(max(least, limit.n), ENDLESS, half=False)


def worth_of_card(points: int, aim: Aim) -> int:
    """Puts points and the number of cards into one number, what matters more above."""
    return points << 10 | 1 if aim == "points" else 1 << 20 | points
