"""Lays out what was chosen: faces for the naturals, places for the wilds, and their roles."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeAlias

from domain.cards import Card, Hand, in_deck_order, rank_of, suit_of, without
from domain.lay_down import LaidMelds
from domain.meld import Placed
from domain.readings import RUNS, Reading, natural_if_own, own_role, role
from domain.ruleset import MeldKind
from domain.solver_choice import Choice
from domain.solver_plan import Plan
from domain.solver_runs import Wanted
from domain.solver_sets import Share, shared_out, wilds_for
from domain.solver_suits import FoundRun, runs_of

_Pool: TypeAlias = dict[tuple[int, int], list[Card]]  # natural faces not laid yet, by block and rank


@dataclass
class _Open:
    """A meld while it is laid out; None is a wild. value: suit of a run, rank of a set. first: a run's lowest place."""

    kind: MeldKind
    wanted: Wanted
    value: str
    first: int
    cards: list[Card | None]

    def roles(self, plan: Plan) -> list[str]:
        """Spells what each card stands for."""
        if self.kind not in RUNS:
            return [self.value] * len(self.cards)
        places = range(self.first, self.first + len(self.cards))
        return [role(self.kind, plan.knobs.rank_at(place), self.value) for place in places]


def laid_out(choice: Choice, hand: Hand, plan: Plan) -> LaidMelds:
    """Gives the melds of a choice in the order of the contract, then the extra ones."""
    pool = _pool(choice, hand, plan)
    runs = [_run(run, block, pool, plan) for block, ask, path in choice.runs for run in runs_of(plan, ask, path)]
    surplus = choice.wilds_in_all - choice.wilds_in_runs
    sets = _sets(choice, surplus, pool, plan)
    for _ in range(surplus - sum(meld.cards.count(None) for meld in sets)):
        _lengthen_one(runs, plan)
    melds = runs + sets
    readings = _with_roles(melds, choice.cards.wilds[: choice.wilds_in_all], plan)
    found: defaultdict[tuple[MeldKind, Wanted], list[Reading]] = defaultdict(list)
    for meld, cards in zip(melds, readings, strict=True):
        found[meld.kind, meld.wanted].append(cards)
    order = [(part.kind, Wanted(part.size, plan.knobs.exact_sizes)) for part in plan.contract]
    order += [(part.kind, Wanted(part.size, exact=False)) for part in plan.extra]
    return tuple((kind, found[kind, wanted].pop(0)) for kind, wanted in order)


def _pool(choice: Choice, hand: Hand, plan: Plan) -> _Pool:
    pool: _Pool = defaultdict(list)
    knobs = plan.knobs
    for card in in_deck_order(without(hand, choice.cards.wilds) or ()):
        if suit_of(card):
            block = knobs.suits.index(suit_of(card)) if plan.blocks > 1 else 0
            pool[block, knobs.ranks.index(rank_of(card))].append(card)
    return pool


def _run(run: FoundRun, block: int, pool: _Pool, plan: Plan) -> _Open:
    ranks = len(plan.knobs.ranks)
    first = (run.first - 1) % ranks + 1 if plan.knobs.wraps else run.first
    cards = [
        pool[block, (first + step - 1) % ranks].pop(0) if natural else None for step, natural in enumerate(run.naturals)
    ]
    suit = plan.knobs.suits[block] if plan.run_kind == "run" else ""
    return _Open(plan.run_kind, plan.runs[run.wanted][0], suit, first, cards)


def _sets(choice: Choice, surplus: int, pool: _Pool, plan: Plan) -> list[_Open]:
    """Lays what runs left of the set ranks, and as many of the wilds as the sets take."""
    melds: list[_Open] = []
    groups = [(_copies(rank, pool, plan), sets) for rank, sets in choice.groups]
    ranges = [wilds_for(sum(copies), sets, plan.limits) or (0, 0) for copies, sets in groups]
    surplus -= sum(least for least, _ in ranges)
    for place, (rank, sets) in enumerate(choice.groups):
        if choice.sharings:
            shares = choice.sharings[place].shares
        else:
            least, most = ranges[place]
            more = min(surplus, most - least)
            surplus -= more
            shares = shared_out(groups[place][0], sets, least + more, plan.limits)
        melds += [_set(rank, share, wanted, pool, plan) for share, wanted in zip(shares, sets, strict=True)]
    return melds


def _copies(rank: int, pool: _Pool, plan: Plan) -> tuple[int, ...]:
    if plan.set_kind == "colour":
        return tuple(len(pool[rank, place]) for place in range(len(plan.knobs.ranks)))
    return tuple(len(pool[block, rank]) for block in range(plan.blocks))


def _set(rank: int, share: Share, wanted: Wanted, pool: _Pool, plan: Plan) -> _Open:
    """Takes a set's cards out of the pool; a colour meld's by rank, a set's by suit."""
    colour = plan.set_kind == "colour"
    cards: list[Card | None] = []
    for place, number in enumerate(share.naturals):
        held = pool[(rank, place) if colour else (place, rank)]
        cards += [held.pop(0) for _ in range(number)]
    value = plan.knobs.suits[rank] if colour else plan.knobs.ranks[rank]
    return _Open(plan.set_kind, wanted, value, 0, cards + [None] * share.wilds)


def _lengthen_one(runs: list[_Open], plan: Plan) -> None:
    """Adds a wild to the first run that takes one, at its high end if it can lie there."""
    for run in runs:
        if run.cards.count(None) >= plan.limits.cap or len(run.cards) >= plan.knobs.longest:
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
    if not plan.run_rules.separate:
        return True
    others = [(o.first, o.first + len(o.cards)) for o in runs if o is not run and o.value == run.value]
    ring = len(knobs.ranks) if knobs.wraps else 100
    return all((after - low) % ring and (high - first) % ring for low, high in others)


def _with_roles(melds: list[_Open], wilds: tuple[Card, ...], plan: Plan) -> list[Reading]:
    """Gives each wild place a face, one that is at home there if there is one."""
    roles = [meld.roles(plan) for meld in melds]
    places = [(m, c) for m, meld in enumerate(melds) for c, card in enumerate(meld.cards) if card is None]
    left = list(wilds)
    for at_home in (True, False):
        for m, c in list(places):
            kind, stands_for = melds[m].kind, roles[m][c]
            face = next((f for f in left if not at_home or own_role(kind, f) == stands_for), None)
            if face is not None:
                melds[m].cards[c] = face
                left.remove(face)
                places.remove((m, c))
    return [
        tuple(
            natural_if_own(meld.kind, Placed(card, stands_for if card in plan.knobs.wilds else None))
            for card, stands_for in zip(meld.cards, spelt, strict=True)
            if card is not None
        )
        for meld, spelt in zip(melds, roles, strict=True)
    ]
