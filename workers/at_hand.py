"""The game that this pool process tends at the moment; it tends one at a time."""

from collections.abc import Mapping
from typing import Any

_game_id: str | None = None


def take_up(game_id: str) -> None:
    """Names the game in every log line from now on."""
    global _game_id  # noqa: PLW0603 - the event loop of a pool process has a context of its own
    _game_id = game_id


def put_down(**_: Any) -> None:
    """Ends that: Celery asks for it when it has told how the job ended."""
    global _game_id  # noqa: PLW0603
    _game_id = None


def facts() -> Mapping[str, str | None]:
    """Gives what a log line says of the job under way."""
    return {"game_id": _game_id}
