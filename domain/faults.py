"""What is wrong with a ruleset: every fault at once, each with a code and the knob's path.

A fault is a number out of bounds, a card that does not exist, or two knobs that cannot both hold.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from domain.cards import FACES, JOKER, PHASE_WILD, SKIP, rank_of
from domain.reach import (
    cards_of_deck,
    cards_within_reach,
    largest_meld,
    least_cards,
    numbers_dealt,
    wilds_in_deck,
)
from domain.ruleset import Contract, DeckSize, Ruleset

MAX_PLAYERS = 8
MAX_PACKS = 6
MAX_DEAL = 15
MAX_WILDS_IN_DECK = 24
MAX_CONTRACTS = 12
MAX_PARTS = 5
MAX_SIZE = 14  # a run from ace to ace
MAX_ROUNDS = 128  # a game's chain of secrets has that many links
MAX_RENEWALS = 20
MAX_LAPS = 100
MAX_PENALTY = 5
MAX_POINTS = 1_000  # of one card; a game's total stays far below 32 bits
MAX_NAME = 64
MAX_FACES = 64  # wilds, or cards never taken: more than any deck has
MAX_ENTRIES = 128  # of a table by rounds or by cards
MAX_ALTERNATIVES = 32
MAX_BUYS = 1_000
MAX_SOURCE = 1_000


class Fault(Struct, frozen=True):
    """One fault: a stable code, a JSON pointer into the ruleset, and a sentence for people."""

    code: str
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
    others = (*_out_of_bounds(rules), *_contradictions(rules))
    return *found, *(fault for fault in others if not any(_is_within(fault, each) for each in found))


def _is_within(fault: Fault, other: Fault) -> bool:
    """Tells whether one of two faults is of a knob that holds the other's, or of the same."""
    one, another = f"{fault.path}/", f"{other.path}/"
    return one.startswith(another) or another.startswith(one)


def faults(rules: Ruleset) -> tuple[Fault, ...]:
    """Lists every fault of a well-formed ruleset; an empty tuple means that it can be played."""
    found = (
        *_out_of_bounds(rules),
        *_deck_faults(rules),
        *_face_faults(rules),
        *_deal_faults(rules),
        *_contract_faults(rules),
        *_contradictions(rules),
    )
    return tuple(dict.fromkeys(found))


def _within(least: int, value: int, most: int) -> bool:
    return least <= value <= most


Check: TypeAlias = tuple[str, str, str, Callable[[Ruleset], bool]]
"""A code, a path, what should be, and whether it is."""

_BOUNDS: tuple[Check, ...] = (
    ("text_too_long", "/name", f"at most {MAX_NAME} characters", lambda r: len(r.name) <= MAX_NAME),
    ("text_too_long", "/source", f"at most {MAX_SOURCE} characters", lambda r: len(r.source) <= MAX_SOURCE),
    (
        "bad_player_numbers", "/players", f"2 to {MAX_PLAYERS} players, and min not above max",
        lambda r: 2 <= r.players.min <= r.players.max <= MAX_PLAYERS,
    ),
    (
        "bad_deck", "/deck", f"decks for {MAX_PLAYERS} numbers of players at most, and each wild once",
        lambda r: all(_within(1, n, MAX_PLAYERS) for n in r.deck.sizes)
        and len(set(r.deck.wilds)) == len(r.deck.wilds),
    ),
    (
        "bad_deal", "/deal/cards", f"1 to {MAX_DEAL} cards for each player, for {MAX_ROUNDS} rounds at most",
        lambda r: _within(1, len(r.deal.cards), MAX_ROUNDS) and all(_within(1, n, MAX_DEAL) for n in r.deal.cards),
    ),
    (
        "bad_contracts", "/contracts", f"1 to {MAX_CONTRACTS} contracts",
        lambda r: _within(1, len(r.contracts), MAX_CONTRACTS),
    ),
    ("bad_max_wilds", "/max_wilds/n", f"0 to {MAX_SIZE}", lambda r: _within(0, r.max_wilds.n, MAX_SIZE)),
    (
        "bad_penalty", "/buy/penalty", f"0 to {MAX_PENALTY} cards, by round",
        lambda r: bool(r.buy.penalty) and all(_within(0, cards, MAX_PENALTY) for cards in r.buy.penalty),
    ),
    (
        "bad_buy_limit", "/buy/per_round", f"no limit, or 0 to {MAX_BUYS}",
        lambda r: _within(0, r.buy.per_round or 0, MAX_BUYS),
    ),
    (
        "bad_buy_limit", "/buy/per_game", f"no limit, or 0 to {MAX_BUYS}",
        lambda r: _within(0, r.buy.per_game or 0, MAX_BUYS),
    ),
    (
        "bad_renewals", "/stock_out/max_renewals", f"0 to {MAX_RENEWALS}",
        lambda r: _within(0, r.stock_out.max_renewals, MAX_RENEWALS),
    ),
    (
        "bad_idle_laps", "/idle_laps", f"1 to {MAX_LAPS} laps",
        lambda r: all(_within(1, laps, MAX_LAPS) for laps in (r.idle_laps.no_draw, r.idle_laps.no_progress)),
    ),
    (
        "bad_max_rounds", "/max_rounds", f"1 to {MAX_ROUNDS}",
        lambda r: r.max_rounds is None or _within(1, r.max_rounds, MAX_ROUNDS),
    ),
    (
        "bad_points", "/points", f"{-MAX_POINTS} to {MAX_POINTS} points",
        lambda r: all(abs(points) <= MAX_POINTS for points in _all_points(r)),
    ),
)  # fmt: skip

_CONTRADICTIONS: tuple[Check, ...] = (
    (
        "upcard_and_forehand_extra", "/deal", "a forehand with one card more starts without an upcard",
        lambda r: not (r.deal.forehand_extra and r.deal.upcard),
    ),
    (
        "first_through_together", "/end", "the first one through is known only with individual contracts",
        lambda r: r.end != "first_through" or r.progression == "individual",
    ),
    (
        "rounds_without_contract", "/max_rounds", "played together, there is one round for each contract at most",
        lambda r: r.progression == "individual" or (r.max_rounds or 0) <= len(r.contracts),
    ),
    (
        "all_wild_within_limit", "/all_wild_melds", "the limit on wilds asks for naturals in every meld",
        lambda r: not (r.all_wild_melds and _naturals_asked(r)),
    ),
    (
        "moved_wild_in_set", "/swap/sets", "a wild moves to an end of its run, and a set has none",
        lambda r: not (r.swap.whose == "move" and r.swap.sets),
    ),
    (
        "moved_wild_owed", "/swap/re_meld", "a wild that moves within its run is in nobody's hand",
        lambda r: not (r.swap.whose == "move" and r.swap.re_meld),
    ),
    (
        "moved_wild_offered", "/swap/offer", "a wild that moves within its run is not offered round the table",
        lambda r: not (r.swap.whose == "move" and r.swap.offer == "rotation"),
    ),
    (
        "offered_wild_owed", "/swap/offer", "who is not in turn cannot lay a wild again at once",
        lambda r: not (r.swap.re_meld and r.swap.offer == "rotation"),
    ),
    (
        "skip_cards_missing", "/skip_cards", "only the ten-phases deck has skip cards",
        lambda r: not r.skip_cards or SKIP in FACES[r.deck.kind],
    ),
    (
        "skip_may_be_taken", "/never_taken", f"a skip card is never taken: {SKIP} belongs here",
        lambda r: not r.skip_cards or SKIP in r.never_taken,
    ),
    ("skip_is_wild", "/deck/wilds", "a skip card is in no meld", lambda r: SKIP not in r.deck.wilds),
)  # fmt: skip


def _out_of_bounds(rules: Ruleset) -> Iterator[Fault]:
    return _failing(_BOUNDS, rules)


def _contradictions(rules: Ruleset) -> Iterator[Fault]:
    return _failing(_CONTRADICTIONS, rules)


def _failing(checks: Iterable[Check], rules: Ruleset) -> Iterator[Fault]:
    return (Fault(code, path, detail) for code, path, detail, holds in checks if not holds(rules))


def _all_points(rules: Ruleset) -> Iterator[int]:
    for table in (rules.points.cards, *rules.points.alternatives.values()):
        yield from table.values()
    yield from rules.points.go_out_bonus


def _naturals_asked(rules: Ruleset) -> bool:
    limit = rules.max_wilds
    return limit.kind in ("at_most_half", "not_more_than_naturals") or (limit.kind == "min_naturals" and limit.n > 0)


def _players(rules: Ruleset) -> Sequence[int]:
    """Lists the numbers of players that the game is for; those with a deck where its bounds make no sense."""
    players = rules.players
    if 2 <= players.min <= players.max <= MAX_PLAYERS:
        return range(players.min, players.max + 1)
    return [number for number in rules.deck.sizes if _within(2, number, MAX_PLAYERS)]


def _decks(rules: Ruleset) -> dict[int, DeckSize]:
    """Gives the decks that may be made at all, by players: their numbers come from outside."""
    sizes = rules.deck.sizes
    return {number: sizes[number] for number in _players(rules) if number in sizes and _is_deck(sizes[number])}


def _is_deck(size: DeckSize) -> bool:
    return _within(1, size.packs, MAX_PACKS) and _within(0, size.jokers, MAX_WILDS_IN_DECK)


def _deck_faults(rules: Ruleset) -> Iterator[Fault]:
    for number in _players(rules):
        if number not in rules.deck.sizes:
            yield Fault("deck_missing", f"/deck/sizes/{number}", f"no deck is given for {number} players")
    for number, size in rules.deck.sizes.items():
        path = f"/deck/sizes/{number}"
        if not _within(1, size.packs, MAX_PACKS):
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
    if not _within(1, len(rules.contracts), MAX_CONTRACTS):
        return
    for place, contract in enumerate(rules.contracts):
        path = f"/contracts/{place}"
        if not _within(1, len(contract), MAX_PARTS):
            yield Fault("bad_contract", path, f"1 to {MAX_PARTS} melds")
        elif not all(_within(2, part.size, MAX_SIZE) for part in contract):
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
