"""Lists page by page: one item more than a page tells that there is a next one."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
Place = TypeVar("Place")


def page_of(found: Sequence[T], limit: int, place: Callable[[T], Place]) -> tuple[Sequence[T], Place | None]:
    """Cuts what may hold one item more than a page, and gives the place of its last one where more follows."""
    return found[:limit], place(found[limit - 1]) if len(found) > limit else None
