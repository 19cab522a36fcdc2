"""`shanghai verify`: reads a downloaded game, checks it, and says what was checked and what was found."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from domain.fairness import check
from domain.fairness_report import Report, ShownEvent


class NoExport(Exception):
    """The file does not hold a game's events."""


_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Page(Struct, frozen=True):
    items: list[ShownEvent]


def verify(content: bytes) -> tuple[Report, str]:
    """Checks a file's game; gives the report and its text. Raises NoExport."""
    report = check(read_export(content))
    return report, "\n".join(_lines(report))


def read_export(content: bytes) -> list[ShownEvent]:
    """Reads a game's events: one JSON object a line, or one page `{"items": […]}` of the list of events."""
    try:
        events = msgspec.json.decode(content, type=_Page).items
    except _UNREADABLE:
        events = list(_from_lines(content))
    if not events:
        raise NoExport("it holds no events")
    return events


def _from_lines(content: bytes) -> Iterator[ShownEvent]:
    decoder = msgspec.json.Decoder(ShownEvent)
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            try:
                yield decoder.decode(line)
            except _UNREADABLE as error:
                raise NoExport(f"line {number} is no event: {error}") from None


def _lines(report: Report) -> Iterator[str]:
    seen_by = "a spectator" if report.viewer is None else f"seat {report.viewer}"
    yield f"game     {report.game_id}, {report.ruleset or 'unknown rules'}, {report.seats} seats, seen by {seen_by}"
    yield f"events   1 to {report.last_version}{', to the end of the game' if report.is_finished else ''}"
    yield f"rounds   {_dealt_again(report)}"
    yield f"cards    {report.cards:,} shown cards compared"
    yield f"luck     {_luck(report)}"
    if report.unknown_events:
        yield f"unknown  {report.unknown_events} events of kinds that this version does not know were left out"
    for finding in report.findings:
        yield f"  version {finding.version}: {finding.code}: {finding.detail}"
    count = len(report.findings)
    yield "verified" if count == 0 else f"NOT verified: {count} finding{'s' if count > 1 else ''}"


def _dealt_again(report: Report) -> str:
    again = f"{_numbers(report.rounds)} dealt again from the revealed secrets" if report.rounds else "none dealt again"
    hidden = f"; {_numbers(report.unrevealed)} not revealed yet" if report.unrevealed else ""
    return again + hidden


def _numbers(numbers: tuple[int, ...]) -> str:
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _luck(report: Report) -> str:
    """Says what the check proves: without a player's nonce the server alone has chosen the secrets."""
    fixed = "fixed before the seats were taken"
    if report.nonces:
        return f"{fixed}, and mixed with the nonces of {report.nonces} of {report.seats} seats"
    return f"{fixed}; no player has added a nonce"
