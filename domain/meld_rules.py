"""The knobs that judge a meld, taken out of a ruleset into one small value: what memos are keyed by."""

from functools import lru_cache

from msgspec import Struct

from domain.cards import COLOURS, SUITS, Card
from domain.remembered import Remembered
from domain.ruleset import MaxWilds, MeldKind, Ruleset

_FRENCH = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K")
_PHASES = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")


class MeldRules(Struct, frozen=True, cache_hash=True):
    """What a run may span and what wilds may do.

    ranks: from the lowest; place p of a run is `ranks[(p - 1) % len(ranks)]`, ace 1 below and 14 above.
    lowest, highest: the places a run may cover. wraps: a run may go on over king and ace. longest: in cards.
    """

    wilds: frozenset[Card]
    ranks: tuple[str, ...]
    suits: str
    lowest: int
    highest: int
    wraps: bool
    longest: int
    max_wilds: MaxWilds
    wilds_adjacent: bool
    all_wild_melds: bool
    distinct_set_ranks: bool
    distinct_set_suits: bool
    separate_runs: bool
    exact_sizes: bool
    extra_kinds: tuple[MeldKind, ...]

    def rank_at(self, place: int) -> str:
        """Names the rank of a place in a run."""
        return self.ranks[(place - 1) % len(self.ranks)]


def _taken_out(rules: Ruleset) -> MeldRules:
    french = rules.deck.kind == "french"
    lowest, highest = {"low": (1, 13), "high": (2, 14), "both": (1, 14), "corner": (1, 13)}[rules.ace]
    if not french:
        lowest, highest = 1, 12
    kinds = dict.fromkeys(part.kind for contract in rules.contracts for part in contract)
    return MeldRules(
        wilds=frozenset(rules.deck.wilds),
        ranks=_FRENCH if french else _PHASES,
        suits=SUITS if french else COLOURS,
        lowest=lowest,
        highest=highest,
        wraps=french and rules.ace == "corner",
        longest=highest - lowest + 1,
        max_wilds=rules.max_wilds,
        wilds_adjacent=rules.wilds_adjacent,
        all_wild_melds=rules.all_wild_melds,
        distinct_set_ranks=rules.distinct_set_ranks,
        distinct_set_suits=rules.distinct_set_suits,
        separate_runs=rules.separate_runs,
        exact_sizes=rules.exact_sizes,
        extra_kinds=tuple(kinds) if rules.extra_melds else (),
    )


@lru_cache(maxsize=64)
def _the_same(knobs: MeldRules) -> MeldRules:
    """Gives one object for equal knobs, so that memos compare them by identity."""
    return knobs


meld_rules = Remembered("meld rules", lambda rules: _the_same(_taken_out(rules)))
