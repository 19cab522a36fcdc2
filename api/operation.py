"""What an operation of the API is: a row of the table in operations/.

What a handler's types say is not said again: the class of its call tells whether a token and an Idempotency-Key are
needed and which query and body are read, its answer tells what is shown, its docstring describes it.
"""

import inspect
from datetime import UTC, date, datetime, time
from email.utils import formatdate
from types import NoneType
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from api.calls import Call, Handler, KeyedCall
from services.identity import Scope
from services.limits import Policy

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Tag: TypeAlias = Literal["Players", "Games", "Play", "Log", "Webhooks", "Admin", "Reference", "Health"]

TAGS: dict[Tag, str] = {
    "Players": "Who plays. A guest gets a bearer token that speaks for them.",
    "Games": "Opening games, finding them, sitting down, starting.",
    "Play": "At the table: what one sees, what one is asked, what one answers.",
    "Log": "Everything that happened in a game, page by page or as a stream.",
    "Webhooks": "Addresses of a player's own, to which what happens in their games is sent. See Standard Webhooks.",
    "Admin": "Looking into games and players and mending them, with a token of the scope `operate`.",
    "Reference": "What this server knows: rulesets, bots, problems, bounds, this document.",
    "Health": "For those who run the server.",
}

GAME = "/v1/games/{game_id}"
REPEATED = ("ETag", "Idempotency-Replayed")
WATCHED = ("game_not_found", "not_seated")
WRITING = ("busy", "overloaded")


class Deprecated(Struct, frozen=True, kw_only=True):
    """Says that an operation is going. since: from when on it is not to be used; ends: when it is taken away, if that
    is known; more: where its successor is described. Errors: ValueError for an end before the beginning.
    """

    since: date
    ends: date | None = None
    more: str = "/docs"

    def __post_init__(self) -> None:
        if self.ends is not None and self.ends < self.since:
            raise ValueError("an operation ends after it is deprecated")

    @property
    def headers(self) -> dict[str, str]:
        """What each answer says of it. Source: RFC 9745, RFC 8594."""
        told = {
            "deprecation": f"@{_midnight(self.since):.0f}",
            "link": f'<{self.more}>; rel="deprecation"',
        }
        if self.ends is not None:
            told["sunset"] = formatdate(_midnight(self.ends), usegmt=True)
        return told


def _midnight(day: date) -> float:
    return datetime.combine(day, time(), UTC).timestamp()


class Operation(Struct, frozen=True, kw_only=True):
    """One operation. status: of success; headers: of that answer; also: other answers that are no problems.

    media_types: of a Text that is answered, one of them. policy: instead of the one that goes with the method. costly:
    weighs as many reads as /v1/meta says, or does so with this query parameter.
    """

    id: str
    tag: Tag
    method: Method
    path: str
    handler: Handler
    status: int = 200
    scope: Scope | None = None
    policy: Policy | None = None
    costly: bool | str = False
    headers: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    also: tuple[int, ...] = ()
    media_types: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    is_listed: bool = True
    deprecated: Deprecated | None = None

    @property
    def types(self) -> "Types":
        """What the handler's annotations say: of the house, the call, and the answer."""
        _, call_type, answer = get_type_hints(self.handler).values()
        call = get_origin(call_type)
        query, body = get_args(call_type)
        shown = tuple(type_ for type_ in _members(get_args(answer)[0]) if type_ is not NoneType)
        return Types(
            query=query,
            body=None if body is NoneType else body,
            shown=shown[0] if shown else None,
            has_caller=issubclass(call, Call),
            is_keyed=issubclass(call, KeyedCall),
            takes_ticket="ticket" in query.__struct_fields__,
        )

    @property
    def limited_by(self) -> Policy | None:
        """Which quota a request is counted against; none for the server's health, which must always be told."""
        if self.policy is not None:
            return self.policy
        if not self.types.has_caller:
            return None if self.tag == "Health" else "strangers"
        return "reads" if self.method == "GET" else "moves"

    @property
    def problem_codes(self) -> tuple[str, ...]:
        """Every problem that the operation may answer, its own and those that go with its types."""
        types = self.types
        body = ("malformed_json", "payload_too_large", "unsupported_media_type", "request_timeout")
        return (
            "invalid_request",  # an unknown parameter at least
            *(body if types.body else ()),
            *(("idempotency_key_required", "idempotency_key_reused") if types.is_keyed else ()),
            *(("unauthenticated", "insufficient_scope") if types.has_caller else ()),
            *(("rate_limited",) if self.limited_by else ()),
            *self.problems,
            *(("unavailable",) if types.has_caller or types.body else ()),
            "internal_error",
        )

    @property
    def description(self) -> str:
        """The handler's docstring."""
        return inspect.getdoc(self.handler) or ""


class Types(Struct, frozen=True):
    """The types of an operation's parts. body: None where none is read; shown: None where there is nothing to show."""

    query: type[Any]
    body: type[Any] | None
    shown: Any
    has_caller: bool
    is_keyed: bool
    takes_ticket: bool

    @property
    def is_body_optional(self) -> bool:
        """Tells whether nothing at all may be sent."""
        return self.body is not None and not any(field.required for field in fields(self.body))


def _members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if NoneType in get_args(annotation) else (annotation,)
