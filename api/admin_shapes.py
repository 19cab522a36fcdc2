"""Bodies and parameters of the operators' part of the API."""

from typing import Annotated

from msgspec import Meta, Struct

from api.patterns import ONE_LINE, SHOWN, cursor_like, id_pattern, looks
from api.player_shapes import MAX_NAME
from api.shapes import EVENTS_AT_MOST, GAMES_AT_MOST
from domain.state import Status
from services.looking import GameLine


class AdminGamesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which games to list."""

    game_id: Annotated[str | None, Meta(description="this game only"), looks(pattern=id_pattern("gam"))] = None
    player_id: Annotated[
        str | None, Meta(description="games that this player has opened or sits at"), looks(pattern=id_pattern("ply"))
    ] = None
    status: Annotated[Status | None, Meta(description="games in this state only")] = None
    stalled: Annotated[bool, Meta(description="only games where something should have happened and has not")] = False
    cursor: Annotated[str | None, cursor_like(id_pattern("gam"))] = None
    limit: Annotated[int, Meta(ge=1, le=GAMES_AT_MOST)] = 20


class AdminGamePage(Struct, frozen=True):
    """Games, the newest first."""

    items: tuple[GameLine, ...]
    next_cursor: str | None


class AdminEventsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which events to read."""

    after: Annotated[int, Meta(ge=0, le=2**31 - 1, description="the last version already known")] = 0
    limit: Annotated[int, Meta(ge=1, le=EVENTS_AT_MOST)] = EVENTS_AT_MOST


class ReasonRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Why; it is kept in the list of deeds and shown to operators only."""

    reason: Annotated[str, Meta(min_length=1, max_length=200), looks(pattern=SHOWN)]


class PlayersQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which players to list."""

    name: Annotated[
        str,
        Meta(description="part of the name, in large or small letters", max_length=MAX_NAME),
        looks(pattern=ONE_LINE),
    ] = ""
    cursor: Annotated[str | None, cursor_like(id_pattern("ply"))] = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class AdminPlayer(Struct, frozen=True):
    """A player. tokens: how many can be used; suspended_at: null where the player is not shut out."""

    player_id: str
    name: str
    created_at: str
    suspended_at: str | None
    tokens: int


class AdminPlayerPage(Struct, frozen=True):
    """Players, the newest first."""

    items: tuple[AdminPlayer, ...]
    next_cursor: str | None


class DeedsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which deeds to list."""

    cursor: Annotated[str | None, cursor_like("^[1-9][0-9]{0,8}$")] = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 50


class DeedBody(Struct, frozen=True):
    """What an operator has asked for. operator: a player's id, or who sat at the server's terminal."""

    number: int
    occurred_at: str
    what: str
    operator: str
    game_id: str | None
    player_id: str | None
    reason: str


class DeedPage(Struct, frozen=True):
    """Deeds, the latest first."""

    items: tuple[DeedBody, ...]
    next_cursor: str | None
