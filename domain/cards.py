"""Cards are face codes: rank and suit (`7H`, `TS`), joker `JK`; in ten-phases `1R` … `12B`, wild `W`, skip `X`.

Two copies of one face are interchangeable, so a hand is a multiset, kept as a tuple in deck-list order.
"""

from bisect import bisect
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, TypeAlias

Card: TypeAlias = str
Hand: TypeAlias = tuple[Card, ...]
DeckKind: TypeAlias = Literal["french", "ten-phases"]

RANKS = "23456789TJQKA"
SUITS = "CDHS"
COLOURS = "RYGB"
JOKER: Card = "JK"
PHASE_WILD: Card = "W"
SKIP: Card = "X"

_FRENCH_PACK: tuple[Card, ...] = tuple(rank + suit for suit in SUITS for rank in RANKS)
_PHASES_PACK: tuple[Card, ...] = tuple(f"{rank}{colour}" for colour in COLOURS for rank in range(1, 13))

FACES: dict[DeckKind, tuple[Card, ...]] = {
    "french": (*_FRENCH_PACK, JOKER),
    "ten-phases": (*_PHASES_PACK, PHASE_WILD, SKIP),
}
DECK_ORDER: dict[Card, int] = {card: place for faces in FACES.values() for place, card in enumerate(faces)}


def deck_list(kind: DeckKind, packs: int, jokers: int) -> tuple[Card, ...]:
    """Lists every card of the deck in the order that a shuffle starts from.

    A ten-phases deck is one fixed deck of 108 cards: `packs` and `jokers` do not change it.
    Source: fair dealing, "Deck list".
    """
    if kind == "ten-phases":
        return _PHASES_PACK * 2 + (PHASE_WILD,) * 8 + (SKIP,) * 4
    return _FRENCH_PACK * packs + (JOKER,) * jokers


@lru_cache(maxsize=200)  # more than there are faces and roles
def rank_of(card: Card) -> str:
    """Gives the rank part of a face (`T`, `12`); a card without suit (`JK`, `W`, `X`) is its own rank."""
    return card if card in (JOKER, PHASE_WILD, SKIP) else card[:-1]


@lru_cache(maxsize=200)
def suit_of(card: Card) -> str:
    """Gives the suit or colour letter of a face, or an empty string for a joker, wild or skip."""
    return "" if card in (JOKER, PHASE_WILD, SKIP) else card[-1]


def in_deck_order(cards: Iterable[Card]) -> Hand:
    """Sorts cards as the deck list has them, so that equal hands are equal tuples."""
    return tuple(sorted(cards, key=DECK_ORDER.__getitem__))


def with_card(hand: Hand, card: Card) -> Hand:
    """Puts a card at its place in a hand that is in deck-list order: half the time that sorting takes."""
    place = bisect(hand, DECK_ORDER[card], key=DECK_ORDER.__getitem__)
    return (*hand[:place], card, *hand[place:])


def without(hand: Hand, cards: Iterable[Card]) -> Hand | None:
    """Takes cards out of a hand, copy by copy; None where one is not held often enough."""
    rest = list(hand)
    for card in cards:
        if card not in rest:
            return None
        rest.remove(card)
    return tuple(rest)
