"""Several webhooks of one player at one host: while it cannot be reached one of them tries for all."""

import asyncio

import pytest

from services.delivering import Failed, Sent
from services.webhooks import Fault, Webhook, WebhookChange, host_of
from tests.appends import new_game
from tests.contract.conftest import World
from tests.contract.hooks import SECRET, claim, kept, new, player, told

HOST = "https://dead.example"
UNREACHED = Failed(None, "unreachable", 0.0)


async def at(world: World, player_id: str, *urls: str) -> list[Webhook]:
    """Makes a webhook for each address, with something to be sent to it."""
    made = [await world.webhooks.add(new(player_id, url), SECRET, 50) for url in urls]
    found = [each for each in made if each is not None]
    assert len(found) == len(urls)
    for each in found:
        await told(world, each, new_game(), 1)
        await told(world, each, new_game(), 1)
    return found


async def are_due(world: World, webhooks: list[Webhook]) -> list[bool]:
    due = set(await world.announced.due(1_000))
    return [each.webhook_id in due for each in webhooks]


@pytest.mark.parametrize("fault", ["unreachable", "no_public_address", "tls"])
async def test_all_at_a_host_that_is_not_reached_rest_and_no_others(world: World, fault: Fault) -> None:
    anna, boris = await player(world), await player(world)
    own = await at(world, anna, f"{HOST}/a", "HTTPS://DEAD.example?b", HOST, f"{HOST}:444/", "https://alive.example/")
    others = await at(world, boris, f"{HOST}/c")
    [one, _] = await claim(world, own[0])
    await world.deliveries.settle(one, Failed(None, fault, 0.0))
    assert await are_due(world, own) == [False, False, False, True, True]
    assert await claim(world, own[1]) == []
    assert await are_due(world, others) == [True]
    attempts = [each.attempts for each in await world.webhooks.deliveries(own[1].webhook_id, None, 9)]
    assert attempts == [0, 0]


async def test_the_rest_ends_with_whatever_the_host_answers(world: World) -> None:
    answers = Sent(200), Failed(500, "refused", 0.0), Failed(None, "timeout", 0.0), Failed(None, "bad_answer", 0.0)
    for outcome in answers:
        own = await at(world, await player(world), f"{HOST}/a", f"{HOST}/b")
        one, other = await claim(world, own[0])
        await world.deliveries.settle(one, UNREACHED)
        assert await are_due(world, own) == [False, False]
        await world.deliveries.settle(other, outcome)
        assert (await are_due(world, own))[1]
        assert len(await claim(world, own[1])) == 2


@pytest.mark.parametrize("failed", [(500, "refused"), (None, "timeout"), (None, "bad_answer")])
async def test_a_host_that_answers_badly_or_late_at_one_address_keeps_the_others_busy(
    world: World, failed: tuple[int | None, Fault]
) -> None:
    own = await at(world, await player(world), f"{HOST}/a", f"{HOST}/b")
    [one, _] = await claim(world, own[0])
    await world.deliveries.settle(one, Failed(*failed, 0.0))
    assert await are_due(world, own) == [False, True]


@pytest.mark.parametrize("change", [WebhookChange(is_active=True), WebhookChange(url="https://alive.example/")])
async def test_a_webhook_that_is_switched_on_or_sent_elsewhere_rests_no_longer(
    world: World, change: WebhookChange
) -> None:
    own = await at(world, await player(world), f"{HOST}/a", f"{HOST}/b")
    [one, _] = await claim(world, own[0])
    await world.deliveries.settle(one, UNREACHED)
    await world.webhooks.change(own[1].player_id, own[1].webhook_id, change)
    assert await are_due(world, own) == [False, True]


async def test_webhooks_at_one_host_are_settled_at_once(world: World) -> None:
    """Each has the others rest: none waits for another one in turn."""
    own = await at(world, await player(world), *(f"{HOST}/{number}" for number in range(10)))
    for outcome in (UNREACHED, Sent(200), UNREACHED):
        claimed = [(await claim(world, each))[0] for each in own]
        await asyncio.gather(*(world.deliveries.settle(each, outcome) for each in claimed))
        for each in own:
            await world.webhooks.change(each.player_id, each.webhook_id, WebhookChange(is_active=True))
        for each in own:
            await told(world, each, new_game(), 1)


async def test_one_webhook_tries_for_all_that_rest(world: World) -> None:
    made = await kept(world)
    own = await at(world, made.player_id, f"{HOST}/a", f"{HOST}/b")
    for first, second in (own, own[::-1]):
        one, _ = await claim(world, first)
        await world.deliveries.settle(one, UNREACHED)
        await world.webhooks.change(
            first.player_id, first.webhook_id, WebhookChange(is_active=True)
        )  # its pause is over
        assert await are_due(world, [first, second]) == [True, False]
        await world.webhooks.change(second.player_id, second.webhook_id, WebhookChange(is_active=True))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://a.example", "a.example"),
        ("HTTPS://A.example:443?x=//b/", "a.example:443"),
        ("http://[::1]:9/", "[::1]:9"),
    ],
)
def test_what_fails_together_is_a_host_and_its_port_as_they_are_written(url: str, host: str) -> None:
    assert host_of(url) == host
