"""Messages to webhooks whose seat changes hands: what each of its holders is told, and what not."""

from datetime import timedelta
from random import Random

import pytest

from tests.api.post import Post, deliveries, events, told, verifies, webhook
from tests.api.tables import play, table
from tests.api.world import Player, World, dealt_game, in_turn, players

_A_SECOND = timedelta(seconds=1)


async def test_who_takes_a_hand_over_is_told_from_then_on_and_who_gave_it_is_not(
    world: World, post: Post, anna: Player, boris: Player, clara: Player
) -> None:
    _, secret = await webhook(boris)
    await webhook(clara)
    game_id = await dealt_game(world, anna, boris, spectators="none")
    await post.carry()
    post.server.taken()
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
    await play(world, game_id, [anna, clara], Random(2), moves=6)
    await post.carry()
    assert not any(verifies(each, secret) for each in post.server.received)
    found = told(post.server.taken())
    assert found == [event for event in await events(clara, game_id) if event["version"] >= found[0]["version"]]
    assert found[0]["kind"] == "seat_changed"


@pytest.mark.parametrize("hidden", [{"visibility": "private"}, {"spectators": "none"}], ids=str)
async def test_what_waits_for_somebody_who_has_left_is_not_sent(
    world: World, post: Post, anna: Player, boris: Player, clara: Player, hidden: dict[str, str]
) -> None:
    path, _ = await webhook(boris)
    game_id, _ = await table(world, [anna, boris, clara], **hidden)
    while await post.announcer.step():
        pass
    async with players(world, "Dora") as [dora]:
        await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": dora.player_id})
    await post.carry()
    assert post.server.received == []
    assert {each["state"] for each in await deliveries(boris, path)} == {"dropped"}


async def test_who_has_left_sees_what_waits_as_a_spectator_does(
    world: World, post: Post, anna: Player, boris: Player, clara: Player
) -> None:
    path, _ = await webhook(boris)
    game_id = await dealt_game(world, anna, boris, spectators="delayed", spectator_delay_s=30)
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
    await post.carry()
    early = told(post.server.taken())
    assert "round_dealt" not in {event["kind"] for event in early}
    waiting = [each for each in await deliveries(boris, path) if each["state"] == "waiting"]
    assert {(each["attempts"], each["fault"]) for each in waiting} == {(0, None)}
    await post.carry(seconds=31)
    late = told(post.server.taken())
    assert (late[-1]["kind"], late[-1]["data"]["reason"]) == ("seat_changed", "handed_over")
    shown = {event["version"]: event for event in await events(clara, game_id)}
    for event in early + late:
        assert "hand" not in event["data"]
        assert event["data"].keys() <= shown[event["version"]]["data"].keys()


async def test_a_message_that_has_failed_shows_at_the_next_attempt_what_its_owner_sees_by_then(
    world: World, post: Post, anna: Player, boris: Player, clara: Player
) -> None:
    path, secret = await webhook(boris)
    _, claras = await webhook(clara)
    game_id = await dealt_game(world, anna, boris)
    hand = (await boris.view(game_id))["you"]["hand"]
    await post.carry()
    post.server.answers = [503] * 100
    dealt = next(each for each in await deliveries(boris, path) if each["type"] == "game.round_dealt")
    [with_hand] = [each for each in post.server.received if each.headers["webhook-id"] == dealt["delivery_id"]]
    assert sorted(with_hand.verified(secret)["data"]["data"]["hand"]) == sorted(hand)
    await boris.sent("POST", f"{path}/deliveries/{dealt['delivery_id']}/redeliver")
    await post.deliver()
    assert post.server.received[-1].body == with_hand.body  # it is his still, and fails
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
    post.server.received.clear()
    post.server.answers.clear()
    await post.carry(minutes=1)
    again = [each for each in post.server.received if each.headers["webhook-id"] == dealt["delivery_id"]]
    assert [("hand" in each.verified(secret)["data"]["data"]) for each in again] == [False]
    of_clara = [each.verified(claras) for each in post.server.received if verifies(each, claras)]
    assert [each["data"]["kind"] for each in of_clara if each["type"] != "decision.opened"] == ["seat_changed"]
    assert not any("hand" in each["data"].get("data", {}) for each in of_clara)


async def test_a_question_goes_over_with_the_seat(
    world: World, post: Post, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    seat = (anna, boris).index(player)
    path, _ = await webhook(player, types=["decision.opened"])
    _, claras = await webhook(clara, types=["decision.opened"])
    post.later += _A_SECOND
    while await post.announcer.step():
        pass
    await player.sent("POST", f"/v1/games/{game_id}/seats/{seat}/handover", {"player_id": clara.player_id})
    await post.carry()
    asked = [each.verified(claras) for each in post.server.received]
    assert [each["data"]["decisions"] for each in asked] == [(await clara.view(game_id))["decisions"]]
    assert asked[0]["data"]["decisions"][0]["decision_id"] == view["decisions"][0]["decision_id"]
    assert {each["state"] for each in await deliveries(player, path)} <= {"dropped"}


async def test_a_bot_that_sits_in_ends_the_messages_and_a_person_who_comes_back_is_asked(
    world: World, post: Post, anna: Player, boris: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, _ = await in_turn(game_id, anna, boris)
    seat = (anna, boris).index(player)
    await webhook(player)
    post.later += _A_SECOND
    await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}/bot", {"level": "easy"})
    await post.carry()
    assert [event["kind"] for event in told(post.server.taken())] == ["seat_changed"]
    await player.sent("POST", f"/v1/games/{game_id}/seats/{seat}/reclaim")
    await post.carry()
    kinds = [message["type"] for message in post.server.taken()]
    assert kinds == ["game.seat_changed", "decision.opened"]
