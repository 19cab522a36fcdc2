"""A game as its events left it. `Unopened` is the state before the first event.

Game and round are the only things here that `record` changes in place, on a copy of its own: nobody else does.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from domain.cards import Card, Hand
from domain.commands import Controller, Level, Pace, Spectators, Visibility
from domain.meld import Meld
from domain.ruleset import Contract, Ruleset

Status: TypeAlias = Literal["waiting", "playing", "finished", "cancelled"]
Step: TypeAlias = Literal["draw", "play", "scoring"]
Skip: TypeAlias = Literal["free", "will_miss", "has_missed"]


class Unopened(Struct, frozen=True, gc=False):
    """No event yet."""

    version: int = 0


class Seat(Struct, frozen=True, gc=False):
    """A place at the table; it keeps its cards and points whoever controls it.

    contract: the seat's contract in force, from 0. passes_round: it wants to be asked about no discard this round.
    skip: whether a skip card makes it miss a turn. out: it has left for good and is dealt nothing more.
    nonce_commitment, nonce: its share of the luck, hex, if a person gave one. silent: a bot sits in because its person
    has not answered.
    """

    controller: Controller = "open"
    player_id: str | None = None
    level: Level | None = None
    hand: Hand = ()
    down: bool = False
    buys: int = 0
    buys_in_game: int = 0
    passes_round: bool = False
    contract: int = 0
    score: int = 0
    skip: Skip = "free"
    out: bool = False
    nonce_commitment: str | None = None
    nonce: str | None = None
    silent: bool = False


class Discarded(Struct, frozen=True, gc=False):
    """A card on the pile, who put it there (None: the first upcard), and whether it was declared and never covered."""

    card: Card
    by: int | None
    protected: bool = False


class Window(Struct, frozen=True, gc=False):
    """The open question about the open discard. asked: seats not heard yet. buys: pending, in the order accepted."""

    opened_at: int
    asked: tuple[int, ...]
    buys: tuple[int, ...] = ()
    declined: bool = False


class Turn(Struct, frozen=True, gc=False):
    """What the player in turn did so far.

    drawn: the card drawn. taken: it came from the pile. discard_only: a first turn without a draw. owed: a swapped
    wild that must be laid at once, not onto `owed_from`. offered: the seat that is asked whether it swaps a wild now.
    false_called: it has called a card that fits nothing.
    """

    drawn: Card | None = None
    taken: bool = False
    discard_only: bool = False
    laid_down: bool = False
    owed: Card | None = None
    owed_from: str | None = None
    offered: int | None = None
    false_called: bool = False


class Round(Struct):
    """The round on the table. `secret` feeds its luck; `stock[0]` is drawn next, `pile[-1]` is the top.

    asked_at: version of the event that opened the present decision of the player in turn. clock_at: version from
    which its time counts; is_warned: it was told that it is nearly over. idle_turns, stale_turns: turns since a card
    was drawn or taken, and since one left the stock or was laid. went_out: who ended the round by an empty hand.
    """

    number: int
    contracts: tuple[Contract, ...]
    dealer: int
    secret: str
    stock: tuple[Card, ...]
    pile: tuple[Discarded, ...]
    turn: int = 0
    step: Step = "draw"
    discard_open: bool = False
    melds: tuple[Meld, ...] = ()
    window: Window | None = None
    now: Turn = Turn()
    asked_at: int = 0
    clock_at: int = 0
    is_warned: bool = False
    renewals: int = 0
    picks: int = 0
    idle_turns: int = 0
    stale_turns: int = 0
    went_out: int | None = None
    scored: bool = False


class Result(Struct, frozen=True, gc=False):
    """How the game ended."""

    winners: tuple[int, ...]
    totals: tuple[int, ...]


class Game(Struct):
    """A whole game. `version` is the number of its last event; from `deserted_at` on all its people are away."""

    version: int
    game_id: str
    rules: Ruleset
    pace: Pace
    commitment: str
    opened_by: str | None
    visibility: Visibility
    spectators: Spectators
    seats: tuple[Seat, ...]
    status: Status = "waiting"
    nonces: tuple[str | None, ...] = ()
    nonces_asked_at: int | None = None
    first_dealer: int | None = None
    round: Round | None = None
    result: Result | None = None
    hints: bool = True
    invited: tuple[str, ...] = ()
    spectator_delay_s: int = 0
    rematch_of: str | None = None
    deserted_at: int | None = None


State: TypeAlias = Unopened | Game


def is_over(status: Status) -> bool:
    """Tells whether nothing more happens in a game."""
    return status in ("finished", "cancelled")
