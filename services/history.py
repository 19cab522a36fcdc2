"""Looking back at a game: what a move led to, how the rounds went, whether the luck was fixed beforehand."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from domain import events as e
from domain.fairness import check
from domain.fairness_report import Finding, Report, ShownEvent
from domain.ruleset import Contract
from services.hot import Hot
from services.ports import Recorded
from services.rendering import EventBody, move_id, render_event


class RoundSummary(Struct, frozen=True):
    """A round in short, by seat where it says so. points, totals: null until it is scored.

    first_version, last_version: its events, from the deal to the score; last_version is null while it is played.
    """

    number: int
    dealer: int
    contracts: tuple[Contract, ...]
    first_version: int
    last_version: int | None
    ended: e.RoundEnd | None
    went_out: int | None
    points: tuple[int, ...] | None
    totals: tuple[int, ...] | None


class RoundFairness(Struct, frozen=True):
    """What binds the luck of a round, and whether it was kept.

    commitment: what the secret must hash to, which was public before the deal; secret: null until the round has ended.
    nonces: the players' shares. is_checked: the round was dealt again from them and followed card by card; findings
    tell what was not as it must be.
    """

    number: int
    commitment: str
    secret: str | None
    nonces: tuple[str | None, ...]
    is_checked: bool
    findings: tuple[Finding, ...]


def events_of_move(hot: Hot, viewer: int | None, wanted: str) -> tuple[EventBody, ...]:
    """Gives what a move of the viewer's own seat led to; nothing where there is no such move that they may know of."""
    found = [recorded for recorded in hot.events if recorded.round and move_id(recorded.command_id) == wanted]
    if not found or found[0].actor != "player" or _seat_of_move(hot, found) != viewer:
        return ()
    return tuple(render_event(recorded, viewer, {}) for recorded in found)


def _seat_of_move(hot: Hot, found: Sequence[Recorded]) -> int | None:
    """Tells whose a move is; a draw that ends the round for want of cards is that of the player in turn."""
    seat = seat_of_command(found)
    if seat is not None:
        return seat
    earlier = (recorded.event for recorded in reversed(hot.events[: found[0].version]))
    return next((event.seat for event in earlier if isinstance(event, e.TurnBegan)), None)


def seat_of_command(command: Iterable[Recorded]) -> int | None:
    """Tells whose a command is by its events: that of the first one that is about a seat.

    A window that is closed and a stock that is renewed come before what closes and needs them, and are nobody's.
    """
    seats = (getattr(recorded.event, "seat", None) for recorded in command)
    return next((seat for seat in seats if seat is not None), None)


def rounds_of(hot: Hot) -> tuple[RoundSummary, ...]:
    """Sums up every round that was dealt."""
    rounds: list[RoundSummary] = []
    for recorded in hot.events:
        match recorded.event:
            case e.RoundDealt() as dealt:
                opened = RoundSummary(
                    dealt.number, dealt.dealer, dealt.contracts, recorded.version, None, None, None, None, None
                )
                rounds.append(opened)
            case e.RoundEnded(seat, reason):
                rounds[-1] = replace(rounds[-1], ended=reason, went_out=seat)
            case e.RoundScored(points, totals):
                rounds[-1] = replace(rounds[-1], last_version=recorded.version, points=points, totals=totals)
    return tuple(rounds)


def fairness_of(hot: Hot, number: int) -> RoundFairness | None:
    """Checks a round as anybody may who has the events; None where it was not dealt."""
    events = [recorded.event for recorded in hot.events]
    secrets = _revealed(events)
    if not any(isinstance(event, e.RoundDealt) and event.number == number for event in events):
        return None
    opened = events[0]
    assert isinstance(opened, e.GameOpened)
    report = _report(hot)
    first, last = _versions(hot, number)
    return RoundFairness(
        number=number,
        commitment=opened.commitment if number == 1 else secrets[number - 1],
        secret=secrets.get(number),
        nonces=hot.game.nonces,
        is_checked=number in report.rounds,
        findings=tuple(finding for finding in report.findings if first <= finding.version <= last),
    )


def _revealed(events: Sequence[e.Event]) -> dict[int, str]:
    """Gives the secrets of the rounds that have ended."""
    secrets: dict[int, str] = {}
    for event in events:
        if isinstance(event, e.RoundEnded):
            secrets[len(secrets) + 1] = event.revealed
    return secrets


def _versions(hot: Hot, number: int) -> tuple[int, int]:
    """Gives a round's first and last version; the events before the first deal belong to round 1."""
    dealt = [(r.event.number, r.version) for r in hot.events if isinstance(r.event, e.RoundDealt)]
    first = next(version for other, version in dealt if other == number)
    last = next((version - 1 for other, version in dealt if other == number + 1), hot.version)
    return (1 if number == 1 else first), last


def _report(hot: Hot) -> Report:
    """Checks the whole game as a spectator sees it."""
    return check(list(_as_shown(hot)))


def _as_shown(hot: Hot) -> Iterator[ShownEvent]:
    for recorded in hot.events:
        shown = render_event(recorded, None, {})
        data: dict[str, object] = msgspec.to_builtins(shown.data)
        yield ShownEvent(shown.game_id, shown.version, shown.kind, shown.seat, data)
