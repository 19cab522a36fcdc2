"""What a deck can make and a hand can hold, as far as the rules alone tell."""

from domain.cards import Card, deck_list
from domain.meld_rules import meld_rules
from domain.ruleset import DeckSize, Part, Ruleset


def cards_of_deck(rules: Ruleset, size: DeckSize) -> tuple[Card, ...]:
    """Lists every card of a deck."""
    return deck_list(rules.deck.kind, size.packs, size.jokers)


def wilds_in_deck(rules: Ruleset, size: DeckSize) -> int:
    """Counts the cards that may stand for others."""
    return sum(card in rules.deck.wilds for card in cards_of_deck(rules, size))


def least_cards(rules: Ruleset, part: Part) -> int:
    """Gives the least cards of a meld that stands for a part of a contract."""
    return max(part.size, rules.max_wilds.n) if rules.max_wilds.kind == "min_naturals" else part.size


def largest_meld(rules: Ruleset, part: Part, size: DeckSize) -> int:
    """Gives the most cards of a meld of this kind; a run can be as long as there are ranks."""
    knobs, packs = meld_rules(rules), 2 if rules.deck.kind == "ten-phases" else size.packs
    if part.kind in ("run", "run_any_suit"):
        return knobs.longest
    if part.kind == "colour":
        naturals = len(knobs.ranks) * packs
    else:
        naturals = len(knobs.suits) * (1 if rules.distinct_set_suits else packs)
    wilds, limit = wilds_in_deck(rules, size), rules.max_wilds
    allowed = {"per_meld": limit.n, "at_most_half": naturals, "not_more_than_naturals": naturals}
    return naturals + min(wilds, allowed.get(limit.kind, wilds))


def numbers_dealt(rules: Ruleset, place: int) -> tuple[int, ...]:
    """Lists the numbers of cards dealt in the rounds in which the contract at this place can be played."""
    cards = rules.deal.cards
    later = cards[min(place, len(cards) - 1) :]
    return later if rules.progression == "individual" else later[:1]


def cards_within_reach(rules: Ruleset, dealt: int, place: int, players: int) -> int | None:
    """Counts a hand, its draw and every buy, None for no limit; two players never buy in turn, so they have none."""
    buy = rules.buy
    if not buy.allowed or players == 2:
        return dealt + 1
    limits = [max(0, limit) for limit in (buy.per_round, buy.per_game) if limit is not None]
    return dealt + 1 + min(limits) * (1 + buy.penalty[min(place, len(buy.penalty) - 1)]) if limits else None
