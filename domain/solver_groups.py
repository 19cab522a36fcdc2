"""The sets of a lay-down: which ranks to choose, and what their copies make once runs have taken some."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from domain.solver_bounds import Cards
from domain.solver_plan import Plan
from domain.solver_runs import FIELD, RANK_MASK, USED_BITS, Wanted
from domain.solver_sets import Sharing, sharings, wilds_for

# Which sets of a rank are laid, by rank; in colour melds, of a suit.
Groups: TypeAlias = tuple[tuple[int, tuple[Wanted, ...]], ...]

_USED_MASK = (1 << USED_BITS) - 1


class SetOption(NamedTuple):
    """What sets make of the copies left: wilds at least and at most, worth, and the sharings if they are listed."""

    least: int
    most: int
    worth: int
    sharings: tuple[Sharing, ...] = ()


class _Held(NamedTuple):
    worth: int
    rank: int
    copies: int


def held_by_rank(cards: Cards, plan: Plan) -> list[_Held]:
    """Counts the copies of each rank, or the cards of each suit for colour melds, and what they are worth in all."""
    ranks = range(len(plan.knobs.ranks))
    if plan.set_kind == "colour":
        found = []
        for place, block in enumerate(cards.blocks):
            counts = [block >> FIELD * rank & RANK_MASK for rank in ranks]
            worth = sum(number * plan.weights[place][rank] for rank, number in enumerate(counts))
            found.append(_Held(worth, place, sum(counts)))
        return found
    copies = [copies_of(rank, cards) for rank in ranks]
    worths = [sum(n * plan.weights[place][rank] for place, n in enumerate(copies[rank])) for rank in ranks]
    return [_Held(worths[rank], rank, sum(copies[rank])) for rank in ranks]


def copies_of(rank: int, cards: Cards) -> tuple[int, ...]:
    """Counts the copies of a rank in each block."""
    shift = FIELD * rank
    return tuple([block >> shift & RANK_MASK for block in cards.blocks])


def groupings(cards: Cards, plan: Plan, wilds: int, floor: Callable[[], int]) -> Iterator[Groups]:
    """Lists the choices of ranks for the sets that so many wilds could fill, the dearest copies first.

    floor: what a choice's copies must be worth more than, asked again at each; dearer ones are not left out.
    """
    held, smallest = held_by_rank(cards, plan), plan.set_list[-1].size
    least = plan.limits.naturals_for(smallest)
    order = [one for one in held if one.copies >= least and one.copies + wilds >= smallest]
    order.sort(key=lambda one: -one.worth)
    copies = [one.copies for one in held]
    return _ways(plan, order, copies, wilds, floor, {}, 0, 0)


def _ways(
    plan: Plan,
    order: list[_Held],
    copies: list[int],
    wilds: int,
    floor: Callable[[], int],
    groups: dict[int, tuple[Wanted, ...]],
    worth: int,
    start: int,
) -> Iterator[Groups]:
    place = sum(map(len, groups.values()))
    if place == len(plan.set_list):
        yield tuple(groups.items())
        return
    wanted, left = plan.set_list[place], len(plan.set_list) - place
    alike = plan.set_list[place:].count(wanted)
    for index in range(start, len(order)):
        best = order[index : index + left] if alike == left else order[:left]
        if worth + sum([one.worth for one in best]) <= floor():
            return
        rank, sets = order[index].rank, groups.get(order[index].rank, ())
        if sets and plan.knobs.distinct_set_ranks and plan.set_kind == "set":
            continue
        now = {**groups, rank: (*sets, wanted)}
        if _wilds_needed(now, copies, plan) <= wilds:
            gain = 0 if sets else order[index].worth
            yield from _ways(plan, order, copies, wilds, floor, now, worth + gain, index if alike > 1 else 0)


def _wilds_needed(groups: dict[int, tuple[Wanted, ...]], copies: list[int], plan: Plan) -> int:
    needed = 0
    for rank, sets in groups.items():
        found = wilds_for(copies[rank], sets, plan.limits)
        if found is None:
            return 1 << 20
        needed += found[0]
    return needed


def set_options(cards: Cards, plan: Plan, groups: Groups, used: int) -> list[SetOption]:
    """Gives what the sets make of the copies that runs leave. used: copies in runs, by rank (and block if by face)."""
    if plan.by_face:
        return _by_face(cards, plan, groups, used)
    least = most = worth = 0
    held = held_by_rank(cards, plan)
    for rank, sets in groups:
        copies = held[rank].copies - (used >> USED_BITS * rank & _USED_MASK)
        wilds = wilds_for(copies, sets, plan.limits)
        if wilds is None:
            return []
        least, most, worth = least + wilds[0], most + wilds[1], worth + held[rank].worth
    return [SetOption(least, most, worth)]


def _by_face(cards: Cards, plan: Plan, groups: Groups, used: int) -> list[SetOption]:
    options = {0: SetOption(0, 0, 0)}
    for rank, sets in groups:
        copies = copies_left(rank, cards, plan, used)
        weights = tuple(weights[rank] for weights in plan.weights)
        ways = sharings(copies, weights, sets, len(cards.wilds), plan.limits, distinct=plan.knobs.distinct_set_suits)
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
