"""Deals the rounds of an exported game again, to see that the cards were fixed before anybody sat down.

Needs nothing but the export (`GET …/export`) and Python: python deals.py game.ndjson

Left out is what comes after the deal (renewals of the stock, every card that is shown later) and whether a nonce is the
one that its player was committed to: `shanghai verify` checks these too.
"""

import hmac
import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def check(events: list[Json]) -> list[int]:
    """Gives the rounds that were dealt as they had to be: those whose secrets are revealed. Errors: ValueError."""
    opened, deal = events[0], events[0]["data"]
    nonces: list[str | None] = []
    checked: list[int] = []
    deck_rules, bound_by = opened["data"]["rules"]["deck"], opened["data"]["commitment"]
    for event in events:
        if event["kind"] == "game_started":
            nonces = event["data"]["nonces"]
        elif event["kind"] == "round_dealt":
            deal = event["data"]
        elif event["kind"] == "round_ended":
            number, secret = deal["number"], event["data"]["revealed"]
            if sha256(bytes.fromhex(secret)).hexdigest() != bound_by:
                raise ValueError(f"the secret of round {number} is not the one that was fixed")
            bound_by = secret  # which is what the secret of the next round must hash to
            lines = ["shanghai-fair/1", opened["game_id"], str(number), *(nonce or "" for nonce in nonces)]
            if number == 1 and deal["dealer"] != below(words(secret, lines, "dealer"), len(nonces)):
                raise ValueError("another seat should have dealt first")
            deck = deck_of(deck_rules, len(nonces))
            shuffle(deck, words(secret, lines, "deal"))
            compare(deal, deck)
            checked.append(number)
    return checked


def words(secret: str, lines: list[str], label: str) -> Iterator[int]:
    """Gives the luck of a round for one purpose: 32-bit numbers without end."""
    message = "".join(f"{line}\n" for line in [*lines, label]).encode()
    block = 0
    while True:
        drawn = hmac.digest(bytes.fromhex(secret), message + block.to_bytes(4, "big"), "sha256")
        yield from (int.from_bytes(drawn[at : at + 4], "big") for at in range(0, 32, 4))
        block += 1


def below(luck: Iterator[int], n: int) -> int:
    """Gives a number from 0 to n - 1, each as likely."""
    return next(word for word in luck if word < 2**32 - 2**32 % n) % n


def shuffle(deck: list[str], luck: Iterator[int]) -> None:
    """Shuffles by swapping, from the last card down."""
    for last in range(len(deck) - 1, 0, -1):
        other = below(luck, last + 1)
        deck[last], deck[other] = deck[other], deck[last]


def deck_of(deck: Json, seats: int) -> list[str]:
    """Lists the cards before they are shuffled."""
    if deck["kind"] == "ten-phases":
        return (
            [f"{rank}{colour}" for _ in range(2) for colour in "RYGB" for rank in range(1, 13)] + ["W"] * 8 + ["X"] * 4
        )
    size: dict[str, int] = deck["sizes"][str(seats)]
    pack = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
    return pack * size["packs"] + ["JK"] * size["jokers"]


def compare(deal: Json, deck: list[str]) -> None:
    """Deals, and compares what the event shows: the open card, one's own hand, in a replay all hands and the stock."""
    counts, cards = deal["hand_counts"], iter(deck)
    first = deal["dealer"] + 1
    order = [seat % len(counts) for seat in range(first, first + len(counts))]
    hands: list[list[str]] = [[] for _ in counts]
    for taken in range(max(counts)):  # the first may have one more than the others, and who is out has none
        for seat in order:
            if taken < counts[seat]:
                hands[seat].append(next(cards))
    hands = [sorted(hand) for hand in hands]
    upcard = None if deal["discard_top"] is None else next(cards)
    stock = list(cards)
    if (
        deal["discard_top"] != upcard
        or deal["stock_count"] != len(stock)
        or ("hand" in deal and sorted(deal["hand"]) not in hands)
        or ("hands" in deal and [sorted(hand) for hand in deal["hands"]] != hands)
        or deal.get("stock", stock) != stock
    ):
        raise ValueError(f"round {deal['number']} was dealt another way")


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    print("dealt as it was fixed: rounds", *check([json.loads(line) for line in lines]))
