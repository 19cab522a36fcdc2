"""Every lay-down of a hand, tried one after the other: slow and plain, the measure that the solver is held against.

It shares nothing with the solver but the types, and judges melds by its own reading of the rules. A meld is a number
too: four bits for the copies of each face of the hand, so that melds are taken out of a hand by subtraction.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple, TypeAlias

from domain.cards import Card, Hand
from domain.ruleset import Contract, Ruleset

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
    points = {face: points_of(face, rules) for face in faces}
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


def points_of(face: Card, rules: Ruleset) -> int:
    """Reads what a card left in the hand costs."""
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
    for suit in suits_of(rules):
        yield from _from_each_place(suit, partial(_in_suit, suit), hand, rules)


def _in_suit(suit: str, rank: str) -> list[Card]:
    return [rank + suit]


def _runs_any_suit(hand: Hand, rules: Ruleset) -> Iterator[tuple[tuple[str, int, int], list[Card], list[bool]]]:
    yield from _from_each_place("", lambda rank: [rank + suit for suit in suits_of(rules)], hand, rules)


def suits_of(rules: Ruleset) -> str:
    """Gives the suits, or the colours, of the rules' deck."""
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
