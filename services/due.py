"""What must happen next at a table if nobody acts, and when: the table of an append's work row."""

from collections.abc import Callable
from datetime import datetime, timedelta

from domain.dealing import next_round_number
from domain.decisions import Decision, open_decisions
from domain.state import Game
from services.ports import Work

SWEEP_MS = 5_000  # a job handed out at once is repeated by the sweep after this time
NONCE_MS = 10_000  # time to reveal what stands behind a commitment
WAITING_MS = 24 * 3600 * 1000  # after which a game that was not started is cancelled
DESERTED_S = 7 * 24 * 3600  # after which a game whose people are all away is cancelled; after three longer turns
WARNED_FROM_S = 20  # shorter turns are over before a warning is read

When = Callable[[int], datetime | None]
"""Gives the time of an event by its version; None for one that is being appended now."""


def next_work(game: Game, when: When) -> Work | None:
    """Finds the earliest thing that must happen; None for a game that is over.

    Bots do not play on among themselves where all people are away: the table waits for one of them, and at last is
    given up.
    """
    round_ = game.round
    if game.nonces_asked_at is not None:
        return Work("turn_timer", NONCE_MS, when(game.nonces_asked_at))
    if game.status == "waiting":
        return Work("expire", WAITING_MS, when(1))
    if game.status != "playing":
        return None
    if next_round_number(game) is not None:
        return Work("deal", SWEEP_MS)
    assert round_ is not None
    if round_.step == "scoring":
        return Work("score", SWEEP_MS)
    if game.deserted_at is not None:
        return Work("expire", max(DESERTED_S, 3 * game.pace.turn_s) * 1000, when(game.deserted_at))
    if any(game.seats[decision.seat].controller == "bot" for decision in open_decisions(game)):
        return Work("bots", SWEEP_MS + game.pace.bot_delay_ms)
    if round_.window is not None and round_.window.declined:
        return Work("close_claims", game.pace.claim_window_s * 1000, when(round_.window.opened_at))
    if not round_.is_warned and game.pace.turn_s >= WARNED_FROM_S:
        return Work("warn", (game.pace.turn_s - warning_s(game.pace.turn_s)) * 1000, when(round_.clock_at))
    return Work("turn_timer", game.pace.turn_s * 1000, when(round_.clock_at))


def warning_s(turn_s: int) -> int:
    """Gives how long before a turn's end its player is warned.

    A quarter of the time, an hour at the most; of turns of days a twelfth, so that a night's sleep does not miss it.
    """
    return min(turn_s // 4, max(3600, turn_s // 12))


def deadline_of(game: Game, decision: Decision, when: When) -> datetime | None:
    """Gives the earliest moment at which the table may answer or close an open decision."""
    round_ = game.round
    if round_ is None:
        return None
    if decision.kind == "claim":
        opened = None if round_.window is None else when(round_.window.opened_at)
        return None if opened is None else opened + timedelta(seconds=game.pace.claim_window_s)
    asked = when(round_.clock_at)
    return None if asked is None else asked + timedelta(seconds=game.pace.turn_s)
