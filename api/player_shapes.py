"""What is sent and answered about players and their tokens."""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from api.leaderboards import RatingBody
from api.patterns import ONE_LINE, SHOWN, looks
from services.identity import Scope
from services.listings import Standing

MAX_NAME = 40
MIN_TOKEN_S, MAX_TOKEN_S = 60, 10 * 366 * 24 * 3600
Name: TypeAlias = Annotated[
    str,
    Meta(min_length=1, description="1 to 40 characters, spaces around it do not count"),
    looks(maxLength=MAX_NAME, pattern=SHOWN),
]


class NewPlayer(Struct, frozen=True, forbid_unknown_fields=True):
    """A guest to be. The name is shown to others; it need not be unique."""

    name: Name


class MeChange(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a player. The name is shown to others at once, in games of the past too."""

    name: Name


class NewTokenRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A token to be made. label: for the player's own list of tokens."""

    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=4)]
    label: Annotated[str, Meta(max_length=MAX_NAME), looks(pattern=ONE_LINE)] = ""
    valid_s: Annotated[
        Annotated[int, Meta(ge=MIN_TOKEN_S, le=MAX_TOKEN_S)] | None,
        Meta(description="seconds until it expires; null: with the token that asks, or never"),
    ] = None


class PlayerCreated(Struct, frozen=True):
    """A new player. The token is shown this once."""

    player_id: str
    name: str
    token: str


class TokenBody(Struct, frozen=True):
    """A token, but for itself. is_current: the request was sent with it."""

    token_id: str
    label: str
    scopes: tuple[Scope, ...]
    created_at: str
    expires_at: str | None
    is_current: bool


class TokenCreated(Struct, frozen=True):
    """A new token. `token` is shown this once."""

    token_id: str
    label: str
    scopes: tuple[Scope, ...]
    created_at: str
    expires_at: str | None
    token: str


class TokenList(Struct, frozen=True):
    """The caller's tokens that can be used, the oldest first."""

    items: tuple[TokenBody, ...]


class Me(Struct, frozen=True):
    """Whom the token speaks for, and what it may do."""

    player_id: str
    name: str
    scopes: tuple[Scope, ...]


class ResultBody(Struct, frozen=True):
    """A finished game as it was for one player. seats: how many there were; won: alone or with others."""

    game_id: str
    ruleset: str
    finished_at: str
    seat: int
    seats: int
    score: int
    won: bool


class PlayerPage(Struct, frozen=True):
    """A player. standings and ratings: one for each ruleset; results: the newest first."""

    player_id: str
    name: str
    standings: tuple[Standing, ...]
    results: tuple[ResultBody, ...]
    ratings: tuple[RatingBody, ...]
