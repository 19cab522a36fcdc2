"""Reading a request: strictly, within bounds, and with every fault named by its place."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Container, Iterable
from contextlib import suppress
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import msgspec

from api.choices import choices
from api.faults import RequestFault
from api.patterns import KEY, ONE_LINE
from api.problems import Failed, FieldError, Place
from domain.faults import pointer
from services.ids import uuid_of
from services.ports import KeyedRequest

MAX_BODY = 64 * 1024
MAX_DEPTH = 16
MAX_KEY = 128
EXACT = 2**53  # up to which a float holds every integer
THROWN_AWAY, THROWN_AWAY_S = 1 << 20, 1.0  # of a body that is too large
BODY_S = 15.0  # a body comes within this time; less than the connection is given, so that it can be said

T = TypeVar("T")
Headers: TypeAlias = Iterable[tuple[bytes, bytes]]
Receive: TypeAlias = Callable[[], Awaitable[Any]]


def header(headers: Headers, name: bytes) -> str | None:
    """Gives the value of a header that may be given once, by its lower-case name. Errors: Failed for a second one."""
    found: bytes | None = None
    for key, value in headers:
        if key == name:
            if found is not None:
                raise Failed("bad_request", f"The header {name.decode()} is given twice.")
            found = value
    return None if found is None else found.decode("latin-1")


def listing(headers: Headers, name: bytes) -> str | None:
    """Gives the value of a header that is a list, all its lines together."""
    lines = [value.decode("latin-1") for key, value in headers if key == name]
    return ", ".join(lines) if lines else None


def bearer_token(headers: Headers) -> str:
    """Gives the token that a request was sent with; empty where there is none."""
    scheme, _, token = (header(headers, b"authorization") or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def read_body(headers: Headers, receive: Receive) -> bytes:
    """Reads the whole body; one that is larger than allowed, or comes too slowly, closes the connection."""
    announced = header(headers, b"content-length")
    is_too_large = announced is not None and announced.isdigit() and int(announced) > MAX_BODY
    try:
        async with asyncio.timeout(BODY_S):
            body = b"" if is_too_large else await _taken(receive, MAX_BODY)
    except TimeoutError:
        raise Failed("request_timeout", headers={"connection": "close"}) from None
    if is_too_large or len(body) > MAX_BODY:
        if header(headers, b"expect") is None:
            await _throw_away(receive)
        raise Failed("payload_too_large", headers={"connection": "close"})
    return body


async def _taken(receive: Receive, at_most: int) -> bytes:
    """Reads the body to its end, or until it is longer. Errors: Failed where the client leaves before."""
    body, is_more = bytearray(), True
    while is_more and len(body) <= at_most:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Failed("bad_request", "The client left before its request was complete.")
        body += message.get("body", b"")
        is_more = message.get("more_body", False)
    return bytes(body)


async def _throw_away(receive: Receive) -> None:
    """Takes what still comes, for a while: whoever finds the connection closed while sending sees no answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(THROWN_AWAY_S):
            await _taken(receive, THROWN_AWAY)


def decode_body(body: bytes, headers: Headers, decoder: msgspec.json.Decoder[T], *, optional: bool) -> T:
    """Decodes a body of exactly that shape; nothing at all counts as `{}` where the body is optional."""
    if not body and optional:
        return decoder.decode(b"{}")
    if not body:  # whatever it is said to be
        raise invalid("body", "", "missing", "This request needs a body, sent as application/json.")
    media_type = (header(headers, b"content-type") or "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not re.fullmatch(r"application/[\w.-]+\+json", media_type):
        raise Failed("unsupported_media_type")
    if _is_too_deep(body):
        raise invalid("body", "", "too_deep", f"Nested deeper than {MAX_DEPTH} levels.")
    try:
        return _decoded(body, decoder)
    except msgspec.ValidationError as error:
        raise _shape_failure("body", str(error), decoder.type) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Failed("malformed_json") from None


def body_decoder(type_: type[T]) -> msgspec.json.Decoder[T]:
    """Makes a decoder of bodies of this type; numbers without a fraction are integers, also within what has no type."""
    return msgspec.json.Decoder(type_, float_hook=lambda text: _whole(float(text)))


def _decoded(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Decodes a body. JSON and its schemas know one kind of number: `5.0` is the integer 5, and is taken for it."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        if "got `float`" not in str(error):
            raise
    taken: T = msgspec.convert(_whole(msgspec.json.decode(body)), decoder.type)
    return taken


def _whole(value: Any) -> Any:
    """Gives JSON with integers for its numbers without a fraction, as far as a float is exact."""
    if isinstance(value, dict):
        return {key: _whole(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_whole(below) for below in value]
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    return value


def decode_query(query: bytes, type_: type[T]) -> T:
    """Decodes a query string; every parameter at most once, none that the operation does not know."""
    if not query:
        return type_()
    given: dict[str, str] = {}
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name in given:
            raise invalid("query", name, "repeated", "Given more than once.")
        if not _ONE_LINE.fullmatch(value):  # and no database takes a zero
            raise invalid("query", name, "invalid_value", "Control characters are not allowed.")
        given[name] = value
    try:
        return msgspec.convert(given, type_, strict=False)
    except msgspec.ValidationError as error:
        raise _shape_failure("query", str(error), type_) from None


def names_in(query: bytes) -> set[str]:
    """Gives the names of the parameters in a query string, however they are spelled there."""
    return {name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)} if query else set()


def keyed_request(
    headers: Headers, operation: str, principal: str, method: str, path: str, body: bytes
) -> KeyedRequest:
    """Names a request that may be repeated, by its Idempotency-Key."""
    key = (header(headers, b"idempotency-key") or "").strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if len(key) > MAX_KEY or not _KEY.fullmatch(key):
        raise Failed("idempotency_key_required")
    fingerprint = sha256(b"\n".join((method.encode(), path.encode(), body))).digest()
    return KeyedRequest(principal, operation, key, fingerprint)


_KEY = re.compile(KEY)
_ONE_LINE = re.compile(ONE_LINE)


class AnyVersion:
    """What `*` stands for."""

    def __contains__(self, _: object) -> bool:
        return True


def made_for(headers: Headers) -> Container[int] | None:
    """Gives the versions of a game that a request was made for, by its If-Match; None where there is no such header.

    A weak tag matches none, nor does what is no tag of a version. Source: RFC 9110, 13.1.1.
    """
    return _versions(listing(headers, b"if-match"), _TAG)


def has_already(headers: Headers, version: int) -> bool:
    """Tells whether the client has this version of what it asks for, by its If-None-Match; a weak tag is as good."""
    return version in (_versions(listing(headers, b"if-none-match"), _WEAK_TAG) or ())


def _versions(tags: str | None, tag: re.Pattern[str]) -> Container[int] | None:
    if tags is None:
        return None
    if tags.strip() == "*":
        return AnyVersion()
    return {int(found[1]) for each in tags.split(",") if (found := tag.fullmatch(each.strip()))}


_TAG = re.compile(r'"v([1-9][0-9]{0,8})"', re.ASCII)
_WEAK_TAG = re.compile(rf"(?:W/)?{_TAG.pattern}", re.ASCII)


def etag(version: int) -> str:
    """Writes a version as an entity tag."""
    return f'"v{version}"'


def prefers_representation(headers: Headers) -> bool:
    """Tells whether the answer of a move shall hold the view after it."""
    wishes = (listing(headers, b"prefer") or "").replace(";", ",").split(",")
    return "return=representation" in (wish.replace(" ", "").lower() for wish in wishes)


def invalid(place: Place, pointer: str, code: RequestFault, detail: str) -> Failed:
    """Builds the problem of a request with one fault."""
    return Failed("invalid_request", detail, errors=(FieldError(place, pointer, code, detail),))


def beyond_head(place: Place, pointer: str, head: int) -> Failed:
    """Builds the problem of a version that the game has not reached. head: the last one that the caller sees."""
    detail = f"The game is at version {head} and has not come so far."
    errors = (FieldError(place, pointer, "beyond_head", detail),)
    return Failed("invalid_request", detail, errors=errors, current_version=head)


def cursor_of(given: str | None, prefix: str) -> str | None:
    """Gives the cursor of a list whose cursors are ids. Errors: Failed for what is no such id."""
    if given is not None and uuid_of(prefix, given) is None:
        raise strange_cursor()
    return given


def strange_cursor() -> Failed:
    """Builds the problem of a cursor that the list has not given."""
    return invalid("query", "cursor", "invalid_value", "This cursor was not given by this list.")


def _shape_failure(place: Place, message: str, type_: Any) -> Failed:
    """Turns msgspec's "Expected `int`, got `str` - at `$.seats[0].level`" into a fault with its place."""
    detail, _, where = message.partition(" - at `$")
    at = where.rstrip("`").replace(".", "/").replace("[", "/").replace("]", "")
    named = re.search(r"(?:unknown|missing required) field `(.*)`", detail)
    at = pointer(at, named[1]) if named else at
    code: RequestFault = (
        "unknown_field" if "unknown field" in detail else "missing" if "missing" in detail else "invalid_value"
    )
    if code == "unknown_field" and place == "query" and named:
        detail = f"There is no parameter `{named[1]}` here"
    if (known := choices(type_, at)) and detail.startswith("Invalid "):
        detail = f"{detail}; known are {', '.join(known)}"
    if place != "body":
        at = named[1] if named else at.removeprefix("/")
    return invalid(place, at, code, f"{detail}.")


def _is_too_deep(body: bytes) -> bool:
    if body.count(b"{") + body.count(b"[") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", body)):
        depth += 1 if bracket in b"{[" else -1
        if depth > MAX_DEPTH:
            return True
    return False


_STRINGS = re.compile(rb'"(?:[^"\\]|\\.?)*+(?:"|\Z)', re.DOTALL)  # an unclosed one too, so that it stays linear
_BRACKETS = re.compile(rb"[\[\]{}]")
