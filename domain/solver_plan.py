"""What a lay-down must be, worked out once for a contract under a ruleset, and the memos that go with it.

A hand is one int here: a block for each suit with six bits for each rank (six packs hold 24 cards of a rank), and
above the blocks six bits for each wild face. The sum of the blocks counts the ranks. Where a run may be of any suit
there is one block for all.
"""

from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from domain.cards import FACES, Card, rank_of, suit_of
from domain.lay_down import LEAST_EXTRA
from domain.meld_rules import MeldRules, meld_rules
from domain.ruleset import Contract, MeldKind, Part, Ruleset
from domain.scoring import points_of

FIELD = 6
ENDLESS = 10**6  # more wilds than any deck has

Aim: TypeAlias = Literal["points", "cards"]


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


class Plan:
    """A contract under certain knobs and points, aimed at few points or at few cards in hand.

    weights: what a laid card is worth, by block and rank; points and the number of cards in one number.
    sets, runs: classes of melds, each with how many of it are wanted, the largest first.
    """

    def __init__(self, knobs: MeldRules, contract: Contract, extra: Contract, points: tuple[int, ...], aim: Aim):
        self.knobs, self.contract, self.extra, self.aim = knobs, contract, extra, aim
        kinds = {part.kind for part in (*contract, *extra)}
        self.run_kind: MeldKind = "run_any_suit" if "run_any_suit" in kinds else "run"
        self.set_kind: MeldKind = "colour" if "colour" in kinds else "set"
        self.sets = self._classes(self.set_kind)
        self.runs = self._classes(self.run_kind)
        self.set_list = tuple(wanted for wanted, number in self.sets for _ in range(number))
        self.run_list = tuple(wanted for wanted, number in self.runs for _ in range(number))
        self.limits = _limits(knobs)
        self._read_faces(points)
        self.by_face = knobs.exact_sizes or knobs.distinct_set_suits
        self.odd = self._is_odd(kinds)

    def _classes(self, kind: MeldKind) -> tuple[tuple[Wanted, int], ...]:
        wanted = [Wanted(part.size, self.knobs.exact_sizes) for part in self.contract if part.kind == kind]
        wanted += [Wanted(part.size, False) for part in self.extra if part.kind == kind]
        return tuple((one, wanted.count(one)) for one in sorted(set(wanted), reverse=True))

    def _read_faces(self, points: tuple[int, ...]) -> None:
        knobs = self.knobs
        faces = FACES["french" if "A" in knobs.ranks else "ten-phases"]
        worth = {face: _worth(value, self.aim) for face, value in zip(faces, points, strict=True)}
        self.width = FIELD * len(knobs.ranks)
        self.blocks = 1 if self.run_kind == "run_any_suit" else len(knobs.suits)
        self.wild_shift = self.width * self.blocks
        self.wild_faces = tuple(sorted((face for face in faces if face in knobs.wilds), key=lambda f: -worth[f]))
        self.wild_worth = tuple(worth[face] for face in self.wild_faces)
        self.worth = worth
        self.weights = [[0] * len(knobs.ranks) for _ in range(self.blocks)]
        self.code: dict[Card, int] = dict.fromkeys(faces, 0)
        self.even = True
        for face in faces:
            if suit_of(face):
                self._read_natural(face)
        for place, face in enumerate(self.wild_faces):
            self.code[face] = 1 << (self.wild_shift + FIELD * place)

    def _read_natural(self, face: Card) -> None:
        block, rank = self.place_of(face)
        before = self.weights[block][rank]
        self.even = self.even and before in (0, self.worth[face])
        self.weights[block][rank] = self.worth[face]
        self.code[face] = 1 << (self.width * block + FIELD * rank)

    def place_of(self, face: Card) -> tuple[int, int]:
        """Gives a natural face's block and rank."""
        block = self.knobs.suits.index(suit_of(face)) if self.blocks > 1 else 0
        return block, self.knobs.ranks.index(rank_of(face))

    def _is_odd(self, kinds: set[MeldKind]) -> bool:
        """Tells whether the contract mixes kinds that do not go through suits and ranks, and is searched plainly."""
        if "run_any_suit" in kinds:
            return "run" in kinds or "colour" in kinds or not self.even or (self.by_face and bool(self.sets))
        return "colour" in kinds and (len(kinds) > 1 or self.by_face)

    @cached_property
    def natural_codes(self) -> dict[Card, int]:
        """Gives for each wild face of a suit its code as a natural card."""
        codes = {}
        for face in self.wild_faces:
            if suit_of(face):
                block, rank = self.place_of(face)
                codes[face] = 1 << (self.width * block + FIELD * rank)
        return codes


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


def _worth(points: int, aim: Aim) -> int:
    """Puts points and the number of cards into one number, what matters more above."""
    return points << 10 | 1 if aim == "points" else 1 << 20 | points
