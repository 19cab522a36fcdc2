"""What the timer does, and what of it counts as a person's silence."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from uuid import UUID, uuid4

import pytest
from msgspec.structs import replace

from domain import events as e
from domain.presets import Json
from services.hot import Hot
from services.ids import public_id
from services.ports import Actor, Recorded
from services.tables import Draft
from services.tending import _acts_in_a_row, _time_is_over
from tests.api.silence import PACE, view, wait
from tests.api.world import Clock, Player, World, dealt_game, in_turn
from tests.domain.table import ANNA, BORIS, meld, table

DRAW, DISCARD = e.CardDrawn(ANNA, "stock", "3C", 50), e.CardDiscarded(ANNA, "3C", False, None)
DECLINE, CLOSED = e.DrawDeclined(ANNA), e.ClaimsClosed("time")
DEAL = e.RoundDealt(2, (), BORIS, "", (), None, ())
ANNAS_TURN = e.TurnBegan(ANNA, "draw", False, ())

Story = Sequence[tuple[Actor, *tuple[e.Event, ...]]]
"""Commands: whose each is, and what it led to."""


@pytest.mark.parametrize(
    ("story", "acts"),
    [
        ([], 0),
        ([("timer", DRAW), ("timer", DISCARD)], 2),
        ([("timer", DRAW), ("player", DISCARD), ("timer", DRAW)], 1),
        ([("timer", DRAW), ("bot", DISCARD)], 0),
        ([("timer", DRAW), ("timer", e.TurnWarned(ANNA)), ("timer", DISCARD)], 2),
        ([("timer", DECLINE), ("timer", CLOSED, DRAW), ("timer", DISCARD)], 2),
        ([("timer", DECLINE), ("player", CLOSED, DRAW), ("timer", DISCARD)], 1),
        ([("timer", DISCARD), ("table", DEAL, ANNAS_TURN), ("timer", DRAW)], 2),
        ([("timer", DRAW), ("player", e.CardDiscarded(BORIS, "3C", False, None), ANNAS_TURN), ("timer", DISCARD)], 2),
        ([("timer", DISCARD), ("timer", e.CardDiscarded(BORIS, "3C", False, None), ANNAS_TURN)], 1),
    ],
)
def test_silence_is_what_the_timer_has_answered_since_the_person_last_did_anything(story: Story, acts: int) -> None:
    hot, versions = Hot(), count(1)
    hot.events = [
        Recorded("gam", next(versions), event, actor, 1, UUID(int=number), datetime.now(UTC))
        for number, (actor, *events) in enumerate(story)
        for event in events
    ]
    assert _acts_in_a_row(hot, ANNA) == acts


async def test_the_timer_leaves_the_others_the_time_of_their_window(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, clara, pace=PACE | {"turn_s": 10, "claim_window_s": 60})
    player, _ = await in_turn(game_id, anna, boris, clara)
    others = [other for other in (anna, boris, clara) if other is not player]
    assert await wait(world, clock, game_id, 11) == [{"kind": "DrawDeclined", "actor": "timer"}]
    for other in others:
        assert [decision["kind"] for decision in (await view(other, game_id))["decisions"]] == ["claim"]


def test_who_is_offered_a_wild_and_says_nothing_holds_nobody_up() -> None:
    offered: dict[str, Json] = {"max_wilds": {"kind": "unlimited"}, "swap": {"whose": "any", "offer": "rotation"}}
    run = meld(ANNA, "run", "4H 5H 2S(6H) 7H")
    t = table("jokers", ["9C", "6H QS", "JC JS"], melds=[run], down=[ANNA, BORIS], turn=ANNA, overrides=offered)
    t.happens(e.SwapOffered(BORIS))
    hot = Hot()
    hot.state = replace(t.game, game_id=public_id("gam", uuid4()))
    draft = Draft(hot)
    _time_is_over(draft)
    assert [new.event for new in draft.events] == [e.SwapDeclined(BORIS)]
