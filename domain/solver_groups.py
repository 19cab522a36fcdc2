"""The sets of a lay-down: which ranks to choose, and what their copies make once runs have taken some."""

from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from domain.cards import rank_of
from domain.solver_bounds import Cards
from domain.solver_plan import Plan
from domain.solver_sets import Sharing, sharings, wilds_for
from domain.solver_terms import ENDLESS, FIELD, RANK_MASK, USED_BITS, Wanted

_USED_MASK = (1 << USED_BITS) - 1


class SetOption(NamedTuple):
    """What sets make of the copies left: wilds at least and at most, worth, and the sharings if they are listed."""

    least: int
    most: int
    worth: int
    sharings: tuple[Sharing, ...] = ()


class Held(NamedTuple):
    """A rank that could make a set, or a suit for a colour meld: its copies, and what they are worth in all."""

    worth: int
    rank: int
    copies: int


Groups: TypeAlias = tuple[tuple[Held, tuple[Wanted, ...]], ...]  # the sets laid of each rank


def ranks_for_sets(cards: Cards, plan: Plan, wilds: int) -> list[Held]:
    """Lists the ranks that could make the smallest set with so many wilds, those of most worth first."""
    if plan.set_kind == "colour":
        return sorted((_suit_held(place, block, plan) for place, block in enumerate(cards.blocks)), reverse=True)
    size, held = plan.set_list[-1].size, []
    enough = cards.ranks + plan.lifts[max(plan.naturals_for[-1], size - wilds)] & plan.over
    while enough:
        lowest = enough & -enough
        enough ^= lowest
        rank = (lowest.bit_length() - 1) // FIELD
        copies, weight = cards.ranks >> FIELD * rank & RANK_MASK, plan.even_weights[rank]
        held.append(Held(copies * weight if weight is not None else _worth(rank, cards, plan), rank, copies))
    held.sort(reverse=True)
    return held


def _suit_held(place: int, block: int, plan: Plan) -> Held:
    counts = [block >> FIELD * rank & RANK_MASK for rank in range(len(plan.knobs.ranks))]
    worth = sum(number * weight for number, weight in zip(counts, plan.weights[place], strict=True))
    return Held(worth, place, sum(counts))


def _worth(rank: int, cards: Cards, plan: Plan) -> int:
    return sum(n * weights[rank] for n, weights in zip(copies_of(rank, cards), plan.weights, strict=True))


def copies_of(rank: int, cards: Cards) -> tuple[int, ...]:
    """Counts the copies of a rank in each block."""
    shift = FIELD * rank
    return tuple([block >> shift & RANK_MASK for block in cards.blocks])


class GroupSearch(NamedTuple):
    """A search for the ranks of the sets, the dearest copies first.

    wilds: so many the sets may need. floor: what the copies must be worth more than, asked again at each choice.
    visit: is given each choice.
    """

    plan: Plan
    held: list[Held]
    wilds: int
    floor: Callable[[], int]
    visit: Callable[[Groups], None]

    def run(self) -> None:
        """Visits the choices."""
        self._extend((), 0, 0, 0, 0, [0, *accumulate([one.worth for one in self.held])])

    def _extend(self, groups: Groups, place: int, worth: int, needed: int, start: int, sums: list[int]) -> None:
        """Adds a set of each rank from `start` on; sums: of the worths up to each rank."""
        plan, held, wilds, floor, visit = self
        wanted, least, left = plan.set_list[place], plan.naturals_for[place], len(plan.set_list) - place
        again = left > 1 and plan.set_list[place + 1] is wanted  # sets of one class go in the order of their ranks
        ordered = plan.set_list[-1] is wanted
        for index in range(start, len(held)):
            first = index if ordered else 0
            if worth + sums[min(first + left, len(held))] - sums[first] <= floor():
                return
            here = held[index]
            before: tuple[Wanted, ...] = ()
            if groups:
                before = next((sets for other, sets in groups if other is here), ())
                if before and plan.distinct_ranks:
                    continue
            if before:
                now = tuple([group if group[0] is not here else (here, (*before, wanted)) for group in groups])
                here_needs = _wilds_needed(now, plan)
            else:
                now = (*groups, (here, (wanted,)))
                here_needs = needed + max(0, wanted.size - here.copies) if here.copies >= least else ENDLESS
            if here_needs > wilds:
                continue
            if left == 1:
                visit(now)
            else:
                gain = 0 if before else here.worth
                self._extend(now, place + 1, worth + gain, here_needs, index if again else 0, sums)


def _wilds_needed(groups: Groups, plan: Plan) -> int:
    needed = 0
    for held, sets in groups:
        found = wilds_for(held.copies, sets, plan.limits)
        if found is None:
            return ENDLESS
        needed += found[0]
    return needed


def set_options(cards: Cards, plan: Plan, groups: Groups, used: int) -> list[SetOption]:
    """Gives what the sets make of the copies that runs leave. used: copies in runs, by rank (and block if by face)."""
    if plan.by_face:
        return _by_face(cards, plan, groups, used)
    least = most = worth = 0
    for held, sets in groups:
        copies = held.copies - (used >> USED_BITS * held.rank & _USED_MASK)
        wilds = wilds_for(copies, sets, plan.limits)
        if wilds is None:
            return []
        least, most, worth = least + wilds[0], most + wilds[1], worth + held.worth
    return [SetOption(least, most, worth)]


def _by_face(cards: Cards, plan: Plan, groups: Groups, used: int) -> list[SetOption]:
    options = {0: SetOption(0, 0, 0)}
    for held, sets in groups:
        copies = copies_left(held.rank, cards, plan, used)
        weights = tuple(weights[held.rank] for weights in plan.weights)
        distinct, wilds = plan.knobs.distinct_set_suits, len(cards.wilds)
        if distinct:  # a card wild by face is itself in a set of its rank, and would be there twice
            wilds = sum(rank_of(face) != plan.knobs.ranks[held.rank] for face in cards.wilds)
        ways = sharings(copies, weights, sets, wilds, plan.limits, distinct=distinct)
        longer: dict[int, SetOption] = {}
        for option in options.values():
            for way in ways:
                both, worth = option.least + way.wilds, option.worth + way.worth
                if both not in longer or longer[both].worth < worth:
                    longer[both] = SetOption(both, both, worth, (*option.sharings, way))
        options = longer
    return list(options.values())


def copies_left(rank: int, cards: Cards, plan: Plan, used: int) -> tuple[int, ...]:
    """Counts the copies of a rank in each block that runs leave, where they are counted by block."""
    width = USED_BITS * len(plan.knobs.ranks)
    return tuple(
        number - (used >> width * block + USED_BITS * rank & _USED_MASK)
        for block, number in enumerate(copies_of(rank, cards))
    )
