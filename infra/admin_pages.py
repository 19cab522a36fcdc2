"""What `shanghai admin` prints."""

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.looking import GameLook, WorkBody, line_of
from services.operating import FoundGame, FoundPlayer, NotedDeed
from services.ports import WorkKind
from services.rendering import EventBody, timestamp

_WIDTH = 130
_console = partial(Console, highlight=False, markup=False, emoji=False)  # names and reasons are shown as they are
_WHOLE = ("game", "player", "of", "when", "last event", "since", "suspended")  # columns that are never folded
_WORK: dict[WorkKind, str] = {
    "bots": "bots play",
    "deal": "deal",
    "score": "scores",
    "close_claims": "claims end",
    "turn_timer": "turn ends",
    "warn": "turn warning",
    "expire": "game expires",
}
_STATES = {"waiting": "cyan", "playing": "green", "finished": "dim", "cancelled": "dim"}


def print_games(found: Iterable[FoundGame]) -> None:
    """Prints a list of games."""
    table = _table("game", "status", "version", "last event", "work", "due")
    for each in found:
        line = line_of(each)
        state = Text("stalled", "red") if line.is_stalled else Text(line.status, _STATES[line.status])
        table.add_row(
            line.game_id, state, str(line.version), _time(line.last_event_at), _work(line.work, "none"), _due(line.work)
        )
    _print(table)


def print_game(look: GameLook) -> None:
    """Prints a game from outside."""
    page = Table.grid(padding=(0, 2))
    page.add_column(style="dim")
    page.add_column(overflow="fold")
    state = Text(look.status, _STATES[look.status])
    if look.is_stalled:
        state.append("  STALLED: shanghai admin unstick " + look.game_id, "bold red")
    work = _work(look.work, "the row is lost") + (f" at version {look.work.version}" if look.work else "")
    for name, told in (
        ("game", look.game_id),
        ("status", state),
        ("version", f"{look.version}, {look.last_event_kind} {_span(look.last_event_age_s)} ago"),
        ("opened", f"{_time(look.created_at)} by {look.opened_by or 'nobody'}"),
        ("rules", f"{look.ruleset}, {look.visibility}, spectators {look.spectators}"),
        ("pace", f"claims {look.pace.claim_window_s} s, turns {look.pace.turn_s} s"),
        ("round", "not dealt yet" if look.round is None else str(look.round)),
        ("work", f"{work}, {_due(look.work)}" if look.work else work),
        ("asked", "\n".join(_question(look, number) for number in range(len(look.questions))) or "nobody"),
    ):
        page.add_row(name, told)
    _print(page)
    seats = _table("seat", "name", "player", "controller", "cards", "down", "score")
    for seat in look.seats:
        who = seat.controller + (f" ({seat.level})" if seat.level else "")
        person = (seat.name or "", seat.player_id or "", who, str(seat.hand_count), "yes" if seat.down else "no")
        seats.add_row(str(seat.seat), *person, str(seat.score))
    _print(seats)


def print_events(events: Sequence[EventBody]) -> None:
    """Prints events, one a line."""
    console = _console()
    for event in events:
        data = msgspec.json.encode(event.data).decode()
        where = f"r{event.round or '-'} s{'-' if event.seat is None else event.seat}"
        line = Text(f"{event.version:>5} {event.occurred_at[11:23]} {where:<6} {event.actor:<8} ", "dim")
        line.append(f"{event.kind:<16} ", "bold")
        line.append("" if data == "{}" else data)
        console.print(line, soft_wrap=True)


def print_players(found: Iterable[FoundPlayer]) -> None:
    """Prints players."""
    table = _table("player", "name", "since", "tokens", "suspended")
    for player in found:
        suspended = Text("" if player.suspended_at is None else _time(timestamp(player.suspended_at)), "red")
        table.add_row(player.player_id, player.name, _time(timestamp(player.created_at)), str(player.tokens), suspended)
    _print(table)


def print_deeds(deeds: Iterable[NotedDeed]) -> None:
    """Prints the book."""
    table = _table("when", "operator", "asked for", "of", "why")
    for deed in deeds:
        of = deed.game_id or deed.player_id or ""
        table.add_row(_time(timestamp(deed.at)), deed.operator, deed.what, of, deed.reason)
    _print(table)


def _question(look: GameLook, number: int) -> str:
    question = look.questions[number]
    who = "whoever may claim" if question.seat is None else f"seat {question.seat} ({look.seats[question.seat].name})"
    return (
        f"{who}: {question.kind} since version {question.opened_at_version}, until {_time(question.deadline_at or '')}"
    )


def _work(work: WorkBody | None, none: str) -> str:
    if work is None:
        return none
    return "nothing" if work.kind is None else _WORK[work.kind]


def _due(work: WorkBody | None) -> str:
    if work is None or work.due_at is None:
        return ""
    return f"{_span(work.overdue_s)} overdue" if work.overdue_s > 0 else f"due in {_span(-work.overdue_s)}"


def _span(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _time(moment: str) -> str:
    return moment.partition(".")[0].replace("T", " ")


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=column in _WHOLE, overflow="fold")
    return table


def _print(shown: Table) -> None:
    console = _console()
    console.width = max(console.width, _WIDTH)  # an id in two lines cannot be copied; a narrow terminal wraps by itself
    console.print(shown if shown.row_count else "none")
