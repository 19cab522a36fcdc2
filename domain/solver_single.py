"""One run in a suit: every stretch of places is tried, which is quicker than the walk for several runs."""

from domain.solver_run_plan import RunPlan
from domain.solver_terms import (
    CLASS_BITS,
    FIELD,
    RANK_MASK,
    USED_BITS,
    USED_SHIFT,
    Ask,
    Entry,
    FoundRun,
    Table,
    worth_keeping,
)

_CLASS_BITS = 3
_PLACE_BITS = 5  # a ring has places up to 25


def single_runs(plan: RunPlan, ask: Ask, weights: list[int]) -> Table:
    """Lists the best runs of a suit by class, wilds, and copies used of the kept ranks.

    Where wilds can be spared, runs with a wild at an end that they do not need for their length are left out.
    """
    smallest, knobs, cards = plan.list[-1].size, plan.knobs, ask.cards
    trim = ask.spare and len(plan.classes) == 1
    both_aces = len(weights)  # the place after all ranks is the first rank again
    most_wilds, touch, branches = ask.wilds, knobs.wilds_adjacent, ask.replace or ask.kept
    places = [
        (cards >> FIELD * rank & RANK_MASK, weights[rank], ask.kept >> rank & 1, USED_BITS * rank)
        for rank in plan.ranks_of_places
    ]
    there = sum([1 << place for place, (held, *_) in enumerate(places) if held])
    least, stretch = smallest - most_wilds, (1 << smallest) - 1
    best: dict[tuple[int, int, int], Entry] = {}
    for first in range(plan.first_places):
        if (there >> first & stretch).bit_count() < least:
            continue
        longest = min(knobs.longest, len(places) - first)
        waiting = [(0, 0, 0, 0, 0)]
        while waiting:
            length, wilds, worth, used, naturals = waiting.pop()
            while True:
                if length >= smallest and not (trim and length > smallest and not naturals >> length - 1):
                    _note(best, plan, (wilds, worth, used, naturals), length, first)
                if length == longest or (trim and length >= smallest and not naturals & 1):
                    break
                held, weight, kept, shift = places[first + length]
                wild_fits = wilds < most_wilds and (touch or not length or naturals >> length - 1)
                if held and not (length == both_aces and naturals & 1 and held == 1):
                    if branches and wild_fits and (ask.replace or kept):
                        waiting.append((length + 1, wilds + 1, worth, used, naturals))
                    worth += weight
                    used += kept << shift
                    naturals |= 1 << length
                elif wild_fits:
                    wilds += 1
                else:
                    break
                length += 1
    return _as_table(best, ask)


def _note(
    best: dict[tuple[int, int, int], Entry],
    plan: RunPlan,
    found: tuple[int, int, int, int],
    length: int,
    first: int,
) -> None:
    wilds, worth, used, naturals = found
    natural, limits = length - wilds, plan.limits
    if natural < limits.least_naturals or (limits.half and natural < wilds) or wilds > limits.cap:
        return
    for place, (wanted, _) in enumerate(plan.classes):
        if length == wanted.size or (length > wanted.size and not wanted.exact):
            key = (place, used, wilds)
            if key not in best or best[key].worth < worth:
                path = ((naturals << _PLACE_BITS | length) << _PLACE_BITS | first) << _CLASS_BITS | place
                best[key] = Entry(wilds, worth, path)


def _as_table(best: dict[tuple[int, int, int], Entry], ask: Ask) -> Table:
    table: Table = {}
    for (place, used, _), entry in best.items():
        table.setdefault(1 << CLASS_BITS * place | used << USED_SHIFT, []).append(entry)
    return {key: worth_keeping(entries, spare=ask.spare) for key, entries in table.items()}


def single_run_of(plan: RunPlan, path: int) -> FoundRun:
    """Reads the run back from an entry's path."""
    wanted, path = path & (1 << _CLASS_BITS) - 1, path >> _CLASS_BITS
    first, length = path & (1 << _PLACE_BITS) - 1, path >> _PLACE_BITS & (1 << _PLACE_BITS) - 1
    naturals = path >> 2 * _PLACE_BITS
    return FoundRun(wanted, plan.knobs.lowest + first, tuple(bool(naturals >> step & 1) for step in range(length)))
