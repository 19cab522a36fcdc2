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


def player_id_of(path: Mapping[str, str]) -> str:
    """Gives the player's id."""
    player_id = path["player_id"]
    if uuid_of("ply", player_id) is None:
        raise Failed("player_not_found")
    return player_id


def webhook_id_of(path: Mapping[str, str]) -> str:
    """Gives the webhook's id."""
    webhook_id = path["webhook_id"]
    if uuid_of("whk", webhook_id) is None:
        raise Failed("webhook_not_found")
    return webhook_id


def ticket_id_of(path: Mapping[str, str]) -> str:
    """Gives the ticket's id."""
    ticket_id = path["ticket_id"]
    if uuid_of("tkt", ticket_id) is None:
        raise Failed("ticket_not_found")
    return ticket_id


def number_of(path: Mapping[str, str], name: str) -> int:
    """Gives a number of the path; 0 for what is none, as whatever is counted starts with 1."""
    text = path[name]
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 0


def seat_of(path: Mapping[str, str]) -> int:
    """Gives the seat's number; whether the game has it is for the game to say."""
    text = path["seat"]
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        return -1
    return int(text)
