"""A hand as counts, and what its lay-down needs at least: bounds that refuse most hands before any search."""

from collections.abc import Iterator
from itertools import accumulate, product
from typing import NamedTuple

from domain.cards import Card, Hand
from domain.solver_plan import OwnPlace, Plan, WildWay, WildWays, Windows
from domain.solver_terms import ENDLESS, FIELD, RANK_MASK, Ask


class Cards(NamedTuple):
    """A hand as counts. ranks: the sum of the blocks.

    wilds: the dearest first. worth_of_wilds: of the first n. own: cards wild by face that stand for themselves here.
    """

    blocks: tuple[int, ...]
    ranks: int
    wilds: tuple[Card, ...]
    worth_of_wilds: tuple[int, ...]
    own: tuple[OwnPlace, ...]


_NO_WILDS = WildWays(0, (WildWay(0, (), (0,), ()),))


def falls_short(total: int, plan: Plan) -> bool:
    """Tells whether a glance at all cards shows already that the contract cannot be met, as with most hands.

    Every wild counts in its own place too; sets and runs are all as small as can be and share their naturals.
    """
    held, naturals = total >> plan.wild_shift, total & plan.naturals_mask
    wilds = 0
    if held:
        wilds = held % ((1 << FIELD) - 1)  # a field is worth 1 modulo that, so this is the sum of the fields
        naturals += _ways(held, plan).most
    if plan.set_list:
        counts = 0
        for shift in plan.shifts:
            counts += naturals >> shift
        wilds -= _least_wilds_for_sets(counts & plan.block_mask, wilds, plan)
        if wilds < 0:
            return True
    return bool(plan.run_list) and _lack_runs(naturals, wilds, plan.windows)


def _lack_runs(naturals: int, wilds: int, windows: Windows) -> bool:
    """Tells whether no stretch of any suit has so many cards that the wilds could fill it for each run."""
    number, size, over, lift, again, up, steps, starts, lifts = windows
    missing = wilds // number
    if missing >= size:
        return False
    there = (naturals + lift & over) >> FIELD - 1
    there += (there & again) << up
    stretches = there
    for step in steps:
        stretches += there >> step
    return not (stretches + lifts[missing]) & starts


def hand_code(hand: Hand, plan: Plan) -> int:
    """Puts a hand into one int."""
    return sum(map(plan.code.__getitem__, hand))


def as_counts(total: int, plan: Plan) -> list[Cards]:
    """Counts the hand, once for each number of wilds that stand for themselves, where that could help."""
    held, naturals = total >> plan.wild_shift, total & plan.naturals_mask
    return [_cards(naturals + way.code, way, plan) for way in _ways(held, plan).ways]


def _cards(total: int, way: WildWay, plan: Plan) -> Cards:
    mask = plan.block_mask
    blocks = tuple([total >> shift & mask for shift in plan.shifts])
    return Cards(blocks, sum(blocks), way.wilds, way.worth, way.own)


def _ways(held: int, plan: Plan) -> WildWays:
    if not held:
        return _NO_WILDS
    found = plan.wild_ways.get(held)
    if found is None:
        ways = tuple(_wild_ways(held, plan))
        numbers = [held >> FIELD * place & RANK_MASK for place in range(len(plan.wild_faces))]
        most = sum(plan.natural_codes.get(face, 0) * n for face, n in zip(plan.wild_faces, numbers, strict=True))
        found = plan.wild_ways[held] = WildWays(most, ways)
    return found


def _wild_ways(held: int, plan: Plan) -> Iterator[WildWay]:
    """Lists how many copies of each wild face could stand for themselves.

    Without limits a wild in its own place is as good as a natural, except in a meld that would hold wilds only.
    """
    numbers = [held >> FIELD * place & RANK_MASK for place in range(len(plan.wild_faces))]
    most = sum(numbers) // plan.smallest * plan.limits.least_naturals if plan.wilds_do_all else sum(numbers)
    faces = list(zip(plan.wild_faces, numbers, strict=True))
    for own in product(*(range(number + 1 if face in plan.natural_codes else 1) for face, number in faces)):
        if sum(own) <= most:
            here = [(face, n) for (face, _), n in zip(faces, own, strict=True) if n]
            code = sum(plan.natural_codes[face] * n for face, n in here)
            wilds = tuple(face for (face, number), n in zip(faces, own, strict=True) for _ in range(number - n))
            worth = (0, *accumulate(plan.worth[face] for face in wilds))
            yield WildWay(code, wilds, worth, tuple(OwnPlace(*plan.place_of(face), n) for face, n in here))


def least_wilds_for_sets(cards: Cards, plan: Plan) -> int:
    """Gives a number of wilds that sets need at least, as if all were of the smallest size and no run took a card."""
    return _least_wilds_for_sets(cards.ranks, len(cards.wilds), plan)


def _least_wilds_for_sets(counts: int, wilds: int, plan: Plan) -> int:
    """Compares the copies of all ranks at once: an addition to each field lifts those that are enough over a bit."""
    over, wanted = plan.over, len(plan.set_list)
    needed = reached = 0
    for missing, lifts in enumerate(plan.set_lifts[: wilds + 1]):
        now = 0
        for lift in lifts:
            now += (counts + lift & over).bit_count()
        if now > reached:
            more = min(now, wanted) - reached
            needed += more * missing
            reached += more
            if reached == wanted:
                return needed
    return ENDLESS


_NO_ASKS: tuple[list[tuple[int, Ask]], int] = ([], 0)


def asks_for_runs(cards: Cards, plan: Plan, wilds: int) -> tuple[list[tuple[int, Ask]], int] | None:
    """Gives the questions to the suits that could hold runs, and a number of wilds that all runs need at least.

    None where the runs cannot be laid.
    """
    if not plan.run_list:
        return _NO_ASKS
    number, facts = len(plan.run_list), plan.run_plan.facts
    budget = min(wilds, plan.limits.cap * number)
    in_suits = [(block, facts(held).least) for block, held in enumerate(cards.blocks)]
    in_suits = [one for one in in_suits if one[1][1] <= budget]
    least = _least_wilds(number, [bounds for _, bounds in in_suits])
    if least > budget:
        return None
    asks = []
    for block, bounds in in_suits:
        most = sum([bound <= budget for bound in bounds]) - 1
        held = cards.blocks[block]
        asks.append((block, _ask(plan, held if most > 1 else plan.run_plan.for_one_run(held), budget, most)))
    return asks, least


def _least_wilds(number: int, in_suits: list[tuple[int, ...]]) -> int:
    """Shares so many runs out to suits so that they need the fewest wilds; each suit says what 0, 1, 2 … need."""
    if not in_suits:
        return ENDLESS
    if number == 1:
        return min(in_suits, key=_for_one_run)[1]
    least = [0] + [ENDLESS] * number
    for bounds in in_suits:
        for runs in range(number, 0, -1):
            least[runs] = min([least[runs - here] + bounds[here] for here in range(runs + 1)])
    return least[number]


def _for_one_run(bounds: tuple[int, ...]) -> int:
    return bounds[1]


def ranks_that_need_sets(cards: Cards, plan: Plan, asks: list[tuple[int, Ask]]) -> set[int] | None:
    """Gives the ranks whose cards in their own place are too many for runs, so that they help in a set only.

    None where no set could be: with fewer cards in their own place the same would be found.
    """
    most = dict.fromkeys(range(plan.blocks), 0) | {block: ask.most for block, ask in asks}
    places_of = plan.run_plan.ranks_of_places.count
    needed = {own.rank for own in cards.own if own.number > most[own.block] * min(2, places_of(own.rank))}
    return None if needed and not plan.set_list else needed


def _ask(plan: Plan, held: int, budget: int, most: int) -> Ask:
    """Decides whether wilds may stand in for naturals at hand, and whether one not needed here finds another place.

    A run can take one wild more at an end, unless it ends where the suit does, would join the next run of the suit,
    or would touch a wild. A set always can, within the limit, but for cards that would be in it twice.
    """
    knobs, limits = plan.knobs, plan.limits
    joins = knobs.separate_runs and most > 1
    full = plan.run_plan.facts(held).ranks + budget >= knobs.longest - (most - 1 if joins else 0)
    if knobs.exact_sizes:
        replace, spare = True, False
    elif limits.half or (limits.cap >= ENDLESS and plan.sets_refuse_wilds):
        replace, spare = full or joins or not knobs.wilds_adjacent, False
    elif limits.cap >= ENDLESS:
        spare = bool(plan.set_list) or not (full or not knobs.wilds_adjacent)
        replace = not spare
    else:
        replace = full or joins or not (knobs.wilds_adjacent or limits.cap == 1)
        spare = not replace and not plan.by_face
    return Ask(held, 0, budget, most, replace, spare)
