"""What a check of a game reads and what it finds."""

from typing import Literal, TypeAlias

from msgspec import Struct

Code: TypeAlias = Literal[
    "no_beginning",
    "version_missing",
    "another_game",
    "unreadable_event",
    "impossible_rules",
    "nonce_differs",
    "secret_malformed",
    "secret_off_chain",
    "secret_missing",
    "round_out_of_order",
    "dealer_differs",
    "hand_counts_differ",
    "stock_count_differs",
    "not_in_turn",
    "card_differs",
    "hand_differs",
    "card_not_held",
    "card_count_differs",
    "penalty_differs",
    "renewal_differs",
    "meld_differs",
    "points_differ",
    "totals_differ",
    "contracts_differ",
    "winners_differ",
]
"""Stable names: scripts may rely on them."""


class ShownEvent(Struct, frozen=True):
    """An event as a viewer has downloaded it; data: its fields as they stand in the file."""

    game_id: str
    version: int
    kind: str
    seat: int | None
    data: dict[str, object]


class Finding(Struct, frozen=True):
    """Something that is not as it must be, and the version of the event that shows it."""

    version: int
    code: Code
    detail: str


class Report(Struct, frozen=True):
    """What was checked and what was found; no findings: as far as it was checked, all was fair.

    viewer: the seat that the events were shown to, None for a spectator. rounds: those that were dealt again.
    unrevealed: those whose secret is not known yet. nonces: how many seats gave one. cards: how many shown cards were
    compared. unknown_events: of kinds that this version does not know.
    """

    game_id: str
    ruleset: str
    seats: int
    last_version: int
    is_finished: bool
    viewer: int | None
    rounds: tuple[int, ...]
    unrevealed: tuple[int, ...]
    nonces: int
    cards: int
    unknown_events: int
    findings: tuple[Finding, ...]
