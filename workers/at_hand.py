"""The game that this pool process tends at the moment; it tends one at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_game_id: str | None = None


@contextmanager
def tending(game_id: str) -> Iterator[None]:
    """Names the game in every log line until the block ends."""
    global _game_id  # noqa: PLW0603 - the event loop of a pool process has a context of its own
    _game_id = game_id
    try:
        yield
    finally:
        _game_id = None


def facts() -> Mapping[str, str | None]:
    """Gives what a log line says of the job under way."""
    return {"game_id": _game_id}
