"""The parts of a path, read once; what cannot be an id is simply not found."""

from collections.abc import Mapping

from api.problems import Failed
from services.ids import uuid_of


def game_id_of(path: Mapping[str, str]) -> str:
    """Gives the game's id."""
    game_id = path["game_id"]
    if uuid_of("gam", game_id) is None:
        raise Failed("game_not_found")
    return game_id


def seat_of(path: Mapping[str, str]) -> int:
    """Gives the seat's number; whether the game has it is for the game to say."""
    text = path["seat"]
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        return -1
    return int(text)
