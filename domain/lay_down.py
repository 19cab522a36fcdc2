"""Going down: a whole lay-down against its contract."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TypeAlias

from domain.meld import NewMeld
from domain.meld_rules import MeldRules, meld_rules
from domain.readings import Reading, lowest_place, naturals, only, rank_in_run, readings
from domain.refusals import Reason, Refused, illegal
from domain.ruleset import Contract, MeldKind, Part, Ruleset

LaidMelds: TypeAlias = tuple[tuple[MeldKind, Reading], ...]

_MOST_TABLES = 500  # two already refuse the lay-down; the others only complete the list of roles

# The least cards of a meld beyond the contract.
LEAST_EXTRA: dict[MeldKind, int] = {"set": 3, "run": 4, "run_any_suit": 4, "colour": 7}


def read_lay_down(melds: tuple[NewMeld, ...], contract: Contract, rules: Ruleset) -> LaidMelds:
    """Gives the melds as they come to lie, in the order sent.

    A meld that has several readings alone is taken where one of them makes the lay-down legal.
    Errors: Refused; a meld's own fault comes before the contract's, and that before those between melds.
    Source: melds, exactly; the contract is met by assignment.
    """
    knobs = meld_rules(rules)
    read: list[list[Reading]] = []
    for place, meld in enumerate(melds):
        with _blaming(place):
            read.append(readings(meld, knobs))
    _refuse_unless_contract(melds, contract, knobs)
    tables = _tables([meld.kind for meld in melds], read, knobs)
    if not tables:
        raise illegal(_fault_between([meld.kind for meld in melds], [found[0] for found in read], knobs))
    if len(tables) > 1:
        for place, meld in enumerate(melds):
            found = list(dict.fromkeys(table[place] for table in tables))
            if len(found) > 1:
                with _blaming(place):
                    only(meld.kind, found, meld.cards, knobs)
    return tuple((meld.kind, cards) for meld, cards in zip(melds, tables[0], strict=True))


@contextmanager
def _blaming(meld: int) -> Iterator[None]:
    """Says of a refusal which meld of the lay-down is at fault."""
    try:
        yield
    except Refused as refused:
        raise Refused(refused.broken, meld) from None


def _refuse_unless_contract(melds: Sequence[NewMeld], contract: Contract, rules: MeldRules) -> None:
    laid = [Part(meld.kind, len(meld.cards)) for meld in melds]
    if len(laid) > len(contract) and not rules.extra_kinds:
        raise illegal("wrong_meld_count")
    extra = _beyond(laid, contract, exact=False)
    if extra is None or not all(_may_be_extra(part, rules) for part in extra):
        raise illegal("contract_not_met")
    if rules.exact_sizes:
        extra = _beyond(laid, contract, exact=True)
        if extra is None or not all(_may_be_extra(part, rules) for part in extra):
            raise illegal("size_not_exact")


def _beyond(laid: Sequence[Part], contract: Contract, *, exact: bool) -> list[Part] | None:
    """Matches melds to the contract's parts and gives the melds left over, or None where a part has none.

    The largest part takes the smallest meld that is enough for it, so that the largest are left.
    """
    left = sorted(laid, key=lambda part: part.size)
    for part in sorted(contract, key=lambda part: -part.size):
        for meld in left:
            enough = meld.size == part.size if exact else meld.size >= part.size
            if meld.kind == part.kind and enough:
                left.remove(meld)
                break
        else:
            return None
    return left


def _may_be_extra(part: Part, rules: MeldRules) -> bool:
    return part.kind in rules.extra_kinds and part.size >= LEAST_EXTRA[part.kind]


def _tables(kinds: Sequence[MeldKind], read: Sequence[list[Reading]], rules: MeldRules) -> list[list[Reading]]:
    """Lists the legal tables with the most naturals, some hundreds at the most."""
    found = list(islice(_legal_tables(kinds, read, rules), _MOST_TABLES))
    top = max((_naturals(table) for table in found), default=0)
    return [table for table in found if _naturals(table) == top]


def _naturals(table: Sequence[Reading]) -> int:
    return sum(map(naturals, table))


def _legal_tables(
    kinds: Sequence[MeldKind], read: Sequence[list[Reading]], rules: MeldRules
) -> Iterator[list[Reading]]:
    """Chooses a reading for each meld so that no two melds forbid each other, clear melds first."""
    order = sorted(range(len(read)), key=lambda place: len(read[place]))
    chosen: dict[int, Reading] = {}

    def choose(step: int) -> Iterator[list[Reading]]:
        if step == len(order):
            yield [chosen[place] for place in range(len(read))]
            return
        place = order[step]
        for reading in sorted(read[place], key=naturals, reverse=True):
            others = [(kinds[other], chosen[other]) for other in order[:step]]
            if all(fault_between((kinds[place], reading), other, rules) is None for other in others):
                chosen[place] = reading
                yield from choose(step + 1)

    return choose(0)


def _fault_between(kinds: Sequence[MeldKind], table: Sequence[Reading], rules: MeldRules) -> Reason:
    laid = list(zip(kinds, table, strict=True))
    for place, one in enumerate(laid):
        for other in laid[:place]:
            if fault := fault_between(one, other, rules):
                return fault
    return "contract_not_met"


def fault_between(one: tuple[MeldKind, Reading], other: tuple[MeldKind, Reading], rules: MeldRules) -> Reason | None:
    """Tells what forbids two melds in one lay-down: sets of a rank, runs of a suit that join end to end."""
    if one[0] != other[0]:
        return None
    if one[0] == "set" and rules.distinct_set_ranks:
        return "same_rank_sets" if rank_in_run(one[1][0]) == rank_in_run(other[1][0]) else None
    if one[0] == "run" and rules.separate_runs:
        return "consecutive_runs" if _join(one[1], other[1], rules) else None
    return None


def _join(one: Reading, other: Reading, rules: MeldRules) -> bool:
    if _suit(one) != _suit(other):
        return False
    first, second = lowest_place(one, rules), lowest_place(other, rules)
    return _follows(first + len(one), second, rules) or _follows(second + len(other), first, rules)


def _follows(after: int, first: int, rules: MeldRules) -> bool:
    return (after - first) % len(rules.ranks) == 0 if rules.wraps else after == first


def _suit(run: Reading) -> str:
    return (run[0].as_ or run[0].card)[-1]
