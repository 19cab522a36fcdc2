"""Which of a player's games are found where there are more than are looked at."""

import asyncpg
import msgspec
import pytest

from domain.state import Status
from infra.postgres.lobby import Shown
from infra.wiring import Services
from services.ids import new_uuid, public_id, uuid_of

pytestmark = pytest.mark.xdist_group("relay")


async def projected(owner: asyncpg.Connection, player_id: str, status: Status) -> str:
    """Puts a game of a player's into the read models."""
    game = new_uuid()
    shown = msgspec.json.encode(Shown((), None))
    await owner.execute(
        "INSERT INTO lobby_game (build, game_id, version, status, ruleset, is_public, shown)"
        " SELECT max(build), $1, 1, $2, 'davis', true, $3 FROM projection WHERE is_served",
        game, status, shown,
    )  # fmt: skip
    await owner.execute(
        "INSERT INTO lobby_seat (build, player_id, game_id, is_seated)"
        " SELECT max(build), $1, $2, false FROM projection WHERE is_served",
        uuid_of("ply", player_id), game,
    )  # fmt: skip
    return public_id("gam", game)


async def test_games_that_are_over_push_none_out_that_goes_on(
    services: Services, owner: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.postgres.own_games.LOOKED_AT", 3)
    anna = public_id("ply", new_uuid())
    playing = await projected(owner, anna, "playing")
    over = [await projected(owner, anna, "cancelled") for _ in range(4)]
    waiting = await projected(owner, anna, "waiting")
    found = await services.own_games.of(anna)
    assert {(game.game_id, game.is_over) for game in found.games} == {
        (playing, False), (waiting, False), (max(over), True),
    }  # fmt: skip
