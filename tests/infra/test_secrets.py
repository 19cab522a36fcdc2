"""Seeds lie encrypted, each for its own game."""

import os
from collections.abc import AsyncIterator

import pytest
from cryptography.exceptions import InvalidTag

from infra.postgres.database import Database
from infra.postgres.secrets import PostgresSecrets
from infra.settings import Settings
from services.ids import uuid_of
from tests.appends import new_game


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    database = Database(settings.database_url, size=1, name="test")
    yield database
    await database.close()


async def test_no_seed_can_be_read_from_the_table(database: Database) -> None:
    game, seed = new_game(), os.urandom(32)
    await PostgresSecrets(database, b"k" * 32).keep(game, seed)
    [[sealed]] = await database.fetch("SELECT sealed FROM game_secret WHERE game_id = $1", uuid_of("gam", game))
    assert seed not in sealed


async def test_equal_seeds_look_different(database: Database) -> None:
    secrets = PostgresSecrets(database, b"k" * 32)
    for game in (new_game(), new_game()):
        await secrets.keep(game, b"s" * 32)
    rows = await database.fetch("SELECT sealed FROM game_secret")
    assert len({row["sealed"] for row in rows}) == len(rows)


async def test_another_key_opens_nothing(database: Database) -> None:
    game = new_game()
    await PostgresSecrets(database, b"k" * 32).keep(game, b"s" * 32)
    with pytest.raises(InvalidTag):
        await PostgresSecrets(database, b"x" * 32).seed(game)


async def test_a_seed_does_not_open_for_another_game(database: Database) -> None:
    secrets, game, other = PostgresSecrets(database, b"k" * 32), new_game(), new_game()
    await secrets.keep(game, b"s" * 32)
    await database.run(
        "INSERT INTO game_secret (game_id, sealed) SELECT $2, sealed FROM game_secret WHERE game_id = $1",
        uuid_of("gam", game),
        uuid_of("gam", other),
    )
    with pytest.raises(InvalidTag):
        await secrets.seed(other)
