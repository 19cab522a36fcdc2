"""Whatever is asked, the bytes that come back are those of any other game that looks the same to the viewer.

A second log is made of a game: it differs in what one viewer cannot know, and in nothing else. Every reading, every
trial of a move and every refusal must then be answered alike from both.
"""

import json
from collections.abc import AsyncIterator, Iterable
from datetime import timedelta
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from domain.events import RoundDealt
from domain.state import Game
from services.ports import Recorded
from services.rendering import move_id
from tests.api.tables import play, table
from tests.api.world import Clock, Json, Player, World, players

Answers = dict[str, tuple[int, Any, str | None]]

MOVES: list[Json] = [
    {"kind": "draw_stock"},
    {"kind": "take_discard"},
    {"kind": "pass"},
    {"kind": "call_shanghai", "meld_id": "m1"},
    {"kind": "discard", "card": "7H"},
    {"kind": "lay_off", "meld_id": "m1", "cards": [{"card": "KC"}]},
    {"kind": "lay_down", "melds": [{"kind": "set", "cards": [{"card": "7H"}, {"card": "7D"}, {"card": "7S"}]}]},
]


@pytest.fixture
def clock(world: World) -> Clock:
    world.log.now = clock = Clock(tick=timedelta(milliseconds=1))
    return clock


@pytest.fixture
async def guests(world: World) -> AsyncIterator[list[Player]]:
    async with players(world, "Anna", "Boris", "Clara", "Dora", "Emil") as those:
        yield those


async def everything(viewer: Player, game_id: str, code: str, told: Iterable[Recorded]) -> Answers:
    """Asks all that can be asked about a game without changing it, right or wrong; gives status, body and ETag."""
    path, told = f"/v1/games/{game_id}", list(told)
    shown = (await viewer.call("GET", f"{path}/view")).json()
    looks = ["", "/view", "/decisions", "/events?limit=500", "/export", "/rounds", "/scores", "/hint", "/replay"]
    looks += [f"/rounds/{number}/fairness" for number in (1, 2, 3)]
    looks += [f"/view?at_version={recorded.version}" for recorded in told[::15]]
    looks += [f"/moves/{each}" for each in sorted({move_id(recorded.command_id) for recorded in told[-8:]})]
    asked: list[tuple[str, str, Json | None]] = [("GET", path + look, None) for look in looks]
    asked += [("GET", f"/v1/games?status={status}", None) for status in ("playing", "finished")]
    asked += [("GET", f"/v1/invites/{code}", None), ("GET", "/v1/games", None)]
    body: Json | None
    for decision in shown.get("decisions", []):
        for move in [*decision["options"][:5], *MOVES]:
            asked.append(("POST", f"{path}/moves/validate", {"decision_id": decision["decision_id"], "move": move}))
    for version in range(len(told) - 3, len(told)):
        for seat in range(3):
            for kind in ("draw", "claim", "play"):
                body = {"decision_id": f"{kind}-{version}-{seat}", "move": MOVES[0]}
                asked.append(("POST", f"{path}/moves/validate", body))
    asked += [("POST", path + wrong, None) for wrong in ("/start", "/cancel", "/seats/9/abandon", "/seats/9/reclaim")]
    asked += [("PUT", f"{path}/seats/{seat}", {}) for seat in (1, 9)]
    asked += [
        ("POST", f"{path}/start", {}),
        ("DELETE", f"{path}/seats/9", None),
        ("DELETE", f"{path}/seats/9/bot", None),
    ]
    answers: Answers = {}
    for method, where, body in asked:
        headers = {"idempotency_key": "wrong", "if_match": '"v1"'} if method != "GET" else {}
        answer = await viewer.call(method, where, body, **headers)
        assert answer.status_code < 500, answer.text
        text = answer.text
        if answer.headers.get("content-type", "").startswith("application/problem+json"):
            text = json.dumps({name: value for name, value in answer.json().items() if name != "request_id"})
        answers[f"{method} {where} {json.dumps(body)}"] = (answer.status_code, text, answer.headers.get("etag"))
    return answers


def with_other_cards(told: list[Recorded], game: Game, seat: int, random: Random) -> list[Recorded]:
    """Gives the same story with other cards where only `seat` can see them, another stock and another secret.

    A card of which there are two, and which was named since the deal, stays: its fellow may have been put down before.
    """
    assert game.round is not None
    hand, stock = list(game.seats[seat].hand), list(game.round.stock)
    start = max(place for place, recorded in enumerate(told) if isinstance(recorded.event, RoundDealt))
    dealt = told[start].event
    assert isinstance(dealt, RoundDealt)
    hands, whole = [list(each) for each in dealt.hands], list(dealt.stock)
    named = msgspec.json.encode([recorded.event for recorded in told[start + 1 :]]).decode()
    for card in hand:
        if card in hands[seat] and f'"{card}"' not in named:
            at = len(whole) - 1 - random.randrange(len(stock) // 2)
            hands[seat][hands[seat].index(card)], whole[at] = whole[at], card
    other = replace(dealt, hands=tuple(map(tuple, hands)), stock=tuple(whole), secret=random.randbytes(32).hex())
    return [*told[:start], replace(told[start], event=other), *told[start + 1 :]]


@pytest.mark.parametrize(("preset", "seed"), [("davis", 1), ("jokers", 2)])
async def test_two_games_that_look_alike_are_answered_alike(
    world: World, guests: list[Player], preset: str, seed: int
) -> None:
    random, (anna, boris, clara, _, emil) = Random(seed), guests
    game_id, code = await table(world, guests, ruleset=preset)
    seated = [anna, boris, clara]
    for moment in range(3):
        await play(world, game_id, seated, random, moves=9)
        if moment == 1:  # a bot sits in for Clara, and Boris leaves his cards to Emil
            await clara.sent("PUT", f"/v1/games/{game_id}/seats/2/bot", {"level": "easy"})
            await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": emil.player_id})
            seated = [anna, emil]
        await world.tend(game_id)
        told = world.log.games[game_id]
        game = (await world.house.tables.fresh(game_id)).game
        seat = (random.randrange(3), 1, 2)[moment]
        held = {each.player_id: number for number, each in enumerate(game.seats) if each.controller == "human"}
        other = with_other_cards(told, game, seat, random)
        assert game.round is not None
        for viewer in guests:
            if held.get(viewer.player_id) != seat:
                shown = await everything(viewer, game_id, code, told)
                assert game.round.secret not in str(shown)
                retold(world, game_id, other)
                assert await everything(viewer, game_id, code, told) == shown
                retold(world, game_id, told)
            else:
                own = await viewer.view(game_id)
                retold(world, game_id, other)
                assert (await viewer.view(game_id))["you"] != own["you"]  # the other game is another one
                retold(world, game_id, told)


@pytest.mark.parametrize("seed", [3, 4])
async def test_late_spectators_are_answered_as_if_nothing_had_happened(
    world: World, clock: Clock, guests: list[Player], seed: int
) -> None:
    random, (anna, boris, clara, dora, emil) = Random(seed), guests
    short = {"contracts": [[{"kind": "set", "size": 3}]]}
    game_id, code = await table(world, guests, spectators="delayed", spectator_delay_s=30, overrides=short)
    await play(world, game_id, [anna, boris, clara], random, moves=8)
    await clara.sent("PUT", f"/v1/games/{game_id}/seats/2/bot", {"level": "easy"})
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": emil.player_id})
    clock.at += timedelta(seconds=31)
    told = list(world.log.games[game_id])
    shown = {viewer: await everything(viewer, game_id, code, told) for viewer in (boris, clara, dora)}
    await play(world, game_id, [anna, emil], random, moves=6)
    for viewer, before in shown.items():
        assert await everything(viewer, game_id, code, told) == before
    for seat, player in ((0, anna), (1, emil)):
        await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}/bot", {})
    await world.tend(game_id)
    assert (await world.house.tables.fresh(game_id)).game.status == "finished"
    for viewer, before in shown.items():
        after = await everything(viewer, game_id, code, told)
        listed = "GET /v1/games?status=playing null"  # leaves out a game that has just ended
        assert {**after, listed: None} == {**before, listed: None}


def retold(world: World, game_id: str, told: list[Recorded]) -> None:
    """Puts another story into the log; nobody remembers the one before."""
    world.log.games[game_id] = told
    world.house.tables._forget(game_id)
