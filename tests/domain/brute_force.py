"""Every lay-down of a hand, tried one after the other: slow and plain, the measure that the solver is held against.

It shares nothing with the solver but the types, and judges melds by its own reading of the rules. A meld is a number
too: four bits for the copies of each face of the hand, so that melds are taken out of a hand by subtraction.

Run `python -m tests.domain.brute_force 2000` to compare 2,000 hands under each of the rules, or name some of them
behind the number; a third word that is a number is the seed.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from domain.cards import Card, Hand, deck_list, in_deck_order
from domain.lay_down import read_lay_down
from domain.meld import NewMeld
from domain.presets import preset, preset_names
from domain.refusals import Refused
from domain.ruleset import Contract, MaxWilds, MeldKind, Part, Ruleset
from domain.solver import LayDown, best_lay_down, lay_down_candidates

FRENCH = "A23456789TJQK"


class Meld(NamedTuple):
    """A legal meld of the hand. usage: its cards. name: `set 7`, or suit and first and last place of a run."""

    usage: int
    kind: str
    name: tuple[str, int, int]
    size: int


Names: TypeAlias = tuple[tuple[str, int, int], ...]


class Outcome(NamedTuple):
    """What is left after the best lay-down, in points and in cards; by points first and by cards first."""

    fewest_points: tuple[int, int]
    fewest_cards: tuple[int, int]


def brute_force(hand: Hand, contract: Contract, rules: Ruleset) -> Outcome | None:
    """Tries all lay-downs; None where there is none."""
    faces = sorted(set(hand))
    unit = {face: 1 << 4 * place for place, face in enumerate(faces)}
    points = {face: _points(face, rules) for face in faces}
    all_cards = sum(unit[card] for card in hand)
    guard = sum(8 << 4 * place for place in range(len(faces)))
    melds = {kind: _melds(kind, hand, unit, rules) for kind in {part.kind for part in contract}}
    if rules.extra_melds:
        melds |= {part.kind: _melds(part.kind, hand, unit, rules) for c in rules.contracts for part in c}
    values = [points[face] for face in faces]
    sizes = {part: range(part.size, part.size + 1 if rules.exact_sizes else len(hand) + 1) for part in contract}

    def weigh(left: int) -> tuple[int, int]:
        numbers = [left >> 4 * place & 7 for place in range(len(faces))]
        return sum(map(int.__mul__, numbers, values)), sum(numbers)

    ends: set[int] = set()
    seen: set[tuple[int, int, int, Names]] = set()

    def lay(place: int, left: int, laid: Names, options: list[Meld]) -> None:
        if 0 in ends:  # nothing is better than an empty hand
            return
        if place == len(contract):
            ends.add(left)
            if rules.extra_melds:
                lay_more(left, laid)
            return
        part = contract[place]
        if place == 0 or contract[place - 1] != part:  # equal parts in one order only, so their options go on
            options = [meld for meld in melds[part.kind] if meld.size in sizes[part]]
        options = [meld for meld in options if ((left | guard) - meld.usage) & guard == guard]
        for number, meld in enumerate(options):
            if _agrees(meld, laid, rules):
                rest, names = left - meld.usage, _with(meld, laid, rules)
                if (place, rest, id(meld), names) not in seen:
                    seen.add((place, rest, id(meld), names))
                    lay(place + 1, rest, names, options[number:])

    def lay_more(left: int, laid: Names) -> None:
        for kind, found in melds.items():
            for meld in found:
                enough = meld.size >= (3 if kind == "set" else 4)
                if enough and ((left | guard) - meld.usage) & guard == guard and _agrees(meld, laid, rules):
                    rest, names = left - meld.usage, _with(meld, laid, rules)
                    if (len(contract), rest, 0, names) not in seen:
                        seen.add((len(contract), rest, 0, names))
                        ends.add(rest)
                        lay_more(rest, names)

    lay(0, all_cards, (), [])
    if not ends:
        return None
    weighed = [weigh(left) for left in ends]
    return Outcome(min(weighed), min((cards, points) for points, cards in weighed))


def _with(meld: Meld, laid: Names, rules: Ruleset) -> Names:
    """Remembers only what later melds could disagree with."""
    return tuple(sorted({*laid, meld.name})) if _names_matter(meld.kind, rules) else laid


def _names_matter(kind: str, rules: Ruleset) -> bool:
    return rules.distinct_set_ranks if kind == "set" else rules.separate_runs and kind == "run"


def _agrees(meld: Meld, laid: Names, rules: Ruleset) -> bool:
    if meld.kind == "set" and rules.distinct_set_ranks:
        return meld.name not in laid
    if meld.kind == "run" and rules.separate_runs:
        suit, first, last = meld.name
        for other, low, high in laid:
            if other == suit and (
                _next(last, rules) == _place(low, rules) or _next(high, rules) == _place(first, rules)
            ):
                return False
    return True


def _place(place: int, rules: Ruleset) -> int:
    return (place - 1) % 13 + 1 if rules.ace == "corner" else place


def _next(place: int, rules: Ruleset) -> int:
    return _place(place + 1, rules)


def _points(face: Card, rules: Ruleset) -> int:
    table = dict(rules.points.cards)
    for name in rules.points.use:
        table |= rules.points.alternatives[name]
    return table.get(face, table.get(face if face in ("JK", "W", "X") else face[:-1], 0))


def _melds(kind: str, hand: Hand, unit: dict[Card, int], rules: Ruleset) -> list[Meld]:
    found: dict[tuple[int, tuple[str, int, int]], Meld] = {}
    makers: dict[str, Callable[[Hand, Ruleset], Iterator[tuple[tuple[str, int, int], list[Card], list[bool]]]]]
    makers = {"set": _sets, "colour": _colours, "run": _runs, "run_any_suit": _runs_any_suit}
    for name, cards, natural in makers[kind](hand, rules):
        if _within_limits(kind, cards, natural, rules):
            usage = sum(unit[card] for card in cards)
            told_apart = name if _names_matter(kind, rules) else ("", 0, 0)
            found[usage, told_apart] = Meld(usage, kind, name, len(cards))
    return list(found.values())


def _within_limits(kind: str, cards: list[Card], natural: list[bool], rules: Ruleset) -> bool:
    own, wild = sum(natural), len(natural) - sum(natural)
    if own == 0 and not rules.all_wild_melds:
        return False
    limit = rules.max_wilds
    if limit.kind == "per_meld" and wild > limit.n:
        return False
    if limit.kind in ("at_most_half", "not_more_than_naturals") and 2 * wild > own + wild:
        return False
    if limit.kind == "min_naturals" and own < limit.n:
        return False
    touching = any(not natural[place] and not natural[place + 1] for place in range(len(natural) - 1))
    if kind.startswith("run") and touching and not rules.wilds_adjacent:
        return False
    if kind == "set" and rules.distinct_set_suits:
        naturals = [card for card, is_natural in zip(cards, natural, strict=True) if is_natural]
        return len(naturals) == len(set(naturals))
    return True


def _rank(card: Card) -> str:
    return card if card in ("JK", "W", "X") else card[:-1]


def _sub_multisets(cards: list[Card]) -> set[tuple[Card, ...]]:
    counts = sorted(Counter(cards).items())
    return {
        tuple(card for (card, _), number in zip(counts, numbers, strict=True) for _ in range(number))
        for numbers in product(*(range(number + 1) for _, number in counts))
    }


def _alike(
    hand: Hand, rules: Ruleset, values: list[str], part: Callable[[Card], str]
) -> Iterator[tuple[tuple[str, int, int], list[Card], list[bool]]]:
    for value in values:
        own = [card for card in hand if part(card) == value]
        others = [card for card in hand if card in rules.deck.wilds and part(card) != value]
        wild_choices = _sub_multisets(others)
        for naturals in _sub_multisets(own):
            for wilds in wild_choices:
                if len(naturals) + len(wilds) >= 2:
                    yield (value, 0, 0), [*naturals, *wilds], [True] * len(naturals) + [False] * len(wilds)


def _sets(hand: Hand, rules: Ruleset) -> Iterator[tuple[tuple[str, int, int], list[Card], list[bool]]]:
    french = rules.deck.kind == "french"
    yield from _alike(hand, rules, list(FRENCH) if french else [str(n) for n in range(1, 13)], _rank)


def _colours(hand: Hand, rules: Ruleset) -> Iterator[tuple[tuple[str, int, int], list[Card], list[bool]]]:
    suits = "CDHS" if rules.deck.kind == "french" else "RYGB"
    yield from _alike(hand, rules, list(suits), lambda card: "" if card in ("JK", "W", "X") else card[-1])


def _runs(hand: Hand, rules: Ruleset) -> Iterator[tuple[tuple[str, int, int], list[Card], list[bool]]]:
    for suit in _suits(rules):
        yield from _from_each_place(suit, partial(_in_suit, suit), hand, rules)


def _in_suit(suit: str, rank: str) -> list[Card]:
    return [rank + suit]


def _runs_any_suit(hand: Hand, rules: Ruleset) -> Iterator[tuple[tuple[str, int, int], list[Card], list[bool]]]:
    yield from _from_each_place("", lambda rank: [rank + suit for suit in _suits(rules)], hand, rules)


def _suits(rules: Ruleset) -> str:
    return "CDHS" if rules.deck.kind == "french" else "RYGB"


def _from_each_place(
    suit: str, naturals: Callable[[str], list[Card]], hand: Hand, rules: Ruleset
) -> Iterator[tuple[tuple[str, int, int], list[Card], list[bool]]]:
    """Begins a run at every place and fills place after place with a natural or a wild, in every way."""
    line, starts, most = _line(rules)
    held = Counter(hand)
    wilds = [face for face in held if face in rules.deck.wilds]

    def fill(place: int, cards: list[Card], own: list[bool]) -> Iterator[tuple[list[Card], list[bool]]]:
        if len(cards) >= 2:
            yield cards, own
        if len(cards) == most or place > len(line):
            return
        natural = naturals(line[place - 1])
        for face in [*natural, *(wild for wild in wilds if wild not in natural)]:
            if held[face] > 0:
                held[face] -= 1
                yield from fill(place + 1, [*cards, face], [*own, face in natural])
                held[face] += 1

    for first in starts:
        for cards, own in fill(first, [], []):
            yield (suit, first, first + len(cards) - 1), cards, own


def _line(rules: Ruleset) -> tuple[list[str], range, int]:
    """Gives the ranks in a line, the places where a run may begin, and its most cards."""
    if rules.deck.kind == "ten-phases":
        return [str(number) for number in range(1, 13)], range(1, 13), 12
    if rules.ace == "corner":
        return list(FRENCH * 2), range(1, 14), 13
    high = rules.ace != "low"
    return list(FRENCH + ("A" if high else "")), range(2 if rules.ace == "high" else 1, 14), 14


# The rules compared, by name: the presets, and each switch on its own or with one that it works against.


def contracts(*contracts: str) -> tuple[Contract, ...]:
    """Reads contracts such as `S3 R7`."""
    kinds: dict[str, MeldKind] = {"S": "set", "R": "run", "A": "run_any_suit", "C": "colour"}
    return tuple(tuple(Part(kinds[p[0]], int(p[1:])) for p in contract.split()) for contract in contracts)


def compared_rules() -> dict[str, Ruleset]:
    """Gives the rule sets to compare."""
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
    suits = rng.sample(_suits(rules), rng.choice((1, 2, 4)))
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
        cards = [rank + rng.choice(_suits(rules)) for _ in range(part.size + rng.choice((0, 0, 1)))]
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
    if lay_down.points != sum(_points(card, rules) for card in lay_down.rest):
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
