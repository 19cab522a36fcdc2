"""The adapters with their numbers: what passes is counted and timed, nothing is changed."""

import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

from prometheus_client import Counter

from domain.bots import choose
from domain.commands import Level, Move
from domain.events import GameCancelled, GameFinished, GameOpened, GameStarted
from domain.presets import preset_names
from domain.refusals import Refused
from domain.ruleset import Ruleset
from domain.view import View
from infra.bus.publisher import RedisPublisher
from infra.bus.reader import RedisBusReader
from infra.jobs import ClosableJobs
from infra.postgres.database import Database
from infra.postgres.lane import Lane
from infra.postgres.log import PostgresLog
from infra.postgres.rows import ACTORS
from infra.postgres.tickets import PostgresTickets
from infra.watching import numbers
from infra.watching.tracing import Tracing
from services.outcomes import Busy, Denied, KeyReused, Outcome
from services.ports import (
    Append,
    FeedEntry,
    KeyedRequest,
    KeyUsed,
    NewEvent,
    Overloaded,
    Recorded,
    Unavailable,
    VersionConflict,
)
from services.relay import LogEntry, Position
from services.tables import Plan, Tables

_WHAT = {GameOpened: "opened", GameStarted: "started", GameFinished: "finished", GameCancelled: "cancelled"}
_OUTCOMES: dict[type[BaseException], str] = {
    VersionConflict: "conflict",
    KeyUsed: "key_used",
    Overloaded: "overloaded",
    Unavailable: "unavailable",
    Refused: "refused",
    Denied: "denied",
    KeyReused: "denied",
    Busy: "busy",
}
_COMMANDS = {actor: numbers.COMMANDS.labels(actor) for actor in ACTORS.values()}
_RULESETS = frozenset(preset_names())


class CountedLog(PostgresLog):
    """A PostgresLog whose appends are timed and whose events are counted, and that tells them to traces."""

    def __init__(self, database: Database, lane: Lane, traces: Tracing | None = None) -> None:
        super().__init__(database, lane)
        self._traces = traces
        self._done = numbers.APPENDS.labels("done")  # looking a label up costs more than counting

    async def append(self, append: Append) -> datetime:
        began = time.perf_counter()
        try:
            at = await super().append(append)
        except BaseException as error:
            numbers.APPENDS.labels(_outcome(error)).observe(time.perf_counter() - began)
            raise
        took_s = time.perf_counter() - began
        self._done.observe(took_s)
        _count(append.events)
        if self._traces is not None:
            ended = time.time_ns()
            self._traces.appended(append, ended - int(took_s * 1e9), ended)
        return at


class CountedTables(Tables):
    """Tables that count the moves that players send, by what became of them."""

    async def carry_out(self, game_id: str, plan: Plan, request: KeyedRequest | None = None) -> Outcome:
        if request is None or request.operation != "makeMove":
            return await super().carry_out(game_id, plan, request)
        try:
            outcome = await super().carry_out(game_id, plan, request)
        except Exception as error:
            _moved(self._ruleset(game_id), _outcome(error))
            raise
        _moved(self._ruleset(game_id), "replayed" if outcome.replayed else "accepted")
        return outcome

    def _ruleset(self, game_id: str) -> str:
        """Names the preset that is played; a game that nobody knows has none."""
        hot = self.known(game_id)
        name = "" if hot is None else hot.game.rules.name
        return name if name in _RULESETS else "other"


class CountedReader(RedisBusReader):
    """A RedisBusReader that tells how late entries are. The clocks of database and process should agree."""

    async def _entries(self) -> AsyncIterator[list[FeedEntry]]:
        try:
            async for batch in super()._entries():
                last = next((entry.recorded for entry in reversed(batch) if entry.recorded), None)
                if last is not None:
                    numbers.BUS_LAG.observe(_age_s(last))
                yield batch
        except Unavailable:
            numbers.BUS_FAULTS.labels("reader").inc()
            raise


class CountedPublisher(RedisPublisher):
    """A RedisPublisher that counts what it tells, and how often it cannot; traces are told where there are any."""

    traces: Tracing | None = None
    _told: Position = (0, 0)

    async def connect(self, generation: str) -> None:
        try:
            await super().connect(generation)
        except Unavailable:
            numbers.BUS_FAULTS.labels("writer").inc()
            raise

    async def publish(self, entries: Sequence[LogEntry]) -> None:
        began = time.perf_counter()
        try:
            await super().publish(entries)
        except Unavailable:
            numbers.BUS_FAULTS.labels("writer").inc()
            raise
        numbers.PUBLISHING.observe(time.perf_counter() - began)
        numbers.RELAYED.inc(len(entries))
        if self.traces is not None:
            self._trace(entries, self.traces)

    def _trace(self, entries: Sequence[LogEntry], traces: Tracing) -> None:
        """Leaves out what is told again after the bus was lost."""
        new = [entry for entry in entries if (entry.xid, entry.gseq) > self._told]
        if new:
            self._told = (new[-1].xid, new[-1].gseq)
            traces.relayed(new, time.time_ns())


class CountedJobs:
    """The way to the workers, counted."""

    def __init__(self, jobs: ClosableJobs) -> None:
        self._jobs = jobs
        self.close = jobs.close
        self.length = jobs.length

    async def hand_out(self, *subject_ids: str) -> None:
        try:
            await self._jobs.hand_out(*subject_ids)
        except Unavailable:
            numbers.HAND_OUTS.labels("failed").inc(len(subject_ids))
            raise
        numbers.HAND_OUTS.labels("done").inc(len(subject_ids))


class CountedTickets(PostgresTickets):
    """PostgresTickets that count the tables which are found."""

    async def seat(self, game_id: str, ticket_ids: Sequence[str], seats: int) -> bool:
        is_seated = await super().seat(game_id, ticket_ids, seats)
        numbers.MATCHES.inc(int(is_seated))
        return is_seated


def timed_choice(view: View, decision_id: str, rules: Ruleset, level: Level) -> Move:
    """Picks a bot's move, timed."""
    began = time.perf_counter()
    try:
        return choose(view, decision_id, rules, level)
    finally:
        numbers.THINKING.labels(level).observe(time.perf_counter() - began)


def _count(events: Sequence[NewEvent]) -> None:
    numbers.EVENTS.inc(len(events))
    for new in events:
        if new.ordinal == 0:
            _COMMANDS[new.actor].inc()
        if what := _WHAT.get(type(new.event)):
            numbers.GAMES.labels(what).inc()


_moves: dict[tuple[str, str], Counter] = {}


def _moved(ruleset: str, outcome: str) -> None:
    moves = _moves.get((ruleset, outcome))
    if moves is None:
        moves = _moves[ruleset, outcome] = numbers.MOVES.labels(ruleset, outcome)
    moves.inc()


def _outcome(error: BaseException) -> str:
    return next((_OUTCOMES[kind] for kind in type(error).__mro__ if kind in _OUTCOMES), "failed")


def _age_s(recorded: Recorded) -> float:
    return max(0.0, (datetime.now(UTC) - recorded.occurred_at).total_seconds())
