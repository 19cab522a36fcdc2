"""What is sent to webhooks: all that happens in a player's games, once, in order, as the player may see it."""

import asyncio
import json
import logging
import re
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from domain.events import CardDrawn, Event, MeldsLaid, RoundDealt, TurnBegan
from domain.meld import Meld
from services.announcing import Announcer
from services.delivering import BODY_BYTES
from services.ids import new_uuid
from services.ports import Append, NewEvent
from services.webhooks import shown_secret, signature
from tests.api.post import Post, deliveries, events, told, verifies, webhook
from tests.api.tables import play
from tests.api.world import Player, World, dealt_game, in_turn
from tests.appends import append
from tests.domain.table import ANNA, BORIS, SECRET, STOCK, cards, placed
from tests.engines import eventually

_A_SECOND = timedelta(seconds=1)


async def test_every_event_arrives_once_in_order_as_its_seat_sees_it(
    world: World, post: Post, anna: Player, boris: Player
) -> None:
    _, secret = await webhook(anna)
    await webhook(boris)
    game_id = await dealt_game(world, anna, boris)
    await play(world, game_id, [anna, boris], Random(1), moves=12)
    await post.carry()
    await post.carry()
    own = [each for each in post.server.received if each.message["type"].startswith("game.")]
    assert len({each.headers["webhook-id"] for each in post.server.received}) == len(post.server.received)
    of_anna = [each for each in own if verifies(each, secret)]
    assert [each.message["data"] for each in of_anna] == await events(anna, game_id)
    for each in of_anna:
        assert each.message["type"] == f"game.{each.message['data']['kind']}"
        assert each.message["timestamp"] == each.message["data"]["occurred_at"]
    of_boris = [each.message["data"] for each in own if not verifies(each, secret)]
    assert of_boris == [event for event in await events(boris, game_id) if event["version"] > 3][-len(of_boris) :]
    assert of_boris[0]["kind"] == "seat_changed"


async def test_a_bot_can_play_by_what_it_is_asked(world: World, post: Post, anna: Player) -> None:
    await webhook(anna, types=["decision.opened"])
    seats = [{"controller": "you"}, {"controller": "bot", "level": "easy"}]
    game_id = (await anna.open_game(seats=seats))["game_id"]
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    answered = 0
    while answered < 15:
        await world.tend(game_id)
        await post.carry()
        asked = post.server.taken()
        view = await anna.view(game_id)
        assert asked[-1]["data"]["decisions"] == view["decisions"]
        assert asked[-1]["data"]["seat"] == 0
        [first, *_] = asked[-1]["data"]["decisions"]
        moved = await anna.move(game_id, first["decision_id"], first["options"][0])
        assert moved.status_code == 201
        answered += 1


async def test_a_question_that_is_answered_already_is_not_asked(
    world: World, post: Post, anna: Player, boris: Player
) -> None:
    for player in (anna, boris):
        await webhook(player, types=["decision.opened"])
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    while (await post.announcer.step()) > 0:
        pass
    before = view["decisions"][0]["decision_id"]
    for _ in range(5):
        await play(world, game_id, [anna, boris], Random(1), moves=1)
        while await post.announcer.step():
            pass
    await post.carry()
    asked = [each["decision_id"] for message in post.server.taken() for each in message["data"]["decisions"]]
    assert asked
    assert before not in asked
    assert len(set(asked)) == len(asked)


async def test_only_what_was_chosen_arrives_from_then_on_and_of_the_game_that_was_named(
    world: World, post: Post, anna: Player, boris: Player
) -> None:
    first = await dealt_game(world, anna, boris)
    before = len(await events(anna, first))
    post.later += _A_SECOND
    await webhook(anna, game_id=first)
    await webhook(anna, types=["game.seat_changed"])
    second = await dealt_game(world, anna, boris)
    await (await in_turn(first, anna, boris))[0].answer(first)
    await post.carry()
    found = told(post.server.taken())
    of_first = [event["version"] for event in found if event["game_id"] == first]
    assert of_first == [event["version"] for event in await events(anna, first)][before:]
    of_second = [event for event in found if event["game_id"] == second]
    assert of_second == [event for event in await events(anna, second) if event["kind"] == "seat_changed"]


async def test_games_of_others_are_nobodys_business(
    world: World, post: Post, anna: Player, boris: Player, clara: Player
) -> None:
    await webhook(clara)
    await dealt_game(world, anna, boris)
    await post.carry()
    assert post.server.received == []


async def test_options_that_would_take_too_much_are_left_out_and_read_from_the_game(
    world: World, post: Post, anna: Player, boris: Player
) -> None:
    path, secret = await webhook(anna, types=["decision.opened"])
    game_id = await dealt_game(world, anna, boris)
    await post.carry()
    post.server.received.clear()
    await _has_many_options(world, game_id, runs=150)
    await post.carry()
    [listed] = (await anna.sent("GET", f"/v1/games/{game_id}/decisions"))["items"]
    assert len(json.dumps(listed, separators=(",", ":"))) > BODY_BYTES
    received = post.server.received[-1]
    [asked] = received.verified(secret)["data"]["decisions"]
    assert asked == {**listed, "options": []}
    assert len(received.body) < 1_000
    assert {each["state"] for each in await deliveries(anna, path)} <= {"delivered", "dropped"}
    moved = await anna.move(game_id, asked["decision_id"], listed["options"][0])
    assert moved.status_code == 201


async def _has_many_options(world: World, game_id: str, runs: int) -> None:
    """Deals anew so that Anna is down, holds cards that fit many runs of Boris's, and has drawn."""
    hot = await world.house.tables.fresh(game_id)
    assert hot.game.round is not None
    lying = tuple(Meld(f"m{number}", BORIS, "run", placed("5H 6H 7H 8H")) for number in range(1, runs + 1))
    own = Meld("m0", ANNA, "set", placed("TC TD TS"))
    hands = (cards("4H 9H JK TC TD TS KS"), (*cards("5H 6H 7H 8H") * runs, "2C"))
    told: tuple[Event, ...] = (
        RoundDealt(1, hot.game.round.contracts, BORIS, SECRET, hands, "3C", cards(STOCK)),
        TurnBegan(ANNA, "draw", discard_open=True, claimants=()),
        MeldsLaid(BORIS, lying),
        MeldsLaid(ANNA, (own,)),
        CardDrawn(ANNA, "stock", cards(STOCK)[0], 9),
    )
    command = new_uuid()
    new = tuple(NewEvent(event, "table", 1, command, ordinal) for ordinal, event in enumerate(told))
    await world.log.append(Append(game_id, hot.version, new))


async def test_no_hidden_card_no_secret_and_no_token_is_found_anywhere(
    world: World, post: Post, anna: Player, boris: Player, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path, secret = await webhook(anna)
    game_id = await dealt_game(world, anna, boris)
    await play(world, game_id, [anna, boris], Random(3), moves=10)
    post.server.answers = [500, "timeout", 302]
    handing = asyncio.create_task(post.hand_outs.run())
    await post.carry()
    await eventually(lambda: post.jobs.handed_out != [])
    handing.cancel()
    assert {*post.jobs.handed_out} == {path.rpartition("/")[2]}
    for _ in range(4):
        await post.carry(hours=1)
    game = (await world.house.tables.fresh(game_id)).game
    assert game.round is not None
    shown = told(post.server.taken())
    assert {event["version"]: event for event in shown} == {
        each["version"]: each for each in await events(anna, game_id)
    }
    whole = str(shown) + str(await deliveries(anna, path)) + str(await anna.sent("GET", path)) + caplog.text
    token = str(anna.http.headers["authorization"]).removeprefix("Bearer ")
    for hidden in (secret, token, game.round.secret, world.secrets.seeds[game_id].hex()):
        assert hidden not in whole
    listed = str(await deliveries(anna, path)) + caplog.text
    assert not any(f"'{card}'" in listed for seat in game.seats for card in seat.hand)


async def test_whoever_takes_over_announces_nothing_twice(
    world: World, post: Post, anna: Player, boris: Player
) -> None:
    await webhook(anna)
    game_id = await dealt_game(world, anna, boris)
    await post.announcer.step()
    post.log.saved = (0, 0)  # whatever was saved is lost
    await play(world, game_id, [anna, boris], Random(4), moves=4)
    post.announcer = Announcer(post.log, post.hand_outs)
    await post.carry()
    assert told(post.server.taken()) == await events(anna, game_id)


async def test_while_nobody_listens_nothing_is_read_and_who_begins_to_misses_nothing(
    world: World, post: Post, anna: Player, boris: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    assert await post.announcer.step() == 0
    post.later += _A_SECOND
    await webhook(anna)
    player, _ = await in_turn(game_id, anna, boris)
    before = len(await events(anna, game_id))
    await player.answer(game_id)
    await post.carry()
    assert told(post.server.taken()) == (await events(anna, game_id))[before:]


async def test_a_broken_game_stops_no_other(world: World, post: Post, anna: Player, boris: Player) -> None:
    await webhook(anna)
    broken = (await anna.open_game())["game_id"]
    head = len(world.log.games[broken])
    await world.log.append(append(broken, head))  # a card is drawn before anything is dealt
    await world.log.append(append(broken, head + 1))
    game_id = await dealt_game(world, anna, boris)
    await post.carry()
    found = told(post.server.taken())
    assert [event for event in found if event["game_id"] == game_id] == await events(anna, game_id)


def test_the_lines_of_the_guide_verify_a_message() -> None:
    guide = (Path(__file__).parents[2] / "openapi" / "README.md").read_text("utf-8")
    [lines] = [each for each in re.findall(r"```python\n(.*?)```", guide, re.DOTALL) if "whsec_" in each]
    names: dict[str, Any] = {}
    exec(lines, names)
    secrets, body = [bytes(range(32)), bytes(32)], b'{"type":"webhook.ping"}'
    for signing in (secrets[:1], secrets, secrets[::-1]):
        headers = {
            "webhook-id": "msg_1", "webhook-timestamp": "7", "webhook-signature": signature(signing, "msg_1", 7, body),
        }  # fmt: skip
        assert names["is_genuine"](shown_secret(secrets[0]), headers, body)
        assert not names["is_genuine"](shown_secret(b"x" * 32), headers, body)
        assert not names["is_genuine"](shown_secret(secrets[0]), headers, body + b" ")
