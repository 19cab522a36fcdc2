"""The parts of a path, read once; what cannot be an id is simply not found."""

import re
from collections.abc import Mapping

from api.problems import Failed
from services.ids import uuid_of


def game_id_of(path: Mapping[str, str]) -> str:
    """Gives the game's id."""
    return _id(path["game_id"], "gam", "game_not_found")


def player_id_of(path: Mapping[str, str]) -> str:
    """Gives the player's id."""
    return _id(path["player_id"], "ply", "player_not_found")


def token_id_of(path: Mapping[str, str]) -> str:
    """Gives the token's id."""
    return _id(path["token_id"], "tok", "token_not_found")


def ticket_id_of(path: Mapping[str, str]) -> str:
    """Gives the ticket's id."""
    return _id(path["ticket_id"], "tkt", "ticket_not_found")


def webhook_id_of(path: Mapping[str, str]) -> str:
    """Gives the webhook's id."""
    return _id(path["webhook_id"], "whk", "webhook_not_found")


def delivery_id_of(path: Mapping[str, str]) -> str:
    """Gives the delivery's id."""
    return _id(path["delivery_id"], "msg", "delivery_not_found")


def number_of(path: Mapping[str, str], name: str) -> int:
    """Gives a number of the path; 0 for what is none, as whatever is counted starts with 1."""
    return _number(path[name], otherwise=0)


def seat_of(path: Mapping[str, str]) -> int:
    """Gives the seat's number; whether the game has it is for the game to say."""
    return _number(path["seat"], otherwise=-1)


def _number(text: str, *, otherwise: int) -> int:
    return int(text) if _NUMBER.fullmatch(text) else otherwise


_NUMBER = re.compile("0|[1-9][0-9]{0,2}")  # one spelling each: no sign, no zero before it


def _id(text: str, prefix: str, code: str) -> str:
    if uuid_of(prefix, text) is None:
        raise Failed(code)
    return text
