"""A player's webhooks: made, looked after, tried."""

from api.calls import Answer, Call, EmptyBody, NoQuery
from api.faults import RequestFault
from api.house import House
from api.limits import refuse_beyond
from api.paths import delivery_id_of, webhook_id_of
from api.problems import Failed
from api.requests import cursor_of, invalid
from api.texts import fit_note
from api.webhook_shapes import (
    DeliveriesQuery,
    DeliveryBody,
    DeliveryPage,
    NewWebhookRequest,
    WebhookBody,
    WebhookChangeRequest,
    WebhookList,
    WebhookWithSecret,
)
from services import webhooks
from services.ids import new_uuid, public_id, uuid_of
from services.paging import page_of
from services.ports import Principal
from services.rendering import timestamp, timestamp_if_any
from services.webhooks import Delivery, NewWebhook, NotOfTheInternet, UrlRefused, Webhook, WebhookChange


async def create_webhook(house: House, call: Call[NoQuery, NewWebhookRequest]) -> Answer[WebhookWithSecret]:
    """Makes a webhook: what happens in the caller's games from now on is sent to an address of their own.

    Messages of type `game.…` are the events of games where the caller has a seat, as that seat sees them;
    `decision.opened` tells that something is asked of the caller. They are signed as Standard Webhooks wants it, with
    the secret that is shown this once; so the request has no Idempotency-Key: where the answer was lost, the list tells
    which one to delete. A webhook is the player's: it stays when the token that has made it is revoked, and is switched
    off when an operator ends all tokens of the player.
    """
    body = call.body
    _refuse_bad_url(house, body.url)
    if body.game_id is not None and uuid_of("gam", body.game_id) is None:
        raise invalid("body", "/game_id", "invalid_value", "This is no game's id.")
    new = NewWebhook(
        public_id("whk", new_uuid()),
        call.caller.player_id,
        body.url,
        tuple(dict.fromkeys(body.types)),
        body.game_id,
        fit_note(body.description, "/description"),
        call.caller.token_id,
    )
    try:
        kept, secret = await webhooks.add_webhook(house.webhooks, new)
    except webhooks.TooManyWebhooks:
        await _refuse_ended(house, call.caller)
        raise
    return Answer(WebhookWithSecret(_shown(kept), secret), {"location": f"/v1/me/webhooks/{kept.webhook_id}"})


async def list_webhooks(house: House, call: Call[NoQuery, None]) -> Answer[WebhookList]:
    """Lists the caller's webhooks. Their secrets are never shown again."""
    kept = await house.webhooks.owned(call.caller.player_id)
    return Answer(WebhookList(tuple(map(_shown, kept))))


async def get_webhook(house: House, call: Call[NoQuery, None]) -> Answer[WebhookBody]:
    """Shows one of the caller's webhooks."""
    return Answer(_shown(await webhooks.own_webhook(house.webhooks, call.caller.player_id, webhook_id_of(call.path))))


async def update_webhook(house: House, call: Call[NoQuery, WebhookChangeRequest]) -> Answer[WebhookBody]:
    """Changes a webhook, or switches it off and on again.

    What waits is sent when it is switched on again; what happens while it is off is not. Switching on counts as a test.
    """
    body = call.body
    if body.is_active:
        await _count_try(house, call.caller)
    if body.url is not None:
        _refuse_bad_url(house, body.url)
    types = None if body.types is None else tuple(dict.fromkeys(body.types))
    description = None if body.description is None else fit_note(body.description, "/description")
    change = WebhookChange(body.url, types, description, body.is_active, call.caller.token_id)
    kept = await house.webhooks.change(call.caller.player_id, webhook_id_of(call.path), change)
    if kept is None:
        await _refuse_ended(house, call.caller)
        raise Failed("webhook_not_found")
    return Answer(_shown(kept))


async def delete_webhook(house: House, call: Call[NoQuery, None]) -> Answer[None]:
    """Removes a webhook; nothing more is sent to it, but for what is under way."""
    if not await house.webhooks.remove(call.caller.player_id, webhook_id_of(call.path)):
        raise Failed("webhook_not_found")
    return Answer(None)


async def rotate_webhook_secret(house: House, call: Call[NoQuery, EmptyBody]) -> Answer[WebhookWithSecret]:
    """Gives a webhook another secret, which is shown this once.

    For 24 hours the one before signs too: the header webhook-signature then has two signatures.
    """
    caller, webhook_id = call.caller, webhook_id_of(call.path)
    try:
        kept, secret = await webhooks.rotate_secret(house.webhooks, caller.player_id, webhook_id, caller.token_id)
    except webhooks.WebhookNotFound:
        await _refuse_ended(house, caller)
        raise
    return Answer(WebhookWithSecret(_shown(kept), secret))


async def test_webhook(house: House, call: Call[NoQuery, EmptyBody]) -> Answer[DeliveryBody]:
    """Sends a message of type `webhook.ping` within a second or two; the list of deliveries tells how it went.

    A player may test, redeliver and switch webhooks on only so often a minute; see `/v1/meta`.
    """
    await _count_try(house, call.caller)
    return Answer(_told(await webhooks.ping(house.webhooks, call.caller.player_id, webhook_id_of(call.path))))


async def list_deliveries(house: House, call: Call[DeliveriesQuery, None]) -> Answer[DeliveryPage]:
    """Lists what was sent to a webhook, or is to be, in the last seven days; what it said is not kept."""
    kept = await webhooks.own_webhook(house.webhooks, call.caller.player_id, webhook_id_of(call.path))
    before, limit = cursor_of(call.query.cursor, "msg"), call.query.limit
    found = await house.webhooks.deliveries(kept.webhook_id, before, limit + 1)
    page, cursor = page_of(found, limit, lambda delivery: delivery.delivery_id)
    return Answer(DeliveryPage(tuple(map(_told, page)), cursor))


async def redeliver(house: House, call: Call[NoQuery, EmptyBody]) -> Answer[DeliveryBody]:
    """Sends a delivery again, whatever became of it, under the same id, as the caller may see it by now.

    It counts as a test.
    """
    await _count_try(house, call.caller)
    player_id, webhook_id = call.caller.player_id, webhook_id_of(call.path)
    await webhooks.own_webhook(house.webhooks, player_id, webhook_id)
    found = await webhooks.send_again(house.webhooks, player_id, webhook_id, delivery_id_of(call.path))
    if found is None:
        raise Failed("delivery_not_found")
    return Answer(_told(found))


async def _count_try(house: House, caller: Principal) -> None:
    """Counts what has something sent to an address of the player's choice, whichever token asks for it."""
    await refuse_beyond(house.limits["webhook_tries"], "webhook_tries", caller.player_id)


async def _refuse_ended(house: House, caller: Principal) -> None:
    """Refuses a token that was ended a moment ago, and that this process has known still."""
    if not await house.accounts.living([caller.token_id]):
        raise Failed("unauthenticated")


def _refuse_bad_url(house: House, url: str) -> None:
    try:
        webhooks.read_target(url, is_anywhere=house.sends_anywhere)
    except UrlRefused as refused:
        code: RequestFault = "address_refused" if isinstance(refused, NotOfTheInternet) else "invalid_value"
        raise invalid("body", "/url", code, str(refused)) from None


def _shown(kept: Webhook) -> WebhookBody:
    return WebhookBody(
        webhook_id=kept.webhook_id,
        url=kept.url,
        types=kept.types,
        game_id=kept.game_id,
        description=kept.description,
        is_active=kept.disabled is None,
        disabled_by=kept.disabled,
        failing_since=timestamp_if_any(kept.failing_since),
        old_secret_until=timestamp_if_any(kept.old_secret_until),
        created_at=timestamp(kept.created_at),
    )


def _told(delivery: Delivery) -> DeliveryBody:
    return DeliveryBody(
        delivery_id=delivery.delivery_id,
        type=delivery.type,
        game_id=delivery.game_id,
        version=delivery.version,
        state=delivery.state,
        attempts=delivery.attempts,
        response_status=delivery.status,
        fault=delivery.fault,
        created_at=timestamp(delivery.created_at),
        attempted_at=timestamp_if_any(delivery.attempted_at),
        next_attempt_at=timestamp(delivery.due_at) if delivery.state == "waiting" else None,
    )
