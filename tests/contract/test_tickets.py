"""Tickets of quick match: kept once, seated all or none, and over when somebody says so."""

import asyncio
from typing import Any

from msgspec.structs import replace

from domain.commands import Pace
from domain.ruleset import Players
from services.ids import new_uuid, public_id
from services.tickets import PACES, NewTicket, Ticket
from tests.appends import new_game
from tests.contract.conftest import World


async def new_player(world: World) -> str:
    player = public_id("ply", new_uuid())
    await world.accounts.add_guest(player, "Anna", new_uuid().bytes * 2, ("play",))
    return player


def wanted(player: str, ruleset: str = "davis", **changes: Any) -> NewTicket:
    token = public_id("tok", new_uuid())
    return replace(NewTicket(player, token, ruleset, Players(2, 4), PACES["live"], None, 25.5), **changes)


async def made(world: World, player: str = "", **changes: Any) -> Ticket:
    kept = await world.tickets.keep(new_uuid(), wanted(player or await new_player(world), **changes))
    assert kept is not None
    return kept


async def waiting(world: World) -> list[str]:
    return [each.ticket_id for each in await world.tickets.waiting(1_000)]


async def test_a_ticket_is_found_as_it_was_made_by_its_player_alone(world: World) -> None:
    anna, boris, ticket_id = await new_player(world), await new_player(world), new_uuid()
    asked = wanted(anna, bots_after_s=30, pace=PACES["correspondence"])
    kept = await world.tickets.keep(ticket_id, asked)
    assert kept is not None
    assert (kept.wanted, kept.state, kept.game_id) == (asked, "waiting", None)
    assert 0 <= kept.waited_s < 20
    assert 0 <= kept.unseen_s < 20
    again = await world.tickets.keep(ticket_id, wanted(anna, "jokers"))
    assert again is not None
    assert again.wanted == asked
    found = await world.tickets.find(kept.ticket_id, anna)
    assert found is not None
    assert (found.ticket_id, found.wanted) == (kept.ticket_id, asked)
    assert await world.tickets.find(kept.ticket_id, boris) is None
    assert await world.tickets.cancel(kept.ticket_id, boris) is None
    assert [each.ticket_id for each in await world.tickets.of_player(anna, 5)] == [kept.ticket_id]
    assert await world.tickets.of_player(boris, 5) == []


async def test_a_player_waits_once_for_each_ruleset(world: World) -> None:
    anna = await new_player(world)
    first = await made(world, anna)
    assert await world.tickets.keep(new_uuid(), wanted(anna)) is None
    await made(world, anna, ruleset="jokers")
    cancelled = await world.tickets.cancel(first.ticket_id, anna)
    assert cancelled is not None
    assert cancelled.state == "cancelled"
    second = await made(world, anna)
    states = {each.ticket_id: each.state for each in await world.tickets.of_player(anna, 10)}
    assert (len(states), states[first.ticket_id], states[second.ticket_id]) == (3, "cancelled", "waiting")
    assert len(await world.tickets.of_player(anna, 2)) == 2


async def test_of_several_tickets_at_once_one_is_kept(world: World) -> None:
    anna = await new_player(world)
    kept = await asyncio.gather(*(world.tickets.keep(new_uuid(), wanted(anna)) for _ in range(8)))
    assert len([each for each in kept if each is not None]) == 1


async def test_the_oldest_wait_first(world: World) -> None:
    tickets = [(await made(world)).ticket_id for _ in range(3)]
    assert [each for each in await waiting(world) if each in tickets] == tickets
    await world.tickets.expire([tickets[1]])
    assert [each for each in await waiting(world) if each in tickets] == [tickets[0], tickets[2]]


async def test_an_odd_pace_keeps_nobody_else_from_being_looked_at(world: World) -> None:
    odd = [(await made(world, pace=Pace(turn_s=61 + number))).ticket_id for number in range(3)]
    usual = [(await made(world, pace=pace)).ticket_id for pace in PACES.values()]
    found = await waiting(world)
    assert [each for each in found if each in (*odd, *usual)] == [*usual, *odd]
    assert not set(odd) & {each.ticket_id for each in await world.tickets.waiting(len(found) - 3)}


async def test_tickets_are_seated_all_or_none_and_then_told(world: World) -> None:
    one, two, three = [await made(world) for _ in range(3)]
    game, other = new_game(), new_game()
    assert await world.tickets.seat(game, [two.ticket_id, one.ticket_id], 3)
    assert not await world.tickets.seat(other, [three.ticket_id, one.ticket_id], 2)
    assert three.ticket_id in await waiting(world)
    [table] = [each for each in await world.tickets.seated() if each.game_id in (game, other)]
    assert (table.game_id, [each.ticket_id for each in table.tickets], table.seats) == (
        game, [two.ticket_id, one.ticket_id], 3,
    )  # fmt: skip
    assert {each.wanted for each in table.tickets} == {one.wanted, two.wanted}
    late = await world.tickets.cancel(one.ticket_id, one.wanted.player_id)
    assert late is not None
    assert (late.state, late.game_id) == ("seated", game)
    for _ in range(2):
        await world.tickets.tell(game)
    told = await world.tickets.find(one.ticket_id, one.wanted.player_id)
    assert told is not None
    assert (told.state, told.game_id) == ("matched", game)
    assert game not in [each.game_id for each in await world.tickets.seated()]
    await world.tickets.expire([one.ticket_id])
    assert (await world.tickets.find(one.ticket_id, one.wanted.player_id)) is not None
    assert told.waited_s >= 0


async def test_of_two_who_seat_the_same_ticket_at_once_one_does(world: World) -> None:
    for _ in range(10):
        one, two, three = [await made(world) for _ in range(3)]
        seated = await asyncio.gather(
            world.tickets.seat(new_game(), [one.ticket_id, two.ticket_id], 2),
            world.tickets.seat(new_game(), [two.ticket_id, three.ticket_id], 2),
        )
        assert sum(seated) == 1
        assert len({one.ticket_id, three.ticket_id} & set(await waiting(world))) == 1


async def test_a_table_whose_game_cannot_be_opened_is_given_up(world: World) -> None:
    one, game = await made(world), new_game()
    await world.tickets.seat(game, [one.ticket_id], 2)
    await world.tickets.expire([one.ticket_id])
    found = await world.tickets.find(one.ticket_id, one.wanted.player_id)
    assert found is not None
    assert (found.state, found.game_id) == ("expired", None)
    assert game not in [each.game_id for each in await world.tickets.seated()]


async def test_those_whose_table_comes_to_nothing_wait_again_in_their_place(world: World) -> None:
    one, two, three = [await made(world) for _ in range(3)]
    game = new_game()
    assert await world.tickets.seat(game, [one.ticket_id, two.ticket_id], 3)
    await world.tickets.release(game, 60)
    assert game in [each.game_id for each in await world.tickets.seated()]  # it may still be opened
    newer = await made(world, two.wanted.player_id)
    for _ in range(2):
        await world.tickets.release(game, 0)
    assert game not in [each.game_id for each in await world.tickets.seated()]
    found = [each for each in await waiting(world) if each in (one.ticket_id, three.ticket_id, newer.ticket_id)]
    assert found == [one.ticket_id, three.ticket_id, newer.ticket_id]
    over = await world.tickets.find(two.ticket_id, two.wanted.player_id)
    assert over is not None
    assert (over.state, over.game_id) == ("expired", None)
    assert await world.tickets.seat(new_game(), [one.ticket_id, newer.ticket_id], 2)


async def test_nobody_who_is_released_asks_for_another_one_at_the_same_moment_and_has_two(world: World) -> None:
    for _ in range(8):
        one, game = await made(world), new_game()
        await world.tickets.seat(game, [one.ticket_id], 2)
        await asyncio.gather(
            world.tickets.release(game, 0), world.tickets.keep(new_uuid(), wanted(one.wanted.player_id))
        )
        await world.tickets.release(game, 0)
        states = sorted(each.state for each in await world.tickets.of_player(one.wanted.player_id, 9))
        assert states in (["waiting"], ["expired", "waiting"])


async def test_tickets_that_were_over_lately_are_kept(world: World) -> None:
    one = await made(world)
    await world.tickets.expire([one.ticket_id])
    await world.tickets.forget_old()
    await world.invites.forget_old()
    assert await world.tickets.find(one.ticket_id, one.wanted.player_id) is not None
