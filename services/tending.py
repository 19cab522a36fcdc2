"""The one job: looking at a game and doing what is due there — bots' moves, scoring and dealing, timers.

Doing it twice, or too early, is harmless: the game is read, and what is no longer open is left alone.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from itertools import groupby
from typing import TypeAlias
from uuid import UUID, uuid5

from domain.bots import choose
from domain.commands import (
    ActForSeat,
    Answer,
    CancelGame,
    ChangeController,
    CloseClaims,
    DealRound,
    DropNonces,
    Level,
    Move,
    ScoreRound,
    WarnTurn,
)
from domain.dealing import next_round_number
from domain.decide import timed_out_move
from domain.decisions import Decision, open_decisions
from domain.events import ClaimsClosed, TurnWarned
from domain.luck import link
from domain.ruleset import Ruleset
from domain.view import View, view_for
from services.due import next_work
from services.history import seat_of_command
from services.hot import Hot
from services.ids import uuid_of
from services.outcomes import GameNotFound
from services.ports import Secrets, Work, WorkKind
from services.tables import Draft, Plan, Tables

THINK_S = 0.25  # of a job: other games wait for it; where a contract is hard to lay, one move may take as long
MOVES_AT_ONCE = 16
SILENT_ACTS = 3  # answers of the timer in a row, after which a bot sits in
TIMED = frozenset[WorkKind]({"close_claims", "turn_timer", "warn", "expire"})
"""Work that must not be done before its time; the rest is only repeated then."""

_log = logging.getLogger(__name__)


Choose: TypeAlias = Callable[[View, str, Ruleset, Level], Move]
"""Picks a bot's answer to a decision."""


async def tend(
    tables: Tables,
    secrets: Secrets,
    game_id: str,
    *,
    now: Callable[[], Awaitable[datetime]],
    choose: Choose = choose,
) -> None:
    """Does what is due at a game.

    now: the clock of the database, which dates events and work rows; this machine's own may be wrong. Errors: Busy and
    Unavailable; a game that nobody knows, or where nothing is due, is left alone.
    """
    try:
        hot = await tables.fresh(game_id)
    except GameNotFound:
        return
    work = next_work(hot.game, hot.when)
    if work is None or (work.kind in TIMED and not _is_over(work, await now())):
        return
    seed = await secrets.seed(game_id) if work.kind in ("score", "deal") else b""
    await tables.carry_out(game_id, _if_still_due(work, _plan(work, seed, choose)))


def _is_over(work: Work, now: datetime) -> bool:
    return work.at is not None and now >= work.at + timedelta(milliseconds=work.delay_ms)


def _if_still_due(work: Work, plan: Plan) -> Plan:
    """Leaves a game alone where something else is due by now: a player who answers just in time has a new clock."""

    def unless_overtaken(draft: Draft) -> None:
        if next_work(draft.game, draft.hot.when) == work:
            plan(draft)

    return unless_overtaken


def _plan(work: Work, seed: bytes, choose: Choose) -> Plan:
    match work.kind:
        case "score" | "deal":
            return lambda draft: _score_and_deal(draft, seed)
        case "bots":
            return lambda draft: _play_bots(draft, choose)
        case "close_claims":
            return _close_claims
        case "turn_timer":
            return _time_is_over
        case "warn":
            return _warn
        case "expire":
            return lambda draft: draft.carry_out(CancelGame("expired"), "timer", _derived_id(draft, "expired"))


def _score_and_deal(draft: Draft, seed: bytes) -> None:
    round_ = draft.game.round
    if round_ is not None and not round_.scored:
        draft.carry_out(ScoreRound(round_.number), "table", _derived_id(draft, f"score-{round_.number}"))
    number = next_round_number(draft.game)
    if number is not None:
        secret = link(seed, number).hex()
        draft.carry_out(DealRound(number, secret), "table", _derived_id(draft, f"deal-{number}"))


def _play_bots(draft: Draft, choose: Choose = choose) -> None:
    """Answers the bots' decisions one after the other, until a person may act or a bound is reached.

    With a polite delay only the decisions open now are answered: the next ones come with their own delay.
    """
    began = time.thread_time()
    open_now = _of_bots(draft)
    for decision in open_now:
        if decision in open_decisions(draft.game):
            _play_bot(draft, decision, choose)
    if draft.game.pace.bot_delay_ms == 0:
        while len(draft.events) < MOVES_AT_ONCE and time.thread_time() - began < THINK_S and (more := _of_bots(draft)):
            _play_bot(draft, more[0], choose)


def _of_bots(draft: Draft) -> list[Decision]:
    seats = draft.game.seats
    return [decision for decision in open_decisions(draft.game) if seats[decision.seat].controller == "bot"]


def _play_bot(draft: Draft, decision: Decision, choose: Choose) -> None:
    """Lets a bot move; a bot that fails or breaks a rule is replaced for this move by the timer's move."""
    game, seat = draft.game, decision.seat
    command_id = _derived_id(draft, decision.decision_id)
    try:
        move = choose(view_for(game, seat), decision.decision_id, game.rules, game.seats[seat].level or "easy")
        draft.carry_out(Answer(seat, decision.decision_id, move), "bot", command_id)
    except Exception as error:  # noqa: BLE001  whatever a bot does wrong, the table goes on
        # The error's text stays out of the log: it may tell cards.
        _log.error("%s of a bot in game %s at %s", type(error).__name__, game.game_id, decision.decision_id)
        move = timed_out_move(game, decision)
        draft.carry_out(Answer(seat, decision.decision_id, move), "bot", command_id)


def _close_claims(draft: Draft) -> None:
    round_ = draft.game.round
    if round_ is not None and round_.window is not None:
        opened_at = round_.window.opened_at
        draft.carry_out(CloseClaims(opened_at), "timer", _derived_id(draft, f"close-{opened_at}"))


def _time_is_over(draft: Draft) -> None:
    """Drops nonces that were not revealed, or acts for the seat whose turn it is; claims have a window of their own."""
    asked_at = draft.game.nonces_asked_at
    if asked_at is not None:
        _log.warning("nonces of game %s were not revealed in time", draft.game.game_id)
        draft.carry_out(DropNonces(asked_at), "timer", _derived_id(draft, f"nonces-{asked_at}"))
        return
    round_ = draft.game.round
    for decision in open_decisions(draft.game):
        if decision.kind != "claim" or (round_ is not None and round_.window is None):
            command_id = _derived_id(draft, decision.decision_id)
            silent = _acts_in_a_row(draft.hot, decision.seat)
            draft.carry_out(ActForSeat(decision.seat, decision.decision_id), "timer", command_id)
            if silent + 1 >= SILENT_ACTS:
                _sit_in(draft, decision)


def _acts_in_a_row(hot: Hot, seat: int) -> int:
    """Counts the decisions of a seat that the timer has answered since its person last did anything.

    A command counts for whose it is: what it led to may befall others, as a draw that follows when a window closes.
    """
    acts = 0
    for _, latest in groupby(reversed(hot.events), lambda recorded: recorded.command_id):
        command = list(latest)[::-1]
        first = command[0]
        is_act = first.actor != "timer" or not isinstance(first.event, ClaimsClosed | TurnWarned)
        if first.actor == "table" or not is_act or seat_of_command(command) != seat:
            continue
        if first.actor != "timer":
            break
        acts += 1
    return acts


def _sit_in(draft: Draft, decision: Decision) -> None:
    """Seats a bot in the place of a person who is away; they may reclaim the seat at any time."""
    player_id = draft.game.seats[decision.seat].player_id
    command = ChangeController(decision.seat, "bot", player_id, "normal", "sat_in", is_silent=True)
    draft.carry_out(command, "timer", _derived_id(draft, f"away-{decision.decision_id}"))


def _warn(draft: Draft) -> None:
    round_ = draft.game.round
    if round_ is not None:
        draft.carry_out(WarnTurn(round_.clock_at), "timer", _derived_id(draft, f"warn-{round_.clock_at}"))


def _derived_id(draft: Draft, what: str) -> UUID:
    """Names a command after what it answers, so that the log takes it once, whoever carries it out."""
    game = uuid_of("gam", draft.game.game_id)
    assert game is not None
    return uuid5(game, what)
