"""What a handler is given and what it gives back; the types say what an operation needs: caller, key, query, body."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct, field

from api.house import House
from api.requests import Headers
from services.ports import KeyedRequest, Principal

Query = TypeVar("Query")
Body = TypeVar("Body")
Shown_co = TypeVar("Shown_co", covariant=True)


class NoQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """No query parameters."""


class EmptyBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing, or an empty object."""


class OpenCall(Struct, Generic[Query, Body], frozen=True, kw_only=True):
    """A request that anybody may send. address: where it comes from."""

    path: Mapping[str, str]
    query: Query
    body: Body
    headers: Headers
    address: str


class Call(OpenCall[Query, Body], Generic[Query, Body], frozen=True, kw_only=True):
    """A request with a bearer token."""

    caller: Principal


class KeyedCall(Call[Query, Body], Generic[Query, Body], frozen=True, kw_only=True):
    """A request that its sender may repeat under its Idempotency-Key."""

    request: KeyedRequest


class Answer(Struct, Generic[Shown_co], frozen=True):
    """What is answered. status: instead of the operation's own."""

    shown: Shown_co
    headers: dict[str, str] = field(default_factory=dict)
    status: int | None = None


class Text(Struct, frozen=True):
    """A document that is not JSON of this API's own shapes."""

    content: bytes
    media_type: str


Handler: TypeAlias = Callable[[House, Any], Awaitable[Answer[Any]]]
