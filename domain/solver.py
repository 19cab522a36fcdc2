"""Finds what a hand can lay down: whether it meets a contract, and which lay-down leaves the least in hand."""

from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from domain.cards import Hand, in_deck_order, without
from domain.lay_down import LEAST_EXTRA, LaidMelds
from domain.meld import Placed
from domain.meld_rules import MeldRules, meld_rules
from domain.remembered import Remembered
from domain.ruleset import Contract, MeldKind, Part, Ruleset
from domain.scoring import hand_points, points_by_face
from domain.solver_choice import choices
from domain.solver_lay import laid_out
from domain.solver_plain import plain_search
from domain.solver_plan import Aim, Plan, worth_of_card

_MOST = 6  # candidates; more are of no use to a player
_MOST_PLANS = 100  # of a ruleset: a contract decoded again is another object


class LayDown(Struct, frozen=True):
    """Melds that meet a contract, each wild with its role, and what they leave in hand.

    exact: whether no better one exists; False where the search gave up before it had seen all.
    """

    melds: tuple[tuple[MeldKind, tuple[Placed, ...]], ...]
    rest: Hand
    points: int
    exact: bool = True


class _Found(NamedTuple):
    worth: int
    melds: LaidMelds
    exact: bool


def best_lay_down(hand: Hand, contract: Contract, rules: Ruleset) -> LayDown | None:
    """Finds the lay-down that leaves the fewest points in hand, or None where the contract cannot be met.

    Ties: fewer cards left, then the same for equal hands.
    Source: melds, exactly; the contract is met by assignment.
    """
    found, _ = _lay_downs(hand, contract, rules, "points", 1)
    return found[0] if found else None


def lay_down_candidates(
    hand: Hand, contract: Contract, rules: Ruleset, *, must_empty: int | None = None
) -> tuple[LayDown, ...]:
    """Lists the best few lay-downs with different cards left: fewest points first, the one with fewest cards included.

    must_empty: only those that leave at most so many cards; if there is one, it is found. Where a discard must be
    kept and the best lay-down keeps none, the best that does is included.
    """
    if must_empty is not None:
        found, _ = _lay_downs(hand, contract, rules, "cards", _MOST)
        return tuple([lay_down for lay_down in found if len(lay_down.rest) <= must_empty])
    found, all_seen = _lay_downs(hand, contract, rules, "points", _MOST)
    if not found:
        return ()
    if found[0].rest and not all_seen:
        fewest = max([_worth_in_cards(hand, one, rules) for one in found])
        if fewer := _lay_downs(hand, contract, rules, "cards", 1, fewest)[0]:
            found[_MOST - 1 :] = fewer
    elif not found[0].rest and rules.going_out == "discard_required":
        found[_MOST - 1 :] = _keeping_one(hand, contract, rules)
    by_rest: dict[Hand, LayDown] = {}
    for lay_down in found:
        by_rest.setdefault(lay_down.rest, lay_down)
    return tuple(by_rest.values())


def _worth_in_cards(hand: Hand, found: LayDown, rules: Ruleset) -> int:
    laid, points = len(hand) - len(found.rest), hand_points(hand, rules) - found.points
    return laid * worth_of_card(0, "cards") + points


def _keeping_one(hand: Hand, contract: Contract, rules: Ruleset) -> list[LayDown]:
    """Finds the best lay-down that keeps a card to discard."""
    found = []
    for card in dict.fromkeys(hand):
        for lay_down in _lay_downs(without(hand, [card]) or (), contract, rules, "points", 1)[0]:
            rest = in_deck_order((card, *lay_down.rest))
            found.append(LayDown(lay_down.melds, rest, hand_points(rest, rules), lay_down.exact))
    return sorted(found, key=lambda one: (one.points, len(one.rest)))[:1]


def _lay_downs(
    hand: Hand, contract: Contract, rules: Ruleset, aim: Aim, most: int, more_than: int = -1
) -> tuple[list[LayDown], bool]:
    """Finds the best few, and tells whether there are no others, worse by this aim and better by the other.

    more_than: what they must be worth in this aim; others may be left out.
    """
    plans = _plans(rules)
    known = plans.get((id(contract), aim))  # the contract kept beside the plan makes the id its own
    if known is None:
        if len(plans) >= _MOST_PLANS:
            plans.clear()
        plan = plan_for(meld_rules(rules), contract, (), points_by_face(rules), aim)
        known = plans[id(contract), aim] = (contract, plan)
    plan = known[1]
    found, all_seen = _found(hand, plan, most, -1 if plan.knobs.extra_kinds else more_than)
    if found and plan.knobs.extra_kinds:
        found += _with_extra_melds(hand, plan, most)
        found.sort(key=lambda one: -one.worth)
        all_seen = False
    return [_lay_down(one, hand, rules) for one in found[:most]], all_seen


def _no_plans(_: Ruleset) -> dict[tuple[int, Aim], tuple[Contract, Plan]]:
    return {}


_plans = Remembered("plans", _no_plans)


def _with_extra_melds(hand: Hand, plan: Plan, most: int) -> list[_Found]:
    """Adds melds beyond the contract, one after the other as long as the hand can lay them."""
    found: list[_Found] = []
    last = plan.knobs.extra_kinds.index(plan.extra[-1].kind) if plan.extra else 0
    for kind in plan.knobs.extra_kinds[last:]:
        extra = (*plan.extra, Part(kind, LEAST_EXTRA[kind]))
        if sum(part.size for part in (*plan.contract, *extra)) > len(hand):
            continue
        longer = plan_for(plan.knobs, plan.contract, extra, plan.points, plan.aim)
        here, _ = _found(hand, longer, most)
        if here:
            found += here + _with_extra_melds(hand, longer, most)
    return found


def _found(hand: Hand, plan: Plan, most: int, more_than: int = -1) -> tuple[list[_Found], bool]:
    if len(hand) < plan.least_cards:
        return [], True
    if plan.odd:
        plain, exact = plain_search(hand, plan, most)
        return [_Found(worth, melds, exact) for worth, melds in plain], False
    chosen = choices(hand, plan, most, more_than)
    found = [_Found(choice.worth, laid_out(choice, hand, plan), chosen.exact) for choice in chosen.found]
    return found, chosen.all_seen


def _lay_down(found: _Found, hand: Hand, rules: Ruleset) -> LayDown:
    rest = without(hand, (placed.card for _, cards in found.melds for placed in cards)) or ()
    return LayDown(found.melds, rest, hand_points(rest, rules), found.exact)


@lru_cache(maxsize=200)  # two for each contract of the rulesets in play
def plan_for(knobs: MeldRules, contract: Contract, extra: Contract, points: tuple[int, ...], aim: Aim) -> Plan:
    """Gives the plan for a contract with certain extra melds, with its memos."""
    return Plan(knobs, contract, extra, points, aim)
