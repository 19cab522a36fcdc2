"""What those who run the server may do: look into games and players, and mend them.

Whatever an operator changes, and every look into hands, is noted before it happens, with who asked for it; at a table
that still plays every seat is told by an event. Nobody is shown a seed or the secret of a round that is played, and
so nothing of what is still to come.
"""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import Literal, Protocol, TypeAlias
from uuid import UUID, uuid5

from msgspec import Struct

from domain.commands import EndGame, Level, NoteOperator, SeatBotForAbsent, TableCommand
from domain.state import Status, is_over
from services.hot import Hot
from services.identity import Scope, first_token
from services.ids import new_uuid
from services.outcomes import Outcome
from services.ports import Accounts, Actor, KeyedRequest, Secrets, WorkKind
from services.rendering import EventBody, Names, render_hands_open, render_openly
from services.seats import PlayerNotFound
from services.tables import Draft, Tables
from services.tending import tend

STALLED_S = 15.0  # overdue for so long: the clock has handed it out five times by then
_REQUESTS = UUID("6d0c9a4e-8f0b-4a52-9b5a-0f3f7f1f6c11")  # names deeds after the requests that asked for them

_OPERATOR: Actor = "operator"

DeedKind: TypeAlias = Literal[
    "read_log", "end_game", "unstick_game", "seat_bot", "revoke_tokens", "give_token", "suspend_player", "resume_player"
]


class GamesSought(Struct, frozen=True):
    """Which games an operator looks for; None where it does not matter."""

    game_id: str | None = None
    player_id: str | None = None
    status: Status | None = None
    is_stalled: bool = False


class KeptWork(Struct, frozen=True):
    """A game's newest work row. kind: None where nothing need happen; overdue_s: negative before its time."""

    version: int
    kind: WorkKind | None
    due_at: datetime | None
    overdue_s: float


class FoundGame(Struct, frozen=True):
    """A game as an operator's list has it."""

    game_id: str
    status: Status
    version: int
    last_event_at: datetime
    work: KeptWork | None

    @property
    def is_stalled(self) -> bool:
        """Tells whether something should have happened here and has not."""
        return is_stalled(self.status, self.work)


class FoundPlayer(Struct, frozen=True):
    """A player. tokens: how many can be used."""

    player_id: str
    name: str
    created_at: datetime
    suspended_at: datetime | None
    tokens: int


class Deed(Struct, frozen=True):
    """Something that an operator has asked for. operator: a player's id, or who sat at the server's own terminal."""

    what: DeedKind
    operator: str
    game_id: str | None = None
    player_id: str | None = None
    reason: str = ""
    request: KeyedRequest | None = None

    @property
    def deed_id(self) -> UUID:
        """Names the deed: the same keyed request is the same deed."""
        if self.request is None:
            return new_uuid()
        return uuid5(_REQUESTS, "\n".join((self.request.principal, self.what, self.game_id or "", self.request.key)))


class NotedDeed(Struct, frozen=True):
    """A deed in the book. number: its place there."""

    number: int
    at: datetime
    what: str
    operator: str
    game_id: str | None
    player_id: str | None
    reason: str


class OperatorDesk(Protocol):
    """What operators search, and the book of what they have asked for."""

    async def games(self, sought: GamesSought, before: str | None, limit: int) -> list[FoundGame]:
        """Lists up to `limit` games that are older than `before`, the newest first, as they were projected."""
        ...

    async def work(self, game_id: str) -> KeptWork | None:
        """Gives a game's newest work row."""
        ...

    async def players(self, name: str, before: str | None, limit: int) -> list[FoundPlayer]:
        """Lists players whose name holds `name`, however it is written, the newest first."""
        ...

    async def player(self, player_id: str) -> FoundPlayer | None:
        """Finds a player."""
        ...

    async def revoke_all(self, player_id: str) -> None:
        """Ends all tokens of a player and switches their webhooks off."""
        ...

    async def suspend(self, player_id: str, *, is_suspended: bool) -> None:
        """Makes the tokens of a player, later ones too, speak for nobody, or undoes it."""
        ...

    async def note(self, deed: Deed) -> None:
        """Writes a deed into the book; the same keyed request is noted once."""
        ...

    async def deeds(self, before: int | None, limit: int) -> list[NotedDeed]:
        """Lists what was asked for, the latest first."""
        ...


def is_stalled(status: Status, work: KeptWork | None) -> bool:
    """Tells whether a game that is not over has no work, or work that is long overdue."""
    return not is_over(status) and (work is None or work.kind is None or work.overdue_s > STALLED_S)


async def read_log(tables: Tables, desk: OperatorDesk, operator: str, game_id: str) -> tuple[Hot, int]:
    """Gives a game, and up to which version its hands may be shown: while it is played, every seat is told first.

    Errors: GameNotFound, Busy, Unavailable; then nothing may be shown.
    """
    await tables.fresh(game_id)
    await desk.note(Deed("read_log", operator, game_id))

    def plan(draft: Draft) -> None:
        if draft.game.status == "playing":
            draft.carry_out(NoteOperator("log_read"), _OPERATOR, new_uuid())

    outcome = await tables.carry_out(game_id, plan)
    return tables.in_memory(game_id), outcome.last


def render_log(hot: Hot, upto: int, after: int, limit: int, names: Names) -> tuple[EventBody, ...]:
    """Shows events with all hands open; of the round that is played, nothing that is still to come."""
    game = hot.game
    is_played = game.status == "playing" and game.round is not None and game.round.step != "scoring"
    hidden = game.round.number if is_played and game.round is not None else None
    return tuple(
        render_hands_open(recorded, names) if recorded.round == hidden is not None else render_openly(recorded, names)
        for recorded in hot.events[after : min(upto, after + limit)]
    )


async def end_game(
    tables: Tables, desk: OperatorDesk, operator: str, game_id: str, reason: str, request: KeyedRequest | None
) -> Outcome:
    """Ends a game that waits or is played; nobody wins it."""
    deed = Deed("end_game", operator, game_id, reason=reason, request=request)
    return await _do(tables, desk, deed, EndGame())


async def seat_bot(tables: Tables, desk: OperatorDesk, operator: str, game_id: str, seat: int, level: Level) -> Hot:
    """Seats a bot for a person who is away, and who may reclaim the seat; where one sits already nothing changes."""
    await _do(tables, desk, Deed("seat_bot", operator, game_id, reason=f"seat {seat}"), SeatBotForAbsent(seat, level))
    return tables.in_memory(game_id)


async def unstick_game(
    tables: Tables,
    desk: OperatorDesk,
    operator: str,
    game_id: str,
    request: KeyedRequest | None,
    secrets: Secrets | None,
    now: Callable[[], Awaitable[datetime]],
) -> Outcome:
    """Writes a game's work anew, so that relay and clock hand it out again, and does here what is due.

    It helps where workers, relay or broker are of no use, and where the work row was lost. secrets: None where the one
    who asks has no key; then nothing is done here. Errors: those of Tables.
    """
    deed = Deed("unstick_game", operator, game_id, request=request)
    outcome = await _do(tables, desk, deed, NoteOperator("unstuck"))
    if not outcome.replayed and secrets is not None:
        await tend(tables, secrets, game_id, now=now)
    return outcome


async def revoke_tokens(desk: OperatorDesk, operator: str, player_id: str) -> None:
    """Ends all tokens of a player: whoever has one is signed out for ever, and what was made with one sends nothing.

    Errors: PlayerNotFound.
    """
    await find_player(desk, player_id)
    await desk.note(Deed("revoke_tokens", operator, player_id=player_id))
    await desk.revoke_all(player_id)


async def give_token(
    desk: OperatorDesk, accounts: Accounts, operator: str, player_id: str, scopes: Collection[Scope]
) -> str:
    """Makes a token for a player who has none any more, and gives it. Errors: PlayerNotFound, TooManyTokens."""
    await find_player(desk, player_id)
    await desk.note(Deed("give_token", operator, player_id=player_id, reason=" ".join(sorted(scopes))))
    return await first_token(accounts, player_id, scopes)


async def suspend_player(desk: OperatorDesk, operator: str, player_id: str, reason: str) -> FoundPlayer:
    """Shuts a player out until `resume_player`; doing it again changes nothing. Errors: PlayerNotFound."""
    await find_player(desk, player_id)
    await desk.note(Deed("suspend_player", operator, player_id=player_id, reason=reason))
    await desk.suspend(player_id, is_suspended=True)
    return await find_player(desk, player_id)


async def resume_player(desk: OperatorDesk, operator: str, player_id: str) -> FoundPlayer:
    """Lets a suspended player in again, with the tokens they had. Errors: PlayerNotFound."""
    await find_player(desk, player_id)
    await desk.note(Deed("resume_player", operator, player_id=player_id))
    await desk.suspend(player_id, is_suspended=False)
    return await find_player(desk, player_id)


async def find_player(desk: OperatorDesk, player_id: str) -> FoundPlayer:
    """Gives a player. Errors: PlayerNotFound."""
    found = await desk.player(player_id)
    if found is None:
        raise PlayerNotFound
    return found


async def _do(tables: Tables, desk: OperatorDesk, deed: Deed, command: TableCommand) -> Outcome:
    assert deed.game_id is not None
    await tables.fresh(deed.game_id)
    await desk.note(deed)
    command_id = new_uuid()

    def plan(draft: Draft) -> None:
        draft.carry_out(command, _OPERATOR, command_id)

    return await tables.carry_out(deed.game_id, plan, deed.request)
