"""A ruleset is data: every rule that differs between the games of the family is a knob of `Ruleset`.

A preset file writes only what differs from the defaults here. The knobs are explained in domain/README.md.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from domain.cards import Card, DeckKind

MeldKind: TypeAlias = Literal["set", "run", "run_any_suit", "colour"]
Ace: TypeAlias = Literal["low", "high", "both", "corner"]
Direction: TypeAlias = Literal["clockwise", "counter_clockwise"]


class Players(Struct, frozen=True, forbid_unknown_fields=True):
    """How many seats a game may have."""

    min: int = 2
    max: int = 5


class DeckSize(Struct, frozen=True, forbid_unknown_fields=True):
    """What a table with a certain number of players plays with."""

    packs: int = 2
    jokers: int = 0


class Deck(Struct, frozen=True, forbid_unknown_fields=True):
    """The cards of a game. `sizes` is by exact player number.

    wilds: the faces that may stand for others; a whole rank may be named for its faces where rules are written.
    """

    kind: DeckKind = "french"
    sizes: dict[int, DeckSize] = {}
    wilds: tuple[Card, ...] = ()


class Deal(Struct, frozen=True, forbid_unknown_fields=True):
    """`cards` holds one number for every round, or one number for all rounds.

    forehand_extra: no upcard, forehand gets one card more and its first turn is one discard.
    """

    cards: tuple[int, ...] = (11,)
    forehand_extra: bool = False
    upcard: bool = True


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """One meld that a contract asks for; `size` is its least number of cards."""

    kind: MeldKind
    size: int


Contract: TypeAlias = tuple[Part, ...]


class MaxWilds(Struct, frozen=True, forbid_unknown_fields=True):
    """How many wilds a meld may hold. `n` belongs to per_meld and min_naturals.

    at: `always`, or only at the `first_laying` (laying off may then add more).
    """

    kind: Literal["unlimited", "per_meld", "at_most_half", "not_more_than_naturals", "min_naturals"] = "unlimited"
    n: int = 0
    at: Literal["always", "first_laying"] = "always"


class Swap(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose wilds a player who is down may take for the natural card they stand for.

    `move`: the wild stays in the run and goes to one of its ends. re_meld: a wild taken must be laid at once.
    """

    whose: Literal["none", "opponents", "any", "move"] = "none"
    sets: bool = False
    re_meld: bool = False
    offer: Literal["on_turn", "rotation"] = "on_turn"


class Buy(Struct, frozen=True, forbid_unknown_fields=True):
    """Buying the open discard out of turn. `per_round` and `per_game` are limits for one seat, None is no limit.

    penalty: cards from the stock that a buyer takes besides, by round; the last number goes for later rounds.
    """

    allowed: bool = False
    per_round: int | None = None
    per_game: int | None = None
    penalty: tuple[int, ...] = (1,)
    priority: Literal["seats", "first_call"] = "seats"
    down_may_buy: bool = True
    when_short: Literal["no_penalty", "not_offered"] = "no_penalty"


class Shanghai(Struct, frozen=True, forbid_unknown_fields=True):
    """Calling "Shanghai!" on a discard that fits a meld, and the penalty that goes with it."""

    call: Literal["none", "caller_draws", "culprit_draws", "taken_back"] = "none"
    declare: bool = False
    false_call: Literal["refused", "caller_draws"] = "refused"


class StockOut(Struct, frozen=True, forbid_unknown_fields=True):
    """What happens when the stock is used up."""

    how: Literal["shuffle", "turn_over"] = "shuffle"
    max_renewals: int = 3
    both_empty: Literal["skip_draw", "end_round"] = "skip_draw"


class IdleLaps(Struct, frozen=True, forbid_unknown_fields=True):
    """Full laps after which a stuck round ends: `no_draw` without a card drawn or taken, `no_progress` without a card
    leaving the stock and without one laid."""

    no_draw: int = 2
    no_progress: int = 10


class Points(Struct, frozen=True, forbid_unknown_fields=True):
    """Penalty of a card left in hand, by face (`2S`, `JK`) or else by rank (`2`, `K`).

    alternatives: named tables that replace single entries; `use` lists those in force.
    go_out_bonus: points taken off for going out, by round.
    """

    cards: dict[str, int] = {}
    alternatives: dict[str, dict[str, int]] = {}
    use: tuple[str, ...] = ()
    go_out_bonus: tuple[int, ...] = ()


class Ruleset(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Every rule of one game, whole: what stands in a game's first event."""

    # dict: keeps what was worked out from it (remembered.py)
    name: str = ""
    source: str = ""
    players: Players = Players()
    deck: Deck = Deck()
    deal: Deal = Deal()
    direction: Direction = "clockwise"
    ace: Ace = "low"
    contracts: tuple[Contract, ...] = ()
    exact_sizes: bool = False
    progression: Literal["together", "individual"] = "together"
    max_wilds: MaxWilds = MaxWilds()
    wilds_adjacent: bool = True
    all_wild_melds: bool = False
    distinct_set_ranks: bool = False
    distinct_set_suits: bool = False
    separate_runs: bool = False
    lay_off: Literal["same_turn", "later_turn"] = "same_turn"
    extra_melds: bool = False
    swap: Swap = Swap()
    buy: Buy = Buy()
    uncovered: Literal["closed", "reopens"] = "closed"
    down_may_take: bool = True
    no_return: bool = False
    shanghai: Shanghai = Shanghai()
    going_out: Literal["either", "discard_required", "no_discard"] = "either"
    last_round: Literal["normal", "empty_hand", "empty_hand_no_discard"] = "normal"
    stock_out: StockOut = StockOut()
    idle_laps: IdleLaps = IdleLaps()
    max_rounds: int | None = None
    leaver: Literal["bot", "out"] = "bot"
    points: Points = Points()
    end: Literal["lowest_total", "first_through"] = "lowest_total"
    skip_cards: bool = False
    never_taken: tuple[Card, ...] = ()
