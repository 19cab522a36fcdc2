"""Sets of one rank: how many wilds they need, and how their cards are shared out. Colour melds are shared out alike."""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

from domain.solver_terms import ENDLESS, Limits, Wanted


class Share(NamedTuple):
    """The cards of one set: naturals by block, and wilds."""

    naturals: tuple[int, ...]
    wilds: int


class Sharing(NamedTuple):
    """Sets made of the copies of a rank: how many wilds, what the naturals laid are worth, and the shares."""

    wilds: int
    worth: int
    shares: tuple[Share, ...]


@lru_cache(maxsize=10_000)  # a few hundred differ in play
def wilds_for(copies: int, sets: tuple[Wanted, ...], limits: Limits) -> tuple[int, int] | None:
    """Gives the fewest and the most wilds in sets of a rank that lay all its copies; None where there is no way."""
    if copies < sum(limits.naturals_for(wanted.size) for wanted in sets):
        return None
    most = copies if limits.half else min(limits.cap, ENDLESS) * len(sets)
    return max(0, sum(wanted.size for wanted in sets) - copies), most


def shared_out(copies: tuple[int, ...], sets: tuple[Wanted, ...], wilds: int, limits: Limits) -> tuple[Share, ...]:
    """Shares all copies of a rank and so many wilds out to sets, as `wilds_for` says is possible.

    Each set gets the naturals that it must have, then what fills it; the first takes what is over.
    """
    if len(sets) == 1:
        return (Share(copies, wilds),)
    left = [block for block, number in enumerate(copies) for _ in range(number)]
    shares = [[left.pop(0) for _ in range(limits.naturals_for(wanted.size))] for wanted in sets]
    for wanted, share in zip(sets, shares, strict=True):
        while left and len(share) < wanted.size:
            share.append(left.pop(0))
    shares[0] += left
    needed = [max(0, wanted.size - len(share)) for wanted, share in zip(sets, shares, strict=True)]
    spare = wilds - sum(needed)
    for place, share in enumerate(shares):
        most = len(share) if limits.half else limits.cap
        more = min(spare, most - needed[place])
        needed[place] += more
        spare -= more
    blocks = range(len(copies))
    return tuple(
        Share(tuple(share.count(block) for block in blocks), number)
        for share, number in zip(shares, needed, strict=True)
    )


@lru_cache(maxsize=20_000)  # by the copies in hand of a rank; some thousand differ in play
def sharings(
    copies: tuple[int, ...],
    weights: tuple[int, ...],
    sets: tuple[Wanted, ...],
    wilds: int,
    limits: Limits,
    *,
    distinct: bool,
) -> tuple[Sharing, ...]:
    """Lists the best sharing for each number of wilds where not all copies need to be laid, or not all can be.

    distinct: a set holds a card once.
    """
    best: dict[int, Sharing] = {}
    for first in _shares(copies, sets[0], wilds, limits, distinct=distinct):
        left = tuple(have - laid for have, laid in zip(copies, first.naturals, strict=True))
        worth = sum(weight * laid for weight, laid in zip(weights, first.naturals, strict=True))
        others: tuple[Sharing, ...] = (Sharing(0, 0, ()),)
        if len(sets) > 1:
            others = sharings(left, weights, sets[1:], wilds - first.wilds, limits, distinct=distinct)
        for rest in others:
            found = Sharing(first.wilds + rest.wilds, worth + rest.worth, (first, *rest.shares))
            if found.wilds not in best or best[found.wilds].worth < found.worth:
                best[found.wilds] = found
    return tuple(best[number] for number in sorted(best))


def _shares(copies: tuple[int, ...], wanted: Wanted, wilds: int, limits: Limits, *, distinct: bool) -> list[Share]:
    found = []
    for naturals in product(*(range(min(number, 1 if distinct else number) + 1) for number in copies)):
        held = sum(naturals)
        if held >= limits.least_naturals:
            least, most = max(0, wanted.size - held), min(wilds, limits.cap, held if limits.half else wilds)
            if wanted.exact:
                most = min(most, wanted.size - held)
            found += [Share(naturals, wild) for wild in range(least, most + 1)]
    return found
