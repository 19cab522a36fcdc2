"""What is worked out from a ruleset, kept as long as that very ruleset is in use.

A ruleset holds dicts, so it is no key itself; its identity is, while it is kept alive here.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from domain.ruleset import Ruleset

T = TypeVar("T")

_MOST = 64  # a server plays a few rulesets at a time, a game decoded again brings its own copy


class Remembered(Generic[T]):
    """A function of a ruleset that is worked out once for each ruleset object."""

    def __init__(self, work_out: Callable[[Ruleset], T]):
        self._work_out = work_out
        self._known: dict[int, tuple[Ruleset, T]] = {}

    def __call__(self, rules: Ruleset) -> T:
        """Gives the value for a ruleset."""
        known = self._known.get(id(rules))
        if known is not None:  # the ruleset kept beside it makes the id its own
            return known[1]
        if len(self._known) >= _MOST:
            self._known.clear()
        value = self._work_out(rules)
        self._known[id(rules)] = (rules, value)
        return value
