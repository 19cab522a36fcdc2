"""A hand as counts, and what its lay-down needs at least: bounds that refuse most hands before any search."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from domain.cards import Card, Hand
from domain.solver_plan import Plan
from domain.solver_runs import ENDLESS, FIELD, RANK_MASK
from domain.solver_suits import Ask


class Cards(NamedTuple):
    """A hand as counts: a block for each suit, the wilds, the dearest first, and what the first n of them are worth."""

    blocks: tuple[int, ...]
    wilds: tuple[Card, ...]
    worth_of_wilds: tuple[int, ...]


def as_counts(hand: Hand, plan: Plan) -> Iterator[Cards]:
    """Counts the hand, once for each number of wilds that stand for themselves, where that could help."""
    code = plan.code
    total = sum([code[card] for card in hand])
    if total < 1 << plan.wild_shift:
        yield Cards(_blocks(total, plan), (), (0,))
        return
    held = total >> plan.wild_shift
    naturals = total - (held << plan.wild_shift)
    numbers = [held >> FIELD * place & RANK_MASK for place in range(len(plan.wild_faces))]
    for own in _own_places(numbers, plan):
        yield _with_own(naturals, numbers, own, plan)


def _blocks(total: int, plan: Plan) -> tuple[int, ...]:
    mask, width = plan.block_mask, plan.width
    return tuple([total >> width * block & mask for block in range(plan.blocks)])


def _own_places(numbers: list[int], plan: Plan) -> Iterator[tuple[int, ...]]:
    """Lists how many copies of each wild face stand in their own place for good.

    Without limits a wild there is as good as a natural, except in a meld that would hold wilds only.
    """
    most = sum(numbers) // plan.smallest * plan.limits.least_naturals if plan.wilds_do_all else sum(numbers)
    if not most:
        yield (0,) * len(numbers)
        return
    faces = zip(plan.wild_faces, numbers, strict=True)
    for own in product(*(range(number + 1 if face in plan.natural_codes else 1) for face, number in faces)):
        if sum(own) <= most:
            yield own


def _with_own(naturals: int, numbers: list[int], own: tuple[int, ...], plan: Plan) -> Cards:
    wilds: list[Card] = []
    worth = [0]
    for face, number, natural in zip(plan.wild_faces, numbers, own, strict=True):
        if natural:
            naturals += plan.natural_codes[face] * natural
        for _ in range(number - natural):
            wilds.append(face)
            worth.append(worth[-1] + plan.worth[face])
    return Cards(_blocks(naturals, plan), tuple(wilds), tuple(worth))


def least_wilds_for_sets(cards: Cards, plan: Plan) -> int:
    """Gives a number of wilds that the sets need at least, as if all were of the smallest size and no run took a card.

    The copies of all ranks are compared at once: an addition to each field lifts those that are enough over a bit.
    """
    if plan.set_kind == "colour":
        return 0
    counts, size, wanted = sum(cards.blocks), plan.set_list[-1].size, len(plan.set_list)
    least = plan.limits.naturals_for(size)
    needed = reached = 0
    for missing in range(min(len(cards.wilds), size) + 1):
        now = _ranks_with(counts, max(size - missing, least), plan)
        if not plan.knobs.distinct_set_ranks:
            for times in range(2, wanted + 1):
                lacks = size * times - missing if missing < size else 0
                now += _ranks_with(counts, max(lacks, least * times), plan)
        more = min(now, wanted) - reached
        if more > 0:
            needed += more * missing
            reached += more
        if reached == wanted:
            return needed
    return ENDLESS


def _ranks_with(counts: int, copies: int, plan: Plan) -> int:
    """Counts the ranks with at least so many copies."""
    over = 1 << FIELD - 1
    if copies > over:
        return 0
    return (counts + (over - copies) * plan.ones & over * plan.ones).bit_count()


def asks_for_runs(cards: Cards, plan: Plan, wilds: int) -> tuple[list[tuple[int, Ask]], int] | None:
    """Gives the questions to the suits that could hold runs, and a number of wilds that all runs need at least.

    None where the runs cannot be laid.
    """
    number = len(plan.run_list)
    budget = min(wilds, plan.limits.cap * number)
    least = [0] + [ENDLESS] * number
    asks = []
    for block, held in enumerate(cards.blocks):
        in_suit = _least_wilds_in_suit(held, plan, budget)
        most = len(in_suit) - 1
        if most:
            asks.append((block, _ask(plan, held, budget, most)))
            for runs in range(number, 0, -1):
                for here in range(1, min(runs, most) + 1):
                    least[runs] = min(least[runs], least[runs - here] + in_suit[here])
    return (asks, least[number]) if least[number] <= budget else None


def _least_wilds_in_suit(held: int, plan: Plan, budget: int) -> list[int]:
    """Gives lower bounds for none, one, two … runs, as far as they are within the budget."""
    found = [0]
    facts, size = plan.facts(held), 0
    if facts.gaps > min(budget, plan.limits.cap):
        return found
    for runs, wanted in enumerate(reversed(plan.run_list), start=1):
        size += wanted.size
        bound = max(runs * facts.gaps, size - facts.cards)
        if bound > budget:
            break
        found.append(bound)
    return found


def _ask(plan: Plan, held: int, budget: int, most: int) -> Ask:
    """Decides whether wilds may stand in for naturals at hand, and whether one not needed here finds another place.

    A run can take one wild more at an end, unless it ends where the suit does, would join the next run of the suit,
    or would touch a wild. A set always can, within the limit.
    """
    knobs, limits = plan.knobs, plan.limits
    joins = knobs.separate_runs and most > 1
    full = plan.facts(held).ranks + budget >= knobs.longest - (most - 1 if joins else 0)
    if knobs.exact_sizes:
        replace, spare = True, False
    elif limits.half:
        replace, spare = full or joins or not knobs.wilds_adjacent, False
    elif limits.cap >= ENDLESS:
        spare = bool(plan.set_list) or not (full or not knobs.wilds_adjacent)
        replace = not spare
    else:
        replace = full or joins or not (knobs.wilds_adjacent or limits.cap == 1)
        spare = not replace and not plan.by_face
    return Ask(held, 0, budget, most, replace, spare)
