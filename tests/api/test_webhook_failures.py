"""Deliveries to webhooks that fail: tried again, told to their owner, and ended when it is of no use."""

import pytest

from services.delivering import BUSY_S, FAILING_S, JITTER, OVERTAKEN_AFTER, RETRIES_S
from services.webhooks import Fault
from tests.api.post import Post, deliveries, told, webhook
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


async def test_the_answer_410_switches_off(anna: Player, post: Post) -> None:
    path, _ = await webhook(anna)
    await anna.sent("POST", f"{path}/test")
    post.server.answers = [410]
    await post.carry()
    found = await anna.sent("GET", path)
    assert (found["is_active"], found["disabled_by"]) == (False, "gone")
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
