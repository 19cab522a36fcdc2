"""Addresses of a player's own."""

from api import webhooks
from api.operation import Operation

_HOOK = "/v1/me/webhooks/{webhook_id}"

WEBHOOKS: tuple[Operation, ...] = (
    Operation(
        id="createWebhook", tag="Webhooks", method="POST", path="/v1/me/webhooks", handler=webhooks.create_webhook,
        scope="play", status=201, headers=("Location",), problems=("too_many_webhooks",),
    ),
    Operation(
        id="listWebhooks", tag="Webhooks", method="GET", path="/v1/me/webhooks", handler=webhooks.list_webhooks,
        scope="play",
    ),
    Operation(
        id="getWebhook", tag="Webhooks", method="GET", path=_HOOK, handler=webhooks.get_webhook, scope="play",
        problems=("webhook_not_found",),
    ),
    Operation(
        id="updateWebhook", tag="Webhooks", method="PATCH", path=_HOOK, handler=webhooks.update_webhook, scope="play",
        problems=("webhook_not_found",),
    ),
    Operation(
        id="deleteWebhook", tag="Webhooks", method="DELETE", path=_HOOK, handler=webhooks.delete_webhook, scope="play",
        status=204, problems=("webhook_not_found",),
    ),
    Operation(
        id="rotateWebhookSecret", tag="Webhooks", method="POST", path=f"{_HOOK}/rotate",
        handler=webhooks.rotate_webhook_secret, scope="play", problems=("webhook_not_found",),
    ),
    Operation(
        id="testWebhook", tag="Webhooks", method="POST", path=f"{_HOOK}/test", handler=webhooks.test_webhook,
        scope="play", status=202, problems=("webhook_not_found", "webhook_disabled"),
    ),
    Operation(
        id="listDeliveries", tag="Webhooks", method="GET", path=f"{_HOOK}/deliveries",
        handler=webhooks.list_deliveries, scope="play", problems=("webhook_not_found",),
    ),
    Operation(
        id="redeliver", tag="Webhooks", method="POST", path=f"{_HOOK}/deliveries/{{delivery_id}}/redeliver",
        handler=webhooks.redeliver, scope="play", status=202,
        problems=("webhook_not_found", "delivery_not_found", "webhook_disabled"),
    ),
)  # fmt: skip
