"""Deliveries to webhooks that fail: tried again, told to their owner, and ended when it is of no use."""

from collections.abc import Awaitable, Callable

import pytest

from services.delivering import BUSY_S, FAILING_S, JITTER, LEASE_S, OVERTAKEN_AFTER, RETRIES_S
from services.ports import Unavailable
from services.webhooks import Fault
from tests.api.post import Post, deliveries, told, verifies, webhook
from tests.api.world import Player, World, dealt_game


async def test_a_failed_delivery_is_repeated_for_a_day_in_ever_longer_steps(anna: Player, post: Post) -> None:
    path, _ = await webhook(anna)
    await anna.sent("POST", f"{path}/test")
    post.server.answers = [503] * 20
    await post.carry()
    for attempt, retry_s in enumerate(RETRIES_S, start=1):
        assert len(post.server.received) == attempt
        await post.carry(seconds=retry_s - 1)
        assert len(post.server.received) == attempt
        await post.carry(seconds=2 + retry_s * JITTER)
    await post.carry(days=1)
    assert len(post.server.received) == len(RETRIES_S) + 1
    assert len({each.headers["webhook-id"] for each in post.server.received}) == 1
    assert len({each.headers["webhook-timestamp"] for each in post.server.received}) == len(RETRIES_S) + 1
    assert len({each.body for each in post.server.received}) == 1
    [delivery] = await deliveries(anna, path)
    assert (delivery["state"], delivery["response_status"], delivery["fault"]) == ("failed", 503, "refused")


@pytest.mark.parametrize("answer", [199, 301, 404, 429, 500, "timeout", "tls", "no_public_address"])
async def test_whatever_is_not_2xx_is_a_failure_that_is_told(anna: Player, post: Post, answer: int | Fault) -> None:
    path, _ = await webhook(anna)
    await anna.sent("POST", f"{path}/test")
    post.server.answers = [answer]
    await post.carry()
    [delivery] = await deliveries(anna, path)
    assert (delivery["state"], delivery["attempts"]) == ("waiting", 1)
    if isinstance(answer, int):
        assert (delivery["response_status"], delivery["fault"]) == (answer, "refused")
    else:
        assert (delivery["response_status"], delivery["fault"]) == (None, answer)
    assert (await anna.sent("GET", path))["failing_since"] is not None
    await post.carry(minutes=1)
    assert (await anna.sent("GET", path))["failing_since"] is None


async def test_what_the_server_was_too_busy_to_send_is_no_attempt_and_sent_soon(anna: Player, post: Post) -> None:
    path, _ = await webhook(anna)
    await anna.sent("POST", f"{path}/test")
    busy = 12  # a minute, not the hours of as many attempts
    post.server.answers = ["internal_error"] * busy
    await post.carry()
    for sent in range(1, busy + 1):
        assert len(post.server.received) == sent
        await post.carry(seconds=BUSY_S + 0.1)
    [delivery] = await deliveries(anna, path)
    assert (delivery["state"], delivery["attempts"], delivery["fault"]) == ("delivered", 1, None)
    assert (await anna.sent("GET", path))["failing_since"] is None


async def test_a_secret_that_cannot_be_read_signs_nothing_and_is_not_the_webhooks_fault(
    world: World, anna: Player, post: Post
) -> None:
    path, secret = await webhook(anna)
    kept = world.webhooks.kept[path.rpartition("/")[2]]
    await anna.sent("POST", f"{path}/test")
    readable, kept.secrets = kept.secrets, ()
    await post.carry()
    assert post.server.received == []
    await _is_our_fault(anna, path)
    kept.secrets = readable
    await post.carry(seconds=RETRIES_S[0] * (1 + JITTER))
    [received] = post.server.received
    assert verifies(received, secret)


async def test_what_cannot_be_written_is_tried_again_and_is_not_the_webhooks_fault(
    world: World,
    anna: Player,
    boris: Player,
    post: Post,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path, _ = await webhook(anna, types=["game.game_opened"])
    await dealt_game(world, anna, boris)
    with monkeypatch.context() as broken:
        broken.setattr(world.log, "heads", _raising(ValueError("7H")))
        await post.carry()
    assert post.server.received == []
    await _is_our_fault(anna, path)
    assert "7H" not in caplog.text
    await post.carry(seconds=RETRIES_S[0] * (1 + JITTER))
    assert [event["kind"] for event in told(post.server.taken())] == ["game_opened"]


async def _is_our_fault(player: Player, path: str) -> None:
    [delivery] = await deliveries(player, path)
    assert (delivery["state"], delivery["attempts"], delivery["fault"]) == ("waiting", 1, "internal_error")
    found = await player.sent("GET", path)
    assert (found["is_active"], found["failing_since"]) == (True, None)


async def test_what_cannot_be_read_just_now_is_sent_when_its_lease_is_over(
    world: World, anna: Player, boris: Player, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    await webhook(anna, types=["game.game_opened"])
    await dealt_game(world, anna, boris)
    with monkeypatch.context() as away:
        away.setattr(world.log, "heads", _raising(Unavailable("away")))
        with pytest.raises(Unavailable):
            await post.carry()
    await post.carry(seconds=LEASE_S - 1)
    assert post.server.received == []
    await post.carry(seconds=2)
    assert [event["kind"] for event in told(post.server.taken())] == ["game_opened"]


def _raising(error: Exception) -> Callable[..., Awaitable[None]]:
    async def heads(*_: object) -> None:
        raise error

    return heads


async def test_the_answer_410_switches_off(anna: Player, post: Post) -> None:
    path, _ = await webhook(anna)
    await anna.sent("POST", f"{path}/test")
    post.server.answers = [410]
    await post.carry()
    found = await anna.sent("GET", path)
    assert (found["is_active"], found["disabled_by"]) == (False, "gone")
    [delivery] = await deliveries(anna, path)
    assert (delivery["state"], delivery["response_status"]) == ("failed", 410)
    await post.carry(days=2)
    assert len(post.server.received) == 1


async def test_a_webhook_that_fails_for_days_is_switched_off_and_says_so(anna: Player, post: Post) -> None:
    path, _ = await webhook(anna)
    post.server.answers = [500] * 100
    await anna.sent("POST", f"{path}/test")
    await post.carry()
    assert (await anna.sent("GET", path))["is_active"]
    await post.carry(seconds=FAILING_S)
    found = await anna.sent("GET", path)
    assert (found["is_active"], found["disabled_by"]) == (False, "failing")
    on = await anna.sent("PATCH", path, {"is_active": True})
    assert (on["is_active"], on["failing_since"]) == (True, None)


async def test_the_game_waits_for_an_event_that_fails_but_not_for_ever(
    world: World, post: Post, anna: Player, boris: Player
) -> None:
    await webhook(anna)
    await dealt_game(world, anna, boris)
    post.server.answers = [500] * OVERTAKEN_AFTER
    for _ in range(OVERTAKEN_AFTER):
        await post.carry(minutes=6)
    versions = [event["version"] for event in told(post.server.taken())]
    assert versions[:OVERTAKEN_AFTER] == [1] * OVERTAKEN_AFTER
    await post.carry(minutes=6)
    rest = [event["version"] for event in told(post.server.taken())]
    assert rest == list(range(2, len(rest) + 2))
    await post.carry(minutes=31)
    assert [event["version"] for event in told(post.server.taken())] == [1]
