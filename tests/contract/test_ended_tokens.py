"""What ends with a token: what it has made, but never what the one that asks needs to go on."""

import asyncio
import os

import pytest

from services.ids import new_uuid, public_id
from services.ports import NewToken
from tests.contract.conftest import World

# laptop has made phone and bot; phone has made watch; bot has made two others, and one of these another one
_MADE_BY = {"phone": "laptop", "bot": "laptop", "watch": "phone", "one": "bot", "two": "bot", "three": "one"}


class Family(dict[str, str]):
    """The ids of a player's tokens by their names."""

    player_id: str

    def names(self, token_ids: set[str]) -> set[str]:
        return {name for name, token_id in self.items() if token_id in token_ids}


async def family(world: World) -> Family:
    found = Family()
    found.player_id = public_id("ply", new_uuid())
    await world.accounts.add_guest(found.player_id, "Anna", os.urandom(32), ["play"])
    [first] = await world.accounts.tokens(found.player_id)
    found["laptop"] = first.token_id
    for name, maker in _MADE_BY.items():
        await make(world, found, name, maker)
    return found


async def make(world: World, family: Family, name: str, maker: str) -> bool:
    family[name] = public_id("tok", new_uuid())
    new = NewToken(family[name], name, ("play",), asked_by=family[maker])
    return await world.accounts.add_token(family.player_id, os.urandom(32), new, 50) is not None


async def living(world: World, family: Family) -> set[str]:
    return family.names({token.token_id for token in await world.accounts.tokens(family.player_id)})


@pytest.mark.parametrize(
    ("named", "asking", "ended"),
    [
        ("bot", "laptop", {"bot", "one", "two", "three"}),  # a bot's token was stolen
        ("bot", None, {"bot", "one", "two", "three"}),
        ("watch", "bot", {"watch"}),
        ("laptop", "phone", {"laptop", "bot", "one", "two", "three"}),  # the laptop was
        ("laptop", "three", {"laptop", "phone", "bot", "watch", "one", "two"}),
        ("laptop", "laptop", {"laptop"}),  # signing out leaves the other devices
        ("bot", "one", {"bot", "two"}),  # another token instead of one
    ],
)
async def test_a_token_ends_with_what_it_has_made_but_not_who_asks_for_it(
    world: World, named: str, asking: str | None, ended: set[str]
) -> None:
    anna, boris = await family(world), await family(world)
    all_, asked_by = set(anna), None if asking is None else anna[asking]
    for _ in range(2):
        found = await world.accounts.revoke(anna.player_id, anna[named], asked_by)
        assert anna.names(found) >= {named}
        assert await living(world, anna) == all_ - ended
        assert await living(world, boris) == set(boris)


async def test_what_outlives_its_maker_is_from_then_on_of_whoever_made_that(world: World) -> None:
    """Otherwise a thief would change from one token to the next, and be out of reach of the one that began it."""
    anna = await family(world)
    await world.accounts.revoke(anna.player_id, anna["bot"], anna["one"])
    assert await make(world, anna, "four", "three")  # clears the dead ones away
    assert await living(world, anna) == {"laptop", "phone", "watch", "one", "three", "four"}
    assert not anna.names(await world.accounts.revoke(anna.player_id, anna["bot"], anna["phone"]))
    await world.accounts.revoke(anna.player_id, anna["laptop"], anna["phone"])
    assert await living(world, anna) == {"phone", "watch"}


async def test_of_tokens_that_are_made_while_their_maker_ends_none_is_left(world: World) -> None:
    anna = await family(world)
    makes = [make(world, anna, f"made-{number}", "one") for number in range(16)]
    await asyncio.gather(*makes[:8], world.accounts.revoke(anna.player_id, anna["bot"], anna["phone"]), *makes[8:])
    assert await living(world, anna) == {"laptop", "phone", "watch"}
