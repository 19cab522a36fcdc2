"""How far the knobs of a ruleset may go, each by itself, and which of them cannot both hold."""

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from domain.cards import FACES, SKIP
from domain.ruleset import Ruleset

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

RulesetFault: TypeAlias = Literal[
    "missing",
    "unknown_field",
    "invalid_value",
    "text_too_long",
    "bad_player_number",
    "not_overridable",
    "too_long",
    "bad_player_numbers",
    "bad_deck",
    "bad_deal",
    "bad_contracts",
    "bad_contract",
    "bad_size",
    "bad_max_wilds",
    "bad_penalty",
    "bad_buy_limit",
    "bad_renewals",
    "bad_idle_laps",
    "bad_max_rounds",
    "bad_points",
    "deck_missing",
    "deck_too_small",
    "too_many_packs",
    "too_many_wilds",
    "one_deck_only",
    "unknown_face",
    "unknown_alternative",
    "useless_card",
    "meld_too_big",
    "size_below_naturals",
    "contract_too_big",
    "last_contract_too_small",
    "upcard_and_forehand_extra",
    "first_through_together",
    "rounds_without_contract",
    "all_wild_within_limit",
    "moved_wild_in_set",
    "moved_wild_owed",
    "moved_wild_offered",
    "offered_wild_owed",
    "skip_cards_missing",
    "skip_may_be_taken",
    "skip_is_wild",
]
"""What can be wrong with a ruleset, or with a table that is to play by it."""

Check: TypeAlias = tuple[RulesetFault, str, str, Callable[[Ruleset], bool]]
"""A code, a path, what should be, and whether it is."""

BOUNDS: tuple[Check, ...] = (
    ("text_too_long", "/name", f"at most {MAX_NAME} characters", lambda r: len(r.name) <= MAX_NAME),
    ("text_too_long", "/source", f"at most {MAX_SOURCE} characters", lambda r: len(r.source) <= MAX_SOURCE),
    (
        "bad_player_numbers", "/players", f"2 to {MAX_PLAYERS} players, and min not above max",
        lambda r: 2 <= r.players.min <= r.players.max <= MAX_PLAYERS,
    ),
    (
        "bad_deck", "/deck", f"decks for {MAX_PLAYERS} numbers of players at most, and each wild once",
        lambda r: all(within(1, n, MAX_PLAYERS) for n in r.deck.sizes)
        and len(set(r.deck.wilds)) == len(r.deck.wilds),
    ),
    (
        "bad_deal", "/deal/cards", f"1 to {MAX_DEAL} cards for each player, for {MAX_ROUNDS} rounds at most",
        lambda r: within(1, len(r.deal.cards), MAX_ROUNDS) and all(within(1, n, MAX_DEAL) for n in r.deal.cards),
    ),
    (
        "bad_contracts", "/contracts", f"1 to {MAX_CONTRACTS} contracts",
        lambda r: within(1, len(r.contracts), MAX_CONTRACTS),
    ),
    ("bad_max_wilds", "/max_wilds/n", f"0 to {MAX_SIZE}", lambda r: within(0, r.max_wilds.n, MAX_SIZE)),
    (
        "bad_penalty", "/buy/penalty", f"0 to {MAX_PENALTY} cards, by round",
        lambda r: bool(r.buy.penalty) and all(within(0, cards, MAX_PENALTY) for cards in r.buy.penalty),
    ),
    (
        "bad_buy_limit", "/buy/per_round", f"no limit, or 0 to {MAX_BUYS}",
        lambda r: within(0, r.buy.per_round or 0, MAX_BUYS),
    ),
    (
        "bad_buy_limit", "/buy/per_game", f"no limit, or 0 to {MAX_BUYS}",
        lambda r: within(0, r.buy.per_game or 0, MAX_BUYS),
    ),
    (
        "bad_renewals", "/stock_out/max_renewals", f"0 to {MAX_RENEWALS}",
        lambda r: within(0, r.stock_out.max_renewals, MAX_RENEWALS),
    ),
    (
        "bad_idle_laps", "/idle_laps", f"1 to {MAX_LAPS} laps",
        lambda r: all(within(1, laps, MAX_LAPS) for laps in (r.idle_laps.no_draw, r.idle_laps.no_progress)),
    ),
    (
        "bad_max_rounds", "/max_rounds", f"1 to {MAX_ROUNDS}",
        lambda r: r.max_rounds is None or within(1, r.max_rounds, MAX_ROUNDS),
    ),
    (
        "bad_points", "/points", f"{-MAX_POINTS} to {MAX_POINTS} points",
        lambda r: all(abs(points) <= MAX_POINTS for points in _all_points(r)),
    ),
)  # fmt: skip

CONTRADICTIONS: tuple[Check, ...] = (
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


def within(least: int, value: int, most: int) -> bool:
    """Tells whether a number lies in a range, its ends included."""
    return least <= value <= most


def _all_points(rules: Ruleset) -> Iterator[int]:
    for table in (rules.points.cards, *rules.points.alternatives.values()):
        yield from table.values()
    yield from rules.points.go_out_bonus


def _naturals_asked(rules: Ruleset) -> bool:
    limit = rules.max_wilds
    return limit.kind in ("at_most_half", "not_more_than_naturals") or (limit.kind == "min_naturals" and limit.n > 0)
