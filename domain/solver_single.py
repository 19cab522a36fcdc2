"""One run in a suit: every stretch of places is tried, which is quicker than the walk for several runs."""

from domain.solver_plan import Plan
from domain.solver_runs import (
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


def single_runs(plan: Plan, ask: Ask, weights: list[int]) -> Table:
    """Lists the best runs of a suit by class, wilds, and copies used of the kept ranks.

    A run that starts with a wild not needed for its length is left out where wilds can be spared.
    """
    ranks, smallest = plan.ranks_of_places, plan.run_list[-1].size
    trim = ask.spare and len(plan.runs) == 1
    held = [ask.cards >> FIELD * rank & RANK_MASK for rank in range(len(weights))]
    touch = plan.knobs.wilds_adjacent
    best: dict[tuple[int, int, int], Entry] = {}
    for first in range(plan.first_places):
        longest = min(plan.knobs.longest, len(ranks) - first)
        waiting = [(0, 0, 0, 0, 0)]
        while waiting:
            length, wilds, worth, used, naturals = waiting.pop()
            while True:
                if length >= smallest and not (trim and length > smallest and not naturals & 1 << length - 1):
                    path = (naturals << _PLACE_BITS | length) << _PLACE_BITS | first
                    _note(best, plan, Entry(wilds, worth, path), used)
                if length == longest or (trim and length >= smallest and not naturals & 1):
                    break
                rank = ranks[first + length]
                wild_fits = wilds < ask.wilds and (touch or not length or naturals & 1 << length - 1)
                there = held[rank] - (length == len(weights) and naturals & 1)  # the ace at both ends
                if there > 0:
                    kept = ask.kept >> rank & 1
                    if wild_fits and (ask.replace or kept):
                        waiting.append((length + 1, wilds + 1, worth, used, naturals))
                    worth += weights[rank]
                    used += kept << USED_BITS * rank
                    naturals |= 1 << length
                elif wild_fits:
                    wilds += 1
                else:
                    break
                length += 1
    return _as_table(best, ask)


def _note(best: dict[tuple[int, int, int], Entry], plan: Plan, entry: Entry, used: int) -> None:
    length = entry.path >> _PLACE_BITS & (1 << _PLACE_BITS) - 1
    natural, limits = length - entry.wilds, plan.limits
    if natural < limits.least_naturals or (limits.half and natural < entry.wilds) or entry.wilds > limits.cap:
        return
    for place, (wanted, _) in enumerate(plan.runs):
        if length == wanted.size or (length > wanted.size and not wanted.exact):
            key = (place, used, entry.wilds)
            if key not in best or best[key].worth < entry.worth:
                best[key] = entry._replace(path=entry.path << _CLASS_BITS | place)


def _as_table(best: dict[tuple[int, int, int], Entry], ask: Ask) -> Table:
    table: Table = {}
    for (place, used, _), entry in best.items():
        table.setdefault(1 << CLASS_BITS * place | used << USED_SHIFT, []).append(entry)
    return {key: worth_keeping(entries, spare=ask.spare) for key, entries in table.items()}


def single_run_of(plan: Plan, path: int) -> FoundRun:
    """Reads the run back from an entry's path."""
    wanted, path = path & (1 << _CLASS_BITS) - 1, path >> _CLASS_BITS
    first, length = path & (1 << _PLACE_BITS) - 1, path >> _PLACE_BITS & (1 << _PLACE_BITS) - 1
    naturals = path >> 2 * _PLACE_BITS
    return FoundRun(wanted, plan.knobs.lowest + first, tuple(bool(naturals >> step & 1) for step in range(length)))
