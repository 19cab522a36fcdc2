"""Why a command is refused: one frozen Struct per state of affairs, with facts that every player may know.

`decide` raises `Refused`; nothing else leaves it. No refusal holds a hidden card or a number of the HTTP world.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

Reason: TypeAlias = Literal[
    "card_not_in_hand", "contract_not_met", "wrong_meld_count", "size_not_exact", "set_mixed_ranks",
    "set_same_suit", "run_mixed_suits", "run_not_consecutive", "run_too_long", "colour_mixed",
    "role_not_possible", "ace_low", "same_rank_sets", "consecutive_runs", "too_many_wilds", "wilds_adjacent",
    "all_wild", "ambiguous_wild", "already_down", "not_down", "later_turn", "no_new_melds", "meld_not_found",
    "does_not_fit", "meld_full", "swap_not_allowed", "not_represented", "no_place_for_wild",
    "wild_must_be_melded", "buy_limit_reached", "buying_not_allowed", "stale_discard", "own_discard",
    "protected_discard", "discard_not_open", "false_call", "calling_not_allowed", "must_draw", "already_drawn",
    "no_draw_first_turn", "no_melds_first_turn", "keep_a_discard", "must_empty_hand", "no_return", "skip_target",
    "declare_not_allowed", "declared_fits_nothing", "lay_the_last_card", "down_may_not_take", "pass_not_allowed",
    "unknown_card",
]  # fmt: skip


class IllegalMove(Struct, frozen=True, tag="illegal_move"):
    """A move that the rules of the game do not allow. `readings` lists what an ambiguous wild could stand for."""

    reason: Reason
    readings: tuple[str, ...] = ()


class DecisionClosed(Struct, frozen=True, tag="decision_closed"):
    """The question was answered, or its options changed, before this answer came."""

    decision_id: str


class NotYourTurn(Struct, frozen=True, tag="not_your_turn"):
    """The seat is asked nothing at the moment."""

    seat: int
    turn: int | None


class GameNotStarted(Struct, frozen=True, tag="game_not_started"):
    """The game still waits for its start."""


class GameFinished(Struct, frozen=True, tag="game_finished"):
    """The game is over."""


class AlreadyStarted(Struct, frozen=True, tag="already_started"):
    """Seats are taken and a game is started only while it waits."""


class SeatTaken(Struct, frozen=True, tag="seat_taken"):
    """Somebody else sits there, or the player sits elsewhere in this game."""

    seat: int


class SeatNotFound(Struct, frozen=True, tag="seat_not_found"):
    """The game has no such seat."""

    seat: int


class SeatsOpen(Struct, frozen=True, tag="seats_open"):
    """A game starts with every seat taken."""

    seats: tuple[int, ...]


class NonceNotAsked(Struct, frozen=True, tag="nonce_not_asked"):
    """This seat has committed itself to nothing, or nonces are not asked for now."""

    seat: int


class WrongNonce(Struct, frozen=True, tag="wrong_nonce"):
    """These are not the 16 bytes that the seat has committed itself to."""

    seat: int


class SeatNotHeld(Struct, frozen=True, tag="seat_not_held"):
    """Nobody sits there who could leave or be replaced."""

    seat: int


class Outdated(Struct, frozen=True, tag="outdated"):
    """An internal command that the table no longer needs: carried out twice, or overtaken."""


RuleBroken: TypeAlias = (
    IllegalMove
    | DecisionClosed
    | NotYourTurn
    | GameNotStarted
    | GameFinished
    | AlreadyStarted
    | SeatTaken
    | SeatNotFound
    | SeatsOpen
    | NonceNotAsked
    | WrongNonce
    | SeatNotHeld
    | Outdated
)


class Refused(Exception):
    """Carries what was broken; raised by `decide` before any event exists.

    meld: which meld of a lay-down is at fault, from 0, where it is one of them alone.
    """

    def __init__(self, broken: RuleBroken, meld: int | None = None) -> None:
        super().__init__(broken)
        self.broken = broken
        self.meld = meld


def illegal(reason: Reason, *readings: str) -> Refused:
    """Builds the refusal of a move."""
    return Refused(IllegalMove(reason, tuple(readings)))
