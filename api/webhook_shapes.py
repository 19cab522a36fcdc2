"""Bodies of webhooks and their deliveries."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from api.patterns import ONE_LINE, URL, cursor_like, id_pattern, looks
from services.delivering import DecisionsMessage, EventMessage, PingMessage
from services.webhooks import TYPES, URL_CHARACTERS, DeliveryState, Disabled, Fault

if TYPE_CHECKING:
    MessageType: TypeAlias = str
else:
    MessageType = Literal[TYPES]

MESSAGES: dict[str, type[Struct]] = {
    "gameEvent": EventMessage,
    "decisionsOpened": DecisionsMessage,
    "webhookPing": PingMessage,
}
"""What is sent to webhooks, by the names that the documents give it."""
MESSAGE_HEADERS = {
    "webhook-id": "the delivery's id, the same each time that it is sent",
    "webhook-timestamp": "when it was sent, in seconds since 1970",
    "webhook-signature": "`v1,` and the base64 of HMAC-SHA256 over id, timestamp and body, joined by full stops; for 24"
    " hours after a change of the secret two of these, with a space between",
}
MAX_DESCRIPTION = 100
DELIVERIES_AT_MOST = 100
Url: TypeAlias = Annotated[
    str, Meta(max_length=URL_CHARACTERS, description="https, port 443, of the public internet"), looks(pattern=URL)
]
Types: TypeAlias = Annotated[
    tuple[MessageType, ...], Meta(max_length=len(TYPES), description="which messages are wanted; none named: all")
]
Description: TypeAlias = Annotated[str, Meta(max_length=MAX_DESCRIPTION), looks(pattern=ONE_LINE)]


class NewWebhookRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A webhook to be made. description: for the player's own list."""

    url: Url
    types: Types = ()
    game_id: Annotated[
        str | None,
        Meta(description="messages of this game only; null: of all the player's games"),
        looks(pattern=id_pattern("gam")),
    ] = None
    description: Description = ""


class WebhookChangeRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a webhook; what is absent or null stays as it is. is_active: switches it off, or on again."""

    url: Url | None = None
    types: Types | None = None
    description: Description | None = None
    is_active: bool | None = None


class WebhookBody(Struct, frozen=True):
    """A webhook, but for its secret. types: none named: all; game_id: null for all the player's games.

    disabled_by: `owner`, or what has switched it off: the answer 410 (`gone`), three days without a success
    (`failing`), too many waiting messages (`behind`), an operator who has ended all tokens of the player (`revoked`):
    somebody else may have made it, so look at its url before switching it on again. failing_since: the first failed
    attempt after the last success.
    old_secret_until: while the secret before the present one signs too.
    """

    webhook_id: str
    url: str
    types: tuple[str, ...]
    game_id: str | None
    description: str
    is_active: bool
    disabled_by: Disabled | None
    failing_since: str | None
    old_secret_until: str | None
    created_at: str


class WebhookWithSecret(Struct, frozen=True):
    """A webhook and the secret that its messages are signed with, which is shown this once."""

    webhook: WebhookBody
    secret: str


class WebhookList(Struct, frozen=True):
    """The caller's webhooks, the oldest first."""

    items: tuple[WebhookBody, ...]


class DeliveryBody(Struct, frozen=True):
    """A message to a webhook; its id is sent as `webhook-id`. What was sent is not kept.

    state: `dropped` was not sent, as its owner may not see it any more, or has answered all that it asks. attempts: how
    often it was sent; response_status: of the last answer; fault: why the last attempt failed, `no_public_address`
    whatever is wrong with the name. next_attempt_at: while it is waiting; earlier ones of its game, or the webhook
    after failures, may hold it up longer.
    """

    delivery_id: str
    type: str
    game_id: str | None
    version: int | None
    state: DeliveryState
    attempts: int
    response_status: int | None
    fault: Fault | None
    created_at: str
    attempted_at: str | None
    next_attempt_at: str | None


class DeliveryPage(Struct, frozen=True):
    """Deliveries of the last seven days, the newest first."""

    items: tuple[DeliveryBody, ...]
    next_cursor: str | None


class DeliveriesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which deliveries to list."""

    cursor: Annotated[str | None, cursor_like(id_pattern("msg"))] = None
    limit: Annotated[int, Meta(ge=1, le=DELIVERIES_AT_MOST)] = 20
