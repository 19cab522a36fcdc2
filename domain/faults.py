"""What is wrong with a ruleset: every fault at once, each with a code and the knob's path.

A fault is a number out of bounds, a card that does not exist, or two knobs that cannot both hold.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from domain.bounds import (
    BOUNDS,
    CONTRADICTIONS,
    MAX_ALTERNATIVES,
    MAX_CONTRACTS,
    MAX_DEAL,
    MAX_ENTRIES,
    MAX_FACES,
    MAX_PACKS,
    MAX_PARTS,
    MAX_PLAYERS,
    MAX_ROUNDS,
    MAX_SIZE,
    MAX_WILDS_IN_DECK,
    Check,
    RulesetFault,
    within,
)
from domain.cards import FACES, JOKER, PHASE_WILD, rank_of
from domain.reach import (
    cards_of_deck,
    cards_within_reach,
    largest_meld,
    least_cards,
    numbers_dealt,
    wilds_in_deck,
)
from domain.ruleset import Contract, DeckSize, Ruleset


class Fault(Struct, frozen=True):
    """One fault: a stable code, a JSON pointer into the ruleset, and a sentence for people."""

    code: RulesetFault
    path: str
    detail: str


class FaultyRuleset(Exception):
    """Carries every fault of a ruleset that cannot be played."""

    def __init__(self, found: tuple[Fault, ...]) -> None:
        super().__init__(found)
        self.faults = found


def pointer(path: str, key: object) -> str:
    """Gives the JSON pointer of what is kept under a key."""
    return f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"


def too_long(rules: Ruleset) -> tuple[Fault, ...]:
    """Lists the tables with more entries than any game needs, and beside them what is wrong with other knobs.

    Empty where no table is too long. Cost: one look at each entry; decks and contracts, which may take long, are not
    looked at before the tables are in order.
    """
    points = rules.points
    counts = (
        ("/deck/sizes", len(rules.deck.sizes), MAX_PLAYERS),
        ("/deck/wilds", len(rules.deck.wilds), MAX_FACES),
        ("/never_taken", len(rules.never_taken), MAX_FACES),
        ("/deal/cards", len(rules.deal.cards), MAX_ROUNDS),
        ("/contracts", len(rules.contracts), MAX_CONTRACTS),
        ("/buy/penalty", len(rules.buy.penalty), MAX_ENTRIES),
        ("/points/cards", len(points.cards), MAX_ENTRIES),
        ("/points/go_out_bonus", len(points.go_out_bonus), MAX_ENTRIES),
        ("/points/use", len(points.use), MAX_ALTERNATIVES),
        ("/points/alternatives", len(points.alternatives), MAX_ALTERNATIVES),
        *(
            (pointer("/points/alternatives", name), len(table), MAX_ENTRIES)
            for name, table in points.alternatives.items()
        ),
    )
    found = tuple(Fault("too_long", path, f"at most {most} entries") for path, count, most in counts if count > most)
    if not found:
        return ()
    others = (*_failing(BOUNDS, rules), *_failing(CONTRADICTIONS, rules))
    return *found, *(fault for fault in others if not any(_is_within(fault, each) for each in found))


def _is_within(fault: Fault, other: Fault) -> bool:
    """Tells whether one of two faults is of a knob that holds the other's, or of the same."""
    one, another = f"{fault.path}/", f"{other.path}/"
    return one.startswith(another) or another.startswith(one)


def faults(rules: Ruleset) -> tuple[Fault, ...]:
    """Lists every fault of a well-formed ruleset; an empty tuple means that it can be played."""
    found = (
        *_failing(BOUNDS, rules),
        *_deck_faults(rules),
        *_face_faults(rules),
        *_deal_faults(rules),
        *_contract_faults(rules),
        *_failing(CONTRADICTIONS, rules),
    )
    return tuple(dict.fromkeys(found))


def _failing(checks: Iterable[Check], rules: Ruleset) -> Iterator[Fault]:
    return (Fault(code, path, detail) for code, path, detail, holds in checks if not holds(rules))


def _players(rules: Ruleset) -> Sequence[int]:
    """Lists the numbers of players that the game is for; those with a deck where its bounds make no sense."""
    players = rules.players
    if 2 <= players.min <= players.max <= MAX_PLAYERS:
        return range(players.min, players.max + 1)
    return [number for number in rules.deck.sizes if within(2, number, MAX_PLAYERS)]


def _decks(rules: Ruleset) -> dict[int, DeckSize]:
    """Gives the decks that may be made at all, by players: their numbers come from outside."""
    sizes = rules.deck.sizes
    return {number: sizes[number] for number in _players(rules) if number in sizes and _is_deck(sizes[number])}


def _is_deck(size: DeckSize) -> bool:
    return within(1, size.packs, MAX_PACKS) and within(0, size.jokers, MAX_WILDS_IN_DECK)


def _deck_faults(rules: Ruleset) -> Iterator[Fault]:
    for number in _players(rules):
        if number not in rules.deck.sizes:
            yield Fault("deck_missing", f"/deck/sizes/{number}", f"no deck is given for {number} players")
    for number, size in rules.deck.sizes.items():
        path = f"/deck/sizes/{number}"
        if not within(1, size.packs, MAX_PACKS):
            yield Fault("too_many_packs", path, f"1 to {MAX_PACKS} packs")
        elif not _is_deck(size) or wilds_in_deck(rules, size) > MAX_WILDS_IN_DECK:
            yield Fault("too_many_wilds", path, f"0 to {MAX_WILDS_IN_DECK} jokers and other wilds")
        if rules.deck.kind == "ten-phases" and (size.packs, size.jokers) != (1, 0):
            yield Fault("one_deck_only", path, "the ten-phases deck is one pack without jokers")


def _face_faults(rules: Ruleset) -> Iterator[Fault]:
    faces = FACES[rules.deck.kind]
    named = {*faces, *map(rank_of, faces)}
    alternatives = rules.points.alternatives.items()
    tables = {"/points/cards": rules.points.cards} | {
        pointer("/points/alternatives", name): table for name, table in alternatives
    }
    written = [
        *((f"/deck/wilds/{place}", face, faces) for place, face in enumerate(rules.deck.wilds)),
        *((f"/never_taken/{place}", face, faces) for place, face in enumerate(rules.never_taken)),
        *((pointer(path, face), face, named) for path, table in tables.items() for face in table),
    ]
    for path, face, known in written:
        if face not in known:
            yield Fault("unknown_face", path, f"{face} is no card of a {rules.deck.kind} deck")
    for place, name in enumerate(rules.points.use):
        if name not in rules.points.alternatives:
            yield Fault("unknown_alternative", f"/points/use/{place}", f"there is no table {name}")
    for card in (JOKER, PHASE_WILD):
        if card not in rules.deck.wilds and any(card in cards_of_deck(rules, size) for size in _decks(rules).values()):
            yield Fault("useless_card", "/deck/wilds", f"{card} is in the deck and would be in no meld")


def _deal_faults(rules: Ruleset) -> Iterator[Fault]:
    most = max((cards for cards in rules.deal.cards if cards <= MAX_DEAL), default=0)
    for number, size in _decks(rules).items():
        needed = number * most + rules.deal.forehand_extra + rules.deal.upcard + 1
        if len(cards_of_deck(rules, size)) < needed:
            yield Fault("deck_too_small", f"/deck/sizes/{number}", f"{number} hands of {most} and a stock are needed")


def _contract_faults(rules: Ruleset) -> Iterator[Fault]:
    if not within(1, len(rules.contracts), MAX_CONTRACTS):
        return
    for place, contract in enumerate(rules.contracts):
        path = f"/contracts/{place}"
        if not within(1, len(contract), MAX_PARTS):
            yield Fault("bad_contract", path, f"1 to {MAX_PARTS} melds")
        elif not all(within(2, part.size, MAX_SIZE) for part in contract):
            yield Fault("bad_size", path, f"melds of 2 to {MAX_SIZE} cards")
        else:
            yield from _part_faults(rules, path, contract)
            yield from _reach_faults(rules, path, place, contract)


def _part_faults(rules: Ruleset, path: str, contract: Contract) -> Iterator[Fault]:
    for place, part in enumerate(contract):
        at = f"{path}/{place}"
        if any(part.size > largest_meld(rules, part, size) for size in _decks(rules).values()):
            yield Fault("meld_too_big", at, f"no {part.kind} of {part.size} cards can be made of this deck")
        if rules.exact_sizes and least_cards(rules, part) > part.size:
            yield Fault("size_below_naturals", at, f"{rules.max_wilds.n} naturals do not go into {part.size} cards")


def _reach_faults(rules: Ruleset, path: str, place: int, contract: Contract) -> Iterator[Fault]:
    dealt = numbers_dealt(rules, place)
    if not dealt or not rules.buy.penalty:
        return
    needed = sum(least_cards(rules, part) for part in contract) + (rules.going_out == "discard_required")
    for number in _players(rules):
        reach = cards_within_reach(rules, max(dealt), place, number)
        if reach is not None and needed > reach:
            detail = f"of {number} players each holds {reach} cards at most, and {needed} are needed"
            yield Fault("contract_too_big", path, detail)
            break
    left = {"normal": None, "empty_hand": 1, "empty_hand_no_discard": 0}[rules.last_round]
    is_last, free = place == len(rules.contracts) - 1, not rules.exact_sizes or rules.extra_melds
    if is_last and not free and left is not None and min(dealt) + 1 > sum(part.size for part in contract) + left:
        yield Fault("last_contract_too_small", path, "melds of exact sizes leave too many cards in hand")
