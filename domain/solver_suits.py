"""The table of one suit: which runs its cards can make, walked place by place, and runs read back from a path."""

from typing import NamedTuple, TypeAlias

from domain.solver_run_plan import RunPlan
from domain.solver_runs import Growth, RunGraph
from domain.solver_single import single_run_of, single_runs
from domain.solver_terms import (
    FIELD,
    KEPT_SHIFT,
    LINE_BITS,
    LINE_MASK,
    RANK_MASK,
    STEP_BITS,
    USED_BITS,
    USED_SHIFT,
    WILD_MASK,
    Ask,
    Entry,
    FoundRun,
    Table,
    worth_keeping,
)

MOST_TABLES = 50_000  # about 1 kB each
MOST_STEPS = 300_000  # of one walk, a fraction of a second; hands of the presets have some ten thousands
NEW_STEPS = 100  # what it costs to work out the steps from a line for the first time
FEW_STATES = 30  # kept at a place when the budget is used up

_TURN_BITS = 5  # thirteen cuts of a ring, each in two manners
_USED_MASK = (1 << USED_BITS) - 1


class _Order(NamedTuple):
    """The places of a walk with their ranks. may_begin, may_end: a run may cover the first place, or the last."""

    places: tuple[tuple[int, int], ...]
    may_begin: bool = True
    may_end: bool = True


_Layer: TypeAlias = dict[int, tuple[int, int]]


def suit_table(plan: RunPlan, block: int, ask: Ask) -> tuple[Table, bool]:
    """Lists the runs that a suit can give, the empty choice left out, and tells whether none was passed over.

    Where wilds can be spared, entries that need more of them for no more worth are left out. Remembered.
    """
    key = (plan.same_weights[block], ask)
    found = plan.tables.get(key)
    if found is None:
        if len(plan.tables) >= MOST_TABLES:
            plan.tables.clear()
        found = plan.tables[key] = _new_table(plan, block, ask)
    return found


def _new_table(plan: RunPlan, block: int, ask: Ask) -> tuple[Table, bool]:
    plain = ask.kept if not plan.by_face else 0  # copies of these are laid in any case
    weights = [0 if plain >> rank & 1 else weight for rank, weight in enumerate(plan.weights[block])]
    if ask.most == 1:
        return single_runs(plan, ask, weights), True
    graph = plan.graph(ask.wilds, ask.most)
    table: Table = {}
    exact = not _goes_round(plan, ask)
    orders = _orders(plan, ask)
    budget = MOST_STEPS if len(orders) == 1 else 3 * MOST_STEPS // len(orders)
    for turn, order in enumerate(orders):
        layer, all_kept = _walked(graph, order, ask, weights, budget)
        exact = exact and all_kept
        for key, (worth, path) in layer.items():
            finished, wilds, used = key & LINE_MASK, key >> LINE_BITS & WILD_MASK, key >> KEPT_SHIFT
            entry = Entry(wilds, worth, path << _TURN_BITS | turn)
            table.setdefault(finished | used << USED_SHIFT, []).append(entry)
    return {key: worth_keeping(entries, spare=ask.spare) for key, entries in table.items()}, exact


def _orders(plan: RunPlan, ask: Ask) -> list[_Order]:
    """Gives the order of places; a ring is cut in as many ways as make sure that some cut lies between all the runs.

    So many wilds and one more ranks without a card are enough, for one of them is then in no run. So are cuts at every
    place, unless the runs go all the way round together: see `_goes_round`.
    """
    knobs = plan.knobs
    if not knobs.wraps:
        places = range(knobs.lowest, knobs.highest + 1)
        return [_Order(tuple((place, (place - 1) % len(knobs.ranks)) for place in places))]
    absent = [place for place in range(1, 14) if not ask.cards >> FIELD * (place - 1) & RANK_MASK]
    cuts = absent[: ask.wilds + 1] if len(absent) > ask.wilds else list(range(1, 14))
    rings = [tuple((place, (place - 1) % 13) for place in range(cut, cut + 13)) for cut in cuts]
    if knobs.separate_runs:
        return [order for ring in rings for order in (_Order(ring, may_begin=False), _Order(ring, may_end=False))]
    return [_Order(ring) for ring in rings]


def _goes_round(plan: RunPlan, ask: Ask) -> bool:
    """Tells whether several runs could go round a ring so that every cut is inside one: 13 cards and one for each."""
    facts, runs = plan.facts(ask.cards), plan.list[: ask.most]
    most = min(facts.cards + ask.wilds, sum(one.size if one.exact else 13 for one in runs))
    return plan.knobs.wraps and 13 - facts.ranks <= ask.wilds and most >= 13 + len(runs)


def _tracked(order: _Order, ask: Ask) -> int:
    """The ranks whose used copies the walk remembers: those kept, and an ace that has a place at both ends."""
    twice = order.places[0][1] == order.places[-1][1]
    return ask.kept | (1 << order.places[0][1] if twice else 0)


def _walked(graph: RunGraph, order: _Order, ask: Ask, weights: list[int], budget: int) -> tuple[_Layer, bool]:
    """Walks the places; gives the best path by finished runs, wilds and copies used of the kept ranks.

    The second value tells whether the budget was enough; beyond it only the states of most worth go on.
    This is the innermost loop of the solver: packed numbers instead of objects make it several times as fast.
    """
    tracked, left, all_steps, lacking = _tracked(order, ask), len(order.places), graph.packed, graph.lacking
    cards, wilds, replace = ask.cards, ask.wilds, ask.replace
    layer: _Layer = {0: (0, 1)}
    spent = 0
    for _, rank in order.places:
        left -= 1
        held = at_hand = cards >> FIELD * rank & RANK_MASK
        kept = tracked >> rank & 1 and held
        free = 1 if replace or kept else 0
        shift, weight = KEPT_SHIFT + USED_BITS * rank, weights[rank]
        after: _Layer = {}
        for key, (worth, path) in layer.items():
            line, room = key & LINE_MASK, wilds - (key >> LINE_BITS & WILD_MASK)
            if kept:
                at_hand = held - (key >> shift & _USED_MASK)
            steps = all_steps.get((line << FIELD | at_hand) << 1 | free)
            if steps is None:
                steps = graph.packed_steps(line, at_hand, free=free)
                spent += NEW_STEPS
            spent += len(steps)
            if spent > budget and len(after) > FEW_STATES:
                break
            trail = path << STEP_BITS
            for number, change, naturals, used, reached in steps:
                if used > room:
                    break
                if lacking[reached] > left:
                    continue
                target = key + change + (naturals << shift) if kept else key + change
                total = worth + naturals * weight
                if target not in after or after[target][0] < total:
                    after[target] = (total, trail | number)
        if left + 1 == len(order.places) and not order.may_begin:
            after = {key: best for key, best in after.items() if not key & LINE_MASK}
        layer = after if spent <= budget else _dearest(after)
    return _ends(graph, order, ask, layer), spent <= budget and not graph.is_full


def _dearest(layer: _Layer) -> _Layer:
    return dict(sorted(layer.items(), key=lambda one: -one[1][0])[:FEW_STATES])


def _ends(graph: RunGraph, order: _Order, ask: Ask, layer: _Layer) -> _Layer:
    """Closes the open runs and forgets what no set asks for."""
    keep = WILD_MASK << LINE_BITS
    if ask.kept:
        for _, rank in order.places:
            keep |= (ask.kept >> rank & 1) * _USED_MASK << KEPT_SHIFT + USED_BITS * rank
    ended: _Layer = {}
    for key, best in layer.items():
        finished = graph.finished[key & LINE_MASK]
        if finished > 0 and (order.may_end or not graph.has_open(key & LINE_MASK)):
            reached = key & keep | finished
            if reached not in ended or ended[reached][0] < best[0]:
                ended[reached] = best
    return ended


def runs_of(plan: RunPlan, ask: Ask, path: int) -> list[FoundRun]:
    """Reads the runs back from an entry's path by walking it again."""
    if ask.most == 1:
        return [single_run_of(plan, path)]
    graph = plan.graph(ask.wilds, ask.most)
    order = _orders(plan, ask)[path & (1 << _TURN_BITS) - 1]
    path >>= _TURN_BITS
    tracked, used, line = _tracked(order, ask), [0] * len(plan.knobs.ranks), 0
    open_runs: list[tuple[int, FoundRun]] = []
    closed: list[FoundRun] = []
    for index, (place, rank) in enumerate(order.places):
        held = ask.cards >> FIELD * rank & RANK_MASK
        kept = tracked >> rank & 1 and held
        number = path >> STEP_BITS * (len(order.places) - 1 - index) & (1 << STEP_BITS) - 1
        step = graph.steps(line, held - used[rank] if kept else held, free=1 if ask.replace or kept else 0)[number]
        used[rank] += step.naturals
        line = step.line
        open_runs = _grow(open_runs, closed, step.growths, place)
    return closed + [run for _, run in open_runs]


def _grow(
    open_runs: list[tuple[int, FoundRun]], closed: list[FoundRun], growths: tuple[Growth, ...], place: int
) -> list[tuple[int, FoundRun]]:
    """Applies a step to the open runs; runs in one state are interchangeable."""
    after: list[tuple[int, FoundRun]] = []
    waiting = list(open_runs)
    for growth in growths:
        if growth.before is None:
            run = FoundRun(growth.wanted, place, ())
        else:
            entry = next(one for one in waiting if one[0] == growth.before)
            waiting.remove(entry)
            run = entry[1]
        if growth.after is None:
            closed.append(run)
        else:
            after.append((growth.after, run._replace(naturals=(*run.naturals, growth.natural))))
    return after
