"""What is worked out from a ruleset, kept with that very ruleset.

A ruleset holds dicts, so it is no key itself; what was worked out lies in its instance dict, and goes with it.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from domain.ruleset import Ruleset

T = TypeVar("T")


class Remembered(Generic[T]):
    """A function of a ruleset that is worked out once for each ruleset object. name: what no other one is called."""

    __slots__ = ("_name", "_work_out")

    def __init__(self, name: str, work_out: Callable[[Ruleset], T]):
        self._name, self._work_out = name, work_out

    def __call__(self, rules: Ruleset) -> T:
        """Gives the value for a ruleset."""
        kept: dict[str, T] = rules.__dict__
        try:
            return kept[self._name]
        except KeyError:
            value = kept[self._name] = self._work_out(rules)
            return value
