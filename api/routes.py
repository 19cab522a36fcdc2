"""From the table of operations to the routes of the framework."""

import logging
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

from litestar import Litestar, Request
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.types import Method

from api.calls import Call, KeyedCall, OpenCall
from api.house import House
from api.limits import neighbourhood, refuse_beyond
from api.operation import Operation, Types
from api.operations import OPERATIONS
from api.problems import Failed, failure_of
from api.replies import Reply, problem_reply, reply, request_id
from api.requests import (
    Headers,
    bearer_token,
    body_decoder,
    decode_body,
    decode_query,
    keyed_request,
    names_in,
    read_body,
)
from api.stream_tickets import ticket_holder
from domain.refusals import Refused
from services.identity import is_allowed
from services.limits import Policy
from services.outcomes import OtherVersion
from services.ports import Principal, Unavailable

Read: TypeAlias = Callable[[bytes, Headers], Any]

_log = logging.getLogger(__name__)

_STATUSES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "payload_too_large"}


def application(house: House) -> Litestar:
    """Builds the API on its house."""
    return Litestar(
        route_handlers=[
            # OPTIONS first: the framework makes its own for a path that has none yet.
            *(_options(path) for path in dict.fromkeys(operation.path for operation in OPERATIONS)),
            *(_route(house, operation) for operation in OPERATIONS),
        ],
        exception_handlers={Exception: _on_exception},
        openapi_config=None,
        logging_config=None,
    )


def _route(house: House, operation: Operation) -> HTTPRouteHandler:
    types, handler, policy = operation.types, operation.handler, operation.limited_by
    read = (
        partial(decode_body, decoder=body_decoder(types.body), optional=types.is_body_optional) if types.body else None
    )

    going = operation.deprecated.headers if operation.deprecated else {}

    async def endpoint(request: Request[Any, Any, Any]) -> Reply:
        quota: dict[str, str] = {}
        request.scope["operation"] = operation  # type: ignore[typeddict-unknown-key]  # for the note of it
        try:
            if _is_spelled_otherwise(request.scope):
                raise Failed("not_found")
            caller = None
            if types.has_caller:
                token = bearer_token(request.scope["headers"])
                if not house.callers.has_met(token):
                    quota = await _counted_stranger(house, request.scope)
                caller = await _caller(house, operation, types, request.scope, token)
            if policy is not None:
                quota = await _counted(house, operation, policy, request.scope, caller)
            call = await _call(operation, types, read, request, caller)
            answer = await handler(house, call)
            request.scope["move_id"] = getattr(answer.shown, "move_id", None)  # type: ignore[typeddict-unknown-key]
            answered = reply(answer, operation.status)
            if caller is not None and (game_id := request.scope["path_params"].get("game_id")) is not None:
                house.at_tables.sign(game_id, caller.player_id)
        except Exception as error:  # noqa: BLE001 - whatever went wrong is answered as a problem
            answered = await _failed(house, request, error)
        answered.headers = quota | going | answered.headers
        return answered

    methods: list[Method] = ["GET", "HEAD"] if operation.method == "GET" else [operation.method]
    path = _framework_path(operation.path)
    # The reply has its own status; this one only has to be one that may have a body.
    return HTTPRouteHandler(path, http_method=methods, name=operation.id, status_code=200)(endpoint)


def _options(path: str) -> HTTPRouteHandler:
    async def endpoint(request: Request[Any, Any, Any]) -> Reply:
        if _is_spelled_otherwise(request.scope):
            return problem_reply(Failed("not_found"), request.scope)
        return Reply(204, {"allow": ", ".join(_allowed(request.scope["path"]))}, b"")

    return HTTPRouteHandler(_framework_path(path), http_method="OPTIONS", status_code=200)(endpoint)


def _framework_path(path: str) -> str:
    return re.sub(r"\{(\w+)\}", r"{\1:str}", path)


def _is_spelled_otherwise(scope: Any) -> bool:
    """Tells of paths that a proxy's rules and the framework may read in two ways, or that end in a slash; and of the
    zero, which no name has.
    """
    written: bytes = scope["raw_path"].lower()
    ends_in_slash = written.endswith(b"/") and written != b"/"
    return ends_in_slash or b"//" in written or b"%2f" in written or b"%00" in written


async def _counted(
    house: House, operation: Operation, policy: Policy, scope: Any, caller: Principal | None
) -> dict[str, str]:
    """Counts a request for its token, or where it needs none for its address; gives the RateLimit headers."""
    costly = operation.costly
    is_costly = costly in names_in(scope["query_string"]) if isinstance(costly, str) else costly
    subject = neighbourhood(_address(scope)) if caller is None else caller.token_id
    return await refuse_beyond(house.limits[policy], policy, subject, house.quotas.costly_read if is_costly else 1)


async def _counted_stranger(house: House, scope: Any) -> dict[str, str]:
    """Counts a request whose token is not known here, for its address, before anybody looks the token up."""
    return await refuse_beyond(house.limits["strangers"], "strangers", neighbourhood(_address(scope)))


def _address(scope: Any) -> str:
    client = scope["client"]
    return client[0] if client else ""


async def _call(
    operation: Operation, types: Types, read: Read | None, request: Request[Any, Any, Any], caller: Principal | None
) -> OpenCall[Any, Any]:
    """Reads a request in the order in which it can fail: what, how."""
    scope = request.scope
    headers = scope["headers"]
    raw = b"" if read is None else await read_body(headers, request.receive)
    body = None if read is None else read(raw, headers)
    parts: dict[str, Any] = {
        "path": scope["path_params"],
        "query": decode_query(scope["query_string"], types.query),
        "body": body,
        "headers": headers,
        "address": _address(scope),
    }
    if caller is None:
        return OpenCall(**parts)
    if not types.is_keyed:
        return Call(**parts, caller=caller)
    keyed = keyed_request(headers, operation.id, caller.player_id, operation.method, scope["path"], raw)
    return KeyedCall(**parts, caller=caller, request=keyed)


async def _caller(house: House, operation: Operation, types: Types, asgi: Any, token: str) -> Principal:
    caller, by_ticket = await house.callers.find(token), ""
    if caller is None and not token and types.takes_ticket and b"ticket=" in asgi["query_string"]:
        caller = await ticket_holder(house, asgi["path_params"], decode_query(asgi["query_string"], types.query))
        by_ticket = _NO_SUCH_TICKET
    if caller is None:
        raise Failed("unauthenticated", by_ticket)
    asgi["caller"] = caller
    if operation.scope is not None and not is_allowed(caller, operation.scope):
        raise Failed("insufficient_scope", f"This needs a token with the scope {operation.scope}.")
    return caller


_NO_SUCH_TICKET = (
    "The ticket is unknown or over, was not used in time, belongs to another stream (its url has to be used as it was"
    " given), or its token lives no more."
)


async def _failed(house: House, request: Request[Any, Any, Any], error: Exception) -> Reply:
    """Answers a failure, with the game's version where it has to do with the refusal."""
    failure = failure_of(error)
    if failure.code == "internal_error":
        _log_failure(request, error)
    version = failure.current_version
    game_id = request.scope["path_params"].get("game_id")
    if isinstance(error, Refused | OtherVersion) and game_id is not None:
        with suppress(Unavailable):
            version = (await house.tables.fresh(game_id)).version
    return problem_reply(failure, request.scope, version)


def _log_failure(request: Request[Any, Any, Any], error: Exception) -> None:
    """Logs what failed and why; never path, headers or body, which hold codes, tokens and cards."""
    _log.error("request %s failed", request_id(request.scope), exc_info=error)


def _on_exception(request: Request[Any, Any, Any], error: Exception) -> Reply:
    """Answers what the framework found before any endpoint: an unknown path, another method, a strange Host."""
    if not isinstance(error, HTTPException) or error.status_code not in _STATUSES:
        _log_failure(request, error)
        return problem_reply(Failed("internal_error"), request.scope)
    code = "not_found" if _is_spelled_otherwise(request.scope) else _STATUSES[error.status_code]
    headers = {"allow": ", ".join(_allowed(request.scope["path"]))} if code == "method_not_allowed" else None
    return problem_reply(Failed(code, headers=headers), request.scope)


def _allowed(path: str) -> list[str]:
    """Lists the methods of a path; one that is spelled out goes before one with parameters, as in the routes."""
    known = dict.fromkeys(operation.path for operation in OPERATIONS)
    matching = [each for each in known if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", each), path)]
    meant = min(matching, key=lambda each: each.count("{"), default=None)
    methods = {"OPTIONS"}
    for operation in OPERATIONS:
        if operation.path == meant:
            methods |= {"GET", "HEAD"} if operation.method == "GET" else {operation.method}
    return sorted(methods)
