"""What was found where an installation was looked at."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

Level: TypeAlias = Literal["ok", "warn", "bad"]
_EXIT_CODES: dict[Level, int] = {"ok": 0, "warn": 1, "bad": 2}


class Finding(Struct, frozen=True):
    """One line. what: the thing that was looked at; found: in words; todo: what an operator does about it."""

    level: Level
    what: str
    found: str
    todo: str = ""

    def line(self) -> str:
        """Writes the line."""
        return f"{self.level:<4}  {self.what:<20}  {self.found}{f': {self.todo}' if self.todo else ''}"


def ok(what: str, found: str) -> Finding:
    """Is as it has to be."""
    return Finding("ok", what, found)


def warn(what: str, found: str, todo: str) -> Finding:
    """Works, but not for long or not well."""
    return Finding("warn", what, found, todo)


def bad(what: str, found: str, todo: str) -> Finding:
    """Does not work, or will lose something."""
    return Finding("bad", what, found, todo)


def judged(what: str, found: str, *, warns: bool, fails: bool = False, todo: str) -> Finding:
    """Gives the finding of the worst that is true."""
    return bad(what, found, todo) if fails else warn(what, found, todo) if warns else ok(what, found)


def exit_code(findings: Iterable[Finding]) -> int:
    """Gives 0 where all is well, 1 for a warning, 2 where something is bad."""
    return max((_EXIT_CODES[finding.level] for finding in findings), default=0)
