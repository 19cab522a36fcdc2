"""What is wrong with a ruleset: every contradiction at once, each with a code and the knob's path."""

from collections.abc import Iterator

from msgspec import Struct

from domain.cards import FACES, deck_list
from domain.ruleset import Contract, DeckSize, Ruleset

MAX_PLAYERS = 8
MAX_PACKS = 6
MAX_DEAL = 15
MAX_WILDS_IN_DECK = 24
MAX_CONTRACTS = 12
MAX_PARTS = 5
MAX_ROUNDS = 128  # a game's chain of secrets has that many links
MAX_RENEWALS = 20
MAX_POINTS = 1_000  # of one card; a game's total stays far below 32 bits


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


def faults(rules: Ruleset) -> tuple[Fault, ...]:
    """Lists every fault of a well-formed ruleset; an empty tuple means that it can be played."""
    return (*_deck_faults(rules), *_deal_faults(rules), *_contract_faults(rules), *_end_faults(rules))


def _deck_faults(rules: Ruleset) -> Iterator[Fault]:
    players, deck = rules.players, rules.deck
    if not 2 <= players.min <= players.max <= MAX_PLAYERS:
        yield Fault("bad_player_numbers", "/players", f"2 to {MAX_PLAYERS} players, and min not above max")
        return
    if len(deck.sizes) > MAX_PLAYERS or len(deck.wilds) > len(FACES[deck.kind]):
        yield Fault("bad_deck", "/deck", f"decks for {MAX_PLAYERS} numbers of players at most, and each wild once")
        return
    for number in range(players.min, players.max + 1):
        if number not in deck.sizes:
            yield Fault("deck_missing", f"/deck/sizes/{number}", f"no deck is given for {number} players")
    for number, size in deck.sizes.items():
        path = f"/deck/sizes/{number}"
        if not 1 <= size.packs <= MAX_PACKS:
            yield Fault("too_many_packs", path, f"1 to {MAX_PACKS} packs")
        elif not _is_deck_within_bounds(size) or _wilds_in_deck(rules, number) > MAX_WILDS_IN_DECK:
            yield Fault("too_many_wilds", path, f"0 to {MAX_WILDS_IN_DECK} jokers and other wilds")
    for face in (*deck.wilds, *rules.never_taken):
        if face not in FACES[deck.kind]:
            yield Fault("unknown_face", "/deck/wilds", f"{face} is no card of a {deck.kind} deck")


def _is_deck_within_bounds(size: DeckSize) -> bool:
    """Tells whether a deck may be made at all: its numbers come from outside."""
    return 1 <= size.packs <= MAX_PACKS and 0 <= size.jokers <= MAX_WILDS_IN_DECK


def _wilds_in_deck(rules: Ruleset, number: int) -> int:
    size = rules.deck.sizes[number]
    return sum(card in rules.deck.wilds for card in deck_list(rules.deck.kind, size.packs, size.jokers))


def _deal_faults(rules: Ruleset) -> Iterator[Fault]:
    if not rules.deal.cards or not all(1 <= cards <= MAX_DEAL for cards in rules.deal.cards):
        yield Fault("bad_deal", "/deal/cards", f"1 to {MAX_DEAL} cards for each player")
        return
    if rules.deal.forehand_extra and rules.deal.upcard:
        yield Fault("upcard_and_forehand_extra", "/deal", "a forehand with one card more starts without an upcard")
    most = max(rules.deal.cards)
    for number, size in rules.deck.sizes.items():
        if not _is_deck_within_bounds(size) or not rules.players.min <= number <= rules.players.max:
            continue
        if len(deck_list(rules.deck.kind, size.packs, size.jokers)) < number * most + 2:
            yield Fault("deck_too_small", f"/deck/sizes/{number}", f"{number} hands of {most} and a stock are needed")


def _contract_faults(rules: Ruleset) -> Iterator[Fault]:
    if not 1 <= len(rules.contracts) <= MAX_CONTRACTS:
        yield Fault("bad_contracts", "/contracts", f"1 to {MAX_CONTRACTS} contracts")
    for place, contract in enumerate(rules.contracts):
        path = f"/contracts/{place}"
        if not 1 <= len(contract) <= MAX_PARTS:
            yield Fault("bad_contract", path, f"1 to {MAX_PARTS} melds")
        elif any(not 2 <= part.size <= 14 for part in contract):
            yield Fault("bad_size", path, "melds of 2 to 14 cards")
        elif _cards_needed(rules, place, contract) > _cards_within_reach(rules, place):
            yield Fault("contract_too_big", path, "a hand, a draw and all possible buys cannot hold this contract")


def _cards_needed(rules: Ruleset, place: int, contract: Contract) -> int:
    last = place == len(rules.contracts) - 1
    keeps_one = rules.going_out == "discard_required" and (rules.last_round == "normal" or not last)
    return sum(part.size for part in contract) + keeps_one


def _cards_within_reach(rules: Ruleset, place: int) -> int:
    """Counts a hand, its draw and every buy; two players never buy in turn, so they have none."""
    dealt = rules.deal.cards[min(place, len(rules.deal.cards) - 1)]
    buy = rules.buy
    if not buy.allowed or rules.players.min == 2:
        return dealt + 1
    if buy.per_round is None:
        return 10**6
    penalty = buy.penalty[min(place, len(buy.penalty) - 1)] if buy.penalty else 0
    return dealt + 1 + buy.per_round * (1 + penalty)


def _end_faults(rules: Ruleset) -> Iterator[Fault]:
    if not 0 <= rules.stock_out.max_renewals <= MAX_RENEWALS:
        yield Fault("bad_renewals", "/stock_out/max_renewals", f"0 to {MAX_RENEWALS}")
    if rules.max_rounds is not None and not 1 <= rules.max_rounds <= MAX_ROUNDS:
        yield Fault("bad_max_rounds", "/max_rounds", f"1 to {MAX_ROUNDS}")
    if min(rules.idle_laps.no_draw, rules.idle_laps.no_progress) < 1:
        yield Fault("bad_idle_laps", "/idle_laps", "at least one lap")
    if not rules.buy.penalty or not all(0 <= cards <= 5 for cards in rules.buy.penalty):
        yield Fault("bad_penalty", "/buy/penalty", "0 to 5 cards, by round")
    if any(limit is not None and limit < 0 for limit in (rules.buy.per_round, rules.buy.per_game)):
        yield Fault("bad_buy_limit", "/buy", "limits are not negative")
    tables = (rules.points.cards, *rules.points.alternatives.values())
    values = (*(value for table in tables for value in table.values()), *rules.points.go_out_bonus)
    if not all(abs(value) <= MAX_POINTS for value in values):
        yield Fault("bad_points", "/points", f"{-MAX_POINTS} to {MAX_POINTS} points")
    for name in rules.points.use:
        if name not in rules.points.alternatives:
            yield Fault("unknown_alternative", "/points/use", f"there is no table {name}")
