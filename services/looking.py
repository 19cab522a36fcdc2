"""A game as an operator sees it from outside: how far it is, what it waits for, what is due; no hand, no option."""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from domain.commands import Pace, Spectators, Visibility
from domain.decisions import DecisionKind, open_decisions
from domain.state import Result, Status
from domain.view import SeatView
from domain.visible import kind_of
from services.due import deadline_of
from services.hot import Hot
from services.operating import FoundGame, KeptWork, OperatorDesk, is_stalled
from services.ports import Accounts, WorkKind
from services.rendering import Names, names_at, render_game, timestamp, timestamp_if_any
from services.tables import Tables


class OpenQuestion(Struct, frozen=True):
    """What the table waits for. seat: null for claims, since who has answered them already is hidden."""

    kind: DecisionKind
    seat: int | None
    opened_at_version: int
    deadline_at: str | None


class WorkBody(Struct, frozen=True):
    """The newest work row. kind: null where nothing need happen; overdue_s: negative before its time."""

    version: int
    kind: WorkKind | None
    due_at: str | None
    overdue_s: float


class GameLook(Struct, frozen=True):
    """A game from outside. last_event_age_s: seconds since its last event; work: null where the row is lost.

    is_stalled: something should have happened here and has not.
    """

    game_id: str
    version: int
    status: Status
    is_stalled: bool
    created_at: str
    last_event_at: str
    last_event_age_s: float
    last_event_kind: str
    ruleset: str
    pace: Pace
    visibility: Visibility
    spectators: Spectators
    opened_by: str | None
    round: int | None
    seats: tuple[SeatView, ...]
    questions: tuple[OpenQuestion, ...]
    work: WorkBody | None
    result: Result | None


class GameLine(Struct, frozen=True):
    """A game in an operator's list."""

    game_id: str
    version: int
    status: Status
    is_stalled: bool
    last_event_at: str
    work: WorkBody | None


async def look_at(tables: Tables, accounts: Accounts, desk: OperatorDesk, game_id: str, now: datetime) -> GameLook:
    """Looks at a game. Errors: GameNotFound."""
    hot = await tables.fresh(game_id)
    work = await desk.work(game_id)
    return _look(hot, work, await names_at(accounts, [hot.game]), now)


def line_of(found: FoundGame) -> GameLine:
    """Shows a game in a list."""
    last_event_at = timestamp(found.last_event_at)
    return GameLine(found.game_id, found.version, found.status, found.is_stalled, last_event_at, _work_body(found.work))


def _look(hot: Hot, work: KeptWork | None, names: Names, now: datetime) -> GameLook:
    game, last = hot.game, hot.events[-1]
    listed = render_game(hot, game, None, names)
    return GameLook(
        game_id=game.game_id,
        version=game.version,
        status=game.status,
        is_stalled=is_stalled(game.status, work),
        created_at=listed.created_at,
        last_event_at=timestamp(last.occurred_at),
        last_event_age_s=round((now - last.occurred_at).total_seconds(), 3),
        last_event_kind=kind_of(last.event),
        ruleset=listed.ruleset,
        pace=game.pace,
        visibility=game.visibility,
        spectators=game.spectators,
        opened_by=game.opened_by,
        round=None if game.round is None else game.round.number,
        seats=listed.seats,
        questions=tuple(_questions(hot)),
        work=_work_body(work),
        result=game.result,
    )


def _questions(hot: Hot) -> Iterator[OpenQuestion]:
    """Claims are one question to all: whoever is asked still would tell who has passed."""
    claims = 0
    for decision in open_decisions(hot.game):
        deadline = deadline_of(hot.game, decision, hot.when)
        is_claim = decision.kind == "claim"
        claims += is_claim
        if claims < 2 or not is_claim:
            yield OpenQuestion(
                kind=decision.kind,
                seat=None if is_claim else decision.seat,
                opened_at_version=decision.opened_at,
                deadline_at=timestamp_if_any(deadline),
            )


def _work_body(work: KeptWork | None) -> WorkBody | None:
    if work is None:
        return None
    return WorkBody(work.version, work.kind, timestamp_if_any(work.due_at), round(work.overdue_s, 3))
