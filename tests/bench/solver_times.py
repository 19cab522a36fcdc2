"""How long the lay-down solver thinks: about the hands that games bring, and about the worst that can be made up."""

import random
import statistics
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from domain.cards import Card, Hand, deck_list, in_deck_order
from domain.ruleset import Contract, Ruleset
from domain.solver import best_lay_down

RANDOM_HANDS = 20_000
HOSTILE_HANDS = 300
SIZES = range(11, 18)  # cards: what is dealt, and what some buys make of it


class Times(NamedTuple):
    """CPU seconds for one hand. worst: of the hostile hands, each with nothing remembered."""

    mean: float
    p99: float
    worst: float


def solver_times(rules: Ruleset, seed: int = 1) -> Times:
    """Times the best lay-down for the contracts of the ruleset."""
    luck = random.Random(seed)
    spent = sorted(_spent(hand, contract, rules) for hand, contract in random_hands(rules, luck))
    hostile = [_spent_cold(hand, contract, rules) for hand, contract in hostile_hands(rules, luck)]
    return Times(statistics.mean(spent), spent[len(spent) * 99 // 100], max(hostile))


def random_hands(rules: Ruleset, luck: random.Random) -> Iterator[tuple[Hand, Contract]]:
    """Deals hands of all sizes from the deck for four players."""
    deck = _deck(rules)
    for _ in range(RANDOM_HANDS):
        yield in_deck_order(luck.sample(deck, luck.choice(SIZES))), luck.choice(rules.contracts)


def hostile_hands(rules: Ruleset, luck: random.Random) -> Iterator[tuple[Hand, Contract]]:
    """Makes hands with many ways to lay the longest contracts: one or two suits, both copies, all the wilds."""
    deck = _deck(rules)
    wilds = [card for card in deck if card in rules.deck.wilds]
    for _ in range(HOSTILE_HANDS):
        suits = luck.sample("CDHS", luck.choice((1, 2)))
        near = [card for card in deck if card not in wilds and card[-1] in suits]
        held = wilds[: luck.randint(2, len(wilds))]
        naturals: list[Card] = luck.sample(near, min(len(near), max(SIZES) - len(held)))
        yield in_deck_order([*held, *naturals]), luck.choice(rules.contracts[3:])


def _deck(rules: Ruleset) -> tuple[Card, ...]:
    size = rules.deck.sizes[4]
    return deck_list(rules.deck.kind, size.packs, size.jokers)


def _spent(hand: Hand, contract: Contract, rules: Ruleset) -> float:
    began = time.process_time()
    best_lay_down(hand, contract, rules)
    return time.process_time() - began


def _spent_cold(hand: Hand, contract: Contract, rules: Ruleset) -> float:
    """Forgets all hands before; the tables that only depend on the contract are built again off the clock."""
    for module in [module for name, module in sys.modules.items() if name.startswith("domain.solver")]:
        for memo in vars(module).values():
            if hasattr(memo, "cache_clear"):
                memo.cache_clear()
    rules.__dict__.clear()  # what was worked out from them
    best_lay_down(_deck(rules)[:: len(_deck(rules)) // len(hand)], contract, rules)  # far from the hand
    return _spent(hand, contract, rules)
