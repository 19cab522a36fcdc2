"""Lays out what was chosen: faces for the naturals, places for the wilds, and their roles."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeAlias

from domain.cards import Card, Hand, in_deck_order, rank_of, without
from domain.lay_down import LaidMelds
from domain.meld import Placed
from domain.readings import RUNS, Reading, natural_if_own, own_role, role
from domain.ruleset import MeldKind
from domain.solver_choice import Choice
from domain.solver_plan import Plan
from domain.solver_sets import Share, shared_out, wilds_for
from domain.solver_suits import runs_of
from domain.solver_terms import FIELD, RANK_MASK, FoundRun, Wanted

_Mixed: TypeAlias = defaultdict[str, list[Placed]]  # by rank, the naturals left


@dataclass(slots=True)
class _Open:
    """A meld while it is laid out; None is a wild. value: suit of a run, rank of a set. first: a run's lowest place."""

    kind: MeldKind
    wanted: Wanted
    value: str
    first: int
    cards: list[Placed | None]


def laid_out(choice: Choice, hand: Hand, plan: Plan) -> LaidMelds:
    """Gives the melds of a choice in the order of the contract, then the extra ones."""
    mixed = _mixed(choice, hand) if plan.blocks == 1 else None
    blocks = list(choice.cards.blocks)  # the naturals left
    runs: list[_Open] = []
    for block, ask, path in choice.runs:
        runs += [_run(run, block, blocks, mixed, plan) for run in runs_of(plan.run_plan, ask, path)]
    surplus = choice.wilds_in_all - choice.wilds_in_runs
    sets = _sets(choice, surplus, blocks, mixed, plan) if choice.groups else []
    if surplus:
        for _ in range(surplus - sum([meld.cards.count(None) for meld in sets])):
            _lengthen_one(runs, plan)
    melds = runs + sets
    if choice.wilds_in_all:
        _place_wilds(melds, list(choice.cards.wilds[: choice.wilds_in_all]), plan)
    found: dict[tuple[MeldKind, Wanted], list[Reading]] = {}
    for meld in melds:
        cards = tuple([placed for placed in meld.cards if placed is not None])
        found.setdefault((meld.kind, meld.wanted), []).append(cards)
    return tuple([(kind, found[kind, wanted].pop(0)) for kind, wanted in plan.order])


def _mixed(choice: Choice, hand: Hand) -> _Mixed:
    by_rank: _Mixed = defaultdict(list)
    for card in in_deck_order(without(hand, choice.cards.wilds) or ()):
        by_rank[rank_of(card)].append(Placed(card))
    return by_rank


def _run(run: FoundRun, block: int, blocks: list[int], mixed: _Mixed | None, plan: Plan) -> _Open:
    first, ranks = run.first, len(plan.knobs.ranks)
    if plan.knobs.wraps:
        first = (first - 1) % ranks + 1
    cards: list[Placed | None] = []
    for step, natural in enumerate(run.naturals):
        rank = (first + step - 1) % ranks
        if natural:
            blocks[block] -= 1 << FIELD * rank
        cards += _taken(block, rank, natural, mixed, plan) if natural else [None]
    suit = plan.knobs.suits[block] if plan.run_kind == "run" else ""
    return _Open(plan.run_kind, plan.runs[run.wanted][0], suit, first, cards)


def _taken(block: int, rank: int, number: int, mixed: _Mixed | None, plan: Plan) -> list[Placed]:
    """Takes so many naturals of a block and rank; where blocks mix suits, the first of the rank."""
    if mixed is None:
        return [plan.naturals[block][rank]] * number
    held = mixed[plan.knobs.ranks[rank]]
    return [held.pop(0) for _ in range(number)]


def _sets(choice: Choice, surplus: int, blocks: list[int], mixed: _Mixed | None, plan: Plan) -> list[_Open]:
    """Lays what runs left of the set ranks, and as many of the wilds as the sets take."""
    melds: list[_Open] = []
    left = [_copies(held.rank, blocks, plan) for held, _ in choice.groups]
    ranges = [(0, 0)] * len(left)
    if surplus:
        ranges = [
            wilds_for(sum(copies), sets, plan.limits) or (0, 0)
            for copies, (_, sets) in zip(left, choice.groups, strict=True)
        ]
        surplus -= sum([least for least, _ in ranges])
    for place, (held, sets) in enumerate(choice.groups):
        if choice.sharings:
            shares = choice.sharings[place].shares
        else:
            least, most = ranges[place]
            more = min(surplus, most - least)
            surplus -= more
            shares = shared_out(left[place], sets, least + more, plan.limits)
        for share, wanted in zip(shares, sets, strict=True):
            melds.append(_set(held.rank, share, wanted, mixed, plan))
    return melds


def _copies(rank: int, blocks: list[int], plan: Plan) -> tuple[int, ...]:
    """Counts a set's copies by block, a colour meld's by rank."""
    if plan.set_kind == "colour":
        return tuple([blocks[rank] >> FIELD * place & RANK_MASK for place in range(len(plan.knobs.ranks))])
    return tuple([block >> FIELD * rank & RANK_MASK for block in blocks])


def _set(rank: int, share: Share, wanted: Wanted, mixed: _Mixed | None, plan: Plan) -> _Open:
    colour = plan.set_kind == "colour"
    cards: list[Placed | None] = []
    for place, number in enumerate(share.naturals):
        if number:
            cards += _taken(*((rank, place) if colour else (place, rank)), number, mixed, plan)
    cards += [None] * share.wilds
    value = plan.knobs.suits[rank] if colour else plan.knobs.ranks[rank]
    return _Open(plan.set_kind, wanted, value, 0, cards)


def _lengthen_one(runs: list[_Open], plan: Plan) -> None:
    """Adds a wild to the first run that takes one, at its high end if it can lie there."""
    for run in runs:
        wilds = run.cards.count(None)
        if wilds >= plan.limits.cap or len(run.cards) >= plan.knobs.longest:
            continue
        for first, low in ((run.first, False), (run.first - 1, True)):
            if _has_room(run, first, runs, plan):
                run.first = first
                run.cards = [None, *run.cards] if low else [*run.cards, None]
                return
    raise AssertionError("a wild counted as spare has no place")


def _has_room(run: _Open, first: int, runs: list[_Open], plan: Plan) -> bool:
    """Tells whether the run, one longer, may lie from this place."""
    knobs, after = plan.knobs, first + len(run.cards) + 1
    if not knobs.wraps and (first < knobs.lowest or after - 1 > knobs.highest):
        return False
    if not plan.run_plan.rules.separate:
        return True
    others = [(o.first, o.first + len(o.cards)) for o in runs if o is not run and o.value == run.value]
    ring = len(knobs.ranks) if knobs.wraps else 100
    return all((after - low) % ring and (high - first) % ring for low, high in others)


def _place_wilds(melds: list[_Open], wilds: list[Card], plan: Plan) -> None:
    """Gives each wild place a face: one that is at home there if there is one, in the second turn any.

    In a set without a card twice, a face of its rank is not at home but in the way.
    """
    if plan.knobs.distinct_set_suits:
        melds = sorted(melds, key=lambda meld: meld.kind != "set" or meld.value not in plan.wild_ranks)
    for at_home in (True, False):
        for meld in melds:
            for place, placed in enumerate(meld.cards):
                if placed is not None:
                    continue
                stands_for = _role_at(meld, place, plan)
                for face in wilds:
                    is_own = own_role(meld.kind, face) == stands_for
                    in_the_way = is_own and meld.kind == "set" and plan.knobs.distinct_set_suits
                    if not in_the_way and (is_own or not at_home):
                        meld.cards[place] = natural_if_own(meld.kind, Placed(face, stands_for))
                        wilds.remove(face)
                        break


def _role_at(meld: _Open, place: int, plan: Plan) -> str:
    if meld.kind in RUNS:
        return role(meld.kind, plan.knobs.rank_at(meld.first + place), meld.value)
    return meld.value
