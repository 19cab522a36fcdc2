"""The solver held against brute force: hands dealt at random under the presets and under each switch of the rules.

Run `python -m tests.domain.solver_compared 2000` to compare 2,000 hands under each of the rules, or name some of them
behind the number; a third word that is a number is the seed.
"""

import random
import sys
import time
from collections import Counter

from msgspec.structs import replace

from domain.cards import Card, Hand, deck_list, in_deck_order
from domain.lay_down import read_lay_down
from domain.meld import NewMeld
from domain.presets import preset, preset_names
from domain.refusals import Refused
from domain.ruleset import Contract, MaxWilds, MeldKind, Part, Ruleset
from domain.solver import LayDown, best_lay_down, lay_down_candidates
from tests.domain.brute_force import FRENCH, Outcome, brute_force, points_of, suits_of


def contracts(*contracts: str) -> tuple[Contract, ...]:
    """Reads contracts such as `S3 R7`."""
    kinds: dict[str, MeldKind] = {"S": "set", "R": "run", "A": "run_any_suit", "C": "colour"}
    return tuple(tuple(Part(kinds[p[0]], int(p[1:])) for p in contract.split()) for contract in contracts)


def compared_rules() -> dict[str, Ruleset]:
    """Gives the rules by name: the presets, and each switch on its own or with one that it works against."""
    no_limit = replace(preset("jokers"), max_wilds=MaxWilds())
    twos = replace(no_limit, deck=replace(no_limit.deck, wilds=("JK", "2C", "2D", "2H", "2S")))
    blacks = preset("black-twos")
    half, naturals_2 = MaxWilds("not_more_than_naturals"), MaxWilds("min_naturals", 2)
    one, two = MaxWilds("per_meld", 1), MaxWilds("per_meld", 2)
    return {
        **{name: preset(name) for name in preset_names()},
        "no-limit": no_limit,
        "no-limit-low": replace(no_limit, ace="low"),
        "no-limit-high-separate": replace(no_limit, ace="high", separate_runs=True),
        "no-limit-no-touch": replace(no_limit, wilds_adjacent=False),
        "no-touch-separate": replace(no_limit, wilds_adjacent=False, separate_runs=True, ace="high"),
        "half": replace(no_limit, max_wilds=half),
        "half-separate-no-touch": replace(no_limit, max_wilds=half, separate_runs=True, wilds_adjacent=False),
        "two-a-meld": replace(no_limit, max_wilds=two),
        "two-a-meld-no-touch-distinct": replace(
            no_limit, max_wilds=two, wilds_adjacent=False, distinct_set_ranks=True, separate_runs=True
        ),
        "naturals-2": replace(no_limit, max_wilds=naturals_2),
        "all-wild": replace(no_limit, all_wild_melds=True),
        "all-wild-one": replace(no_limit, all_wild_melds=True, max_wilds=one, distinct_set_ranks=True),
        "exact": replace(no_limit, exact_sizes=True),
        "exact-davis": replace(preset("davis"), exact_sizes=True),
        "exact-half-no-touch": replace(no_limit, exact_sizes=True, max_wilds=half, wilds_adjacent=False),
        "distinct-suits": replace(no_limit, distinct_set_suits=True),
        "distinct-suits-one": replace(preset("davis"), distinct_set_suits=True, distinct_set_ranks=False),
        "distinct-suits-exact": replace(no_limit, distinct_set_suits=True, exact_sizes=True),
        "corner": replace(no_limit, ace="corner"),
        "corner-separate": replace(preset("davis"), ace="corner"),
        "corner-exact": replace(no_limit, ace="corner", exact_sizes=True),
        "black-twos-one": replace(blacks, max_wilds=one),
        "black-twos-half": replace(blacks, max_wilds=half),
        "black-twos-separate": replace(blacks, separate_runs=True, distinct_set_ranks=True, ace="low"),
        "black-twos-exact": replace(blacks, exact_sizes=True),
        "black-twos-no-touch": replace(blacks, wilds_adjacent=False),
        "black-twos-distinct-suits": replace(blacks, distinct_set_suits=True),
        "twos": replace(twos, max_wilds=half),
        "twos-distinct-suits": replace(twos, distinct_set_suits=True),
        "twos-one-no-touch": replace(twos, max_wilds=two, wilds_adjacent=False),
        "sizes": replace(no_limit, contracts=contracts("S3 R7", "S3 S3 R5", "S3 R10", "R5 R4", "S4 S3 R4", "R8 R4")),
        "sizes-exact": replace(no_limit, exact_sizes=True, contracts=contracts("S4 S3 R5", "R5 R4", "S3 S3 S4")),
        "sizes-one": replace(preset("davis"), contracts=contracts("S3 R7", "R5 R4", "S4 S3 R4", "R7 R5")),
        "ten-phases-half": replace(preset("ten-phases"), max_wilds=half),
        "any-suit-ace": replace(no_limit, contracts=contracts("A7", "A4 A4", "S3 A4", "S3 A4 A4")),
        "extra-melds": replace(
            no_limit, extra_melds=True, contracts=contracts("S3 R4", "S3 S3 S3", "R4 R4", "S3 S3 R4")
        ),
        "extra-melds-davis": replace(preset("davis"), extra_melds=True, contracts=contracts("S3 R4", "S3 S3", "R4")),
        "odd": replace(no_limit, contracts=contracts("C7 S3", "A4 R4", "C5 R4", "C5 C5", "S3 A4 R4")),
    }


def random_hand(rng: random.Random, contract: Contract, rules: Ruleset) -> Hand:
    """Deals a hand: at random, or around melds that nearly meet the contract, often of few suits and with wilds."""
    deck = list(deck_list(rules.deck.kind, 2, 4 if "JK" in rules.deck.wilds else 0))
    rng.shuffle(deck)
    wilds = [card for card in deck if card in rules.deck.wilds]
    least = sum(part.size for part in contract)
    size = rng.randint(max(least - 1, 7), max(least + 3, 12))
    chosen = wilds[: rng.choice((0, 0, 1, 2, 3, 4))]
    suits = rng.sample(suits_of(rules), rng.choice((1, 2, 4)))
    if rng.random() < 0.75:
        chosen += [card for part in contract for card in _nearly(rng, part, suits, rules)]
    few = [card for card in deck if card[-1] in suits] if rng.random() < 0.5 else deck
    hand = chosen + few
    return in_deck_order(_as_dealt(hand, deck)[:size])


def _nearly(rng: random.Random, part: Part, suits: list[str], rules: Ruleset) -> list[Card]:
    """Makes a meld of the part's kind and leaves some of its cards out."""
    line = list(FRENCH + "A") if rules.deck.kind == "french" else [str(number) for number in range(1, 13)]
    suit = rng.choice(suits)
    if part.kind in ("run", "run_any_suit"):
        first = rng.randrange(len(line) - part.size + 1)
        size = min(part.size + rng.choice((0, 0, 1, 2)), len(line) - first)
        any_suit = part.kind == "run_any_suit"
        cards = [rank + (rng.choice(suits) if any_suit else suit) for rank in line[first : first + size]]
    elif part.kind == "set":
        rank = rng.choice(line)
        cards = [rank + rng.choice(suits_of(rules)) for _ in range(part.size + rng.choice((0, 0, 1)))]
    else:
        cards = [rng.choice(line) + suit for _ in range(part.size)]
    return [card for card in cards if rng.random() < 0.85]


def _as_dealt(cards: list[Card], deck: list[Card]) -> list[Card]:
    """Keeps of each face as many as the deck has."""
    left = Counter(deck)
    kept = []
    for card in cards:
        if left[card]:
            left[card] -= 1
            kept.append(card)
    return kept


def difference(hand: Hand, contract: Contract, rules: Ruleset) -> str | None:
    """Compares the solver with the brute force; gives the difference in words, or None."""
    expected = brute_force(hand, contract, rules)
    best = best_lay_down(hand, contract, rules)
    by_cards = lay_down_candidates(hand, contract, rules, must_empty=len(hand))
    found = None
    if best is not None and by_cards:
        found = Outcome((best.points, len(best.rest)), (len(by_cards[0].rest), by_cards[0].points))
    if found != expected and (best is None or best.exact):
        return f"the solver finds {found}, there is {expected}"
    candidates = lay_down_candidates(hand, contract, rules)
    if best is not None and (not candidates or candidates[0].points != best.points):
        return f"the candidates {candidates} do not begin with the best"
    if expected is not None and candidates and all(one.exact for one in candidates):
        fewest = min((len(one.rest), one.points) for one in candidates)
        if fewest != expected.fewest_cards:
            return f"the candidates {candidates} lack the one with the fewest cards, {expected.fewest_cards}"
    for lay_down in filter(None, (best, *by_cards, *candidates)):
        if fault := _fault(lay_down, hand, contract, rules):
            return f"{lay_down}: {fault}"
    return None


def _fault(lay_down: LayDown, hand: Hand, contract: Contract, rules: Ruleset) -> str | None:
    cards = [placed.card for _, meld in lay_down.melds for placed in meld]
    if in_deck_order([*cards, *lay_down.rest]) != hand:
        return "other cards than the hand's"
    if lay_down.points != sum(points_of(card, rules) for card in lay_down.rest):
        return "points"
    sent = tuple(NewMeld(kind, meld) for kind, meld in lay_down.melds)
    try:
        read = read_lay_down(sent, contract, rules)
    except Refused as refused:
        return f"refused: {refused.broken}"
    return None if read == lay_down.melds else f"read as {read}"


def compare(name: str, rules: Ruleset, hands: int, seed: int) -> list[str]:
    """Compares so many hands under one set of rules, its contracts in turn."""
    rng = random.Random(f"{seed} {name}")
    differences = []
    for number in range(hands):
        contract = rules.contracts[number % len(rules.contracts)]
        hand = random_hand(rng, contract, rules)
        if found := difference(hand, contract, rules):
            parts = " ".join(part.kind[0] + str(part.size) for part in contract)
            differences.append(f"{name}, {parts}, {' '.join(hand)}: {found}")
    return differences


def main(arguments: list[str]) -> None:
    """Compares and prints the differences."""
    numbers = [int(word) for word in arguments if word.isdigit()]
    names = [word for word in arguments if not word.isdigit()]
    for name, rules in compared_rules().items():
        if not names or name in names:
            started = time.perf_counter()
            differences = compare(name, rules, numbers[0] if numbers else 100, numbers[1] if numbers[1:] else 1)
            seconds = time.perf_counter() - started
            lines = [f"{name}: {len(differences)} differences, {seconds:.0f} s", *differences[:5]]
            sys.stdout.write("\n  ".join(lines) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
