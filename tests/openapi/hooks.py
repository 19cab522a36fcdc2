"""How Schemathesis goes about: as whom it asks, in which games, and what it may be refused although it asks properly.

The furnished server's tokens and games come by the environment, since Schemathesis is a program of its own.
"""

import json
import os
from hashlib import sha256
from itertools import count
from typing import Any

import httpx
import schemathesis
from schemathesis import AuthContext, Case, CheckContext, HookContext
from schemathesis.core.failures import Failure
from schemathesis.core.transport import Response
from schemathesis.openapi.checks import JsonSchemaError, RejectedPositiveData

from tests.described import shape_faults
from tests.openapi.refusals import REFUSALS

FURNISHED: dict[str, Any] = json.loads(os.environ["FURNISHED"])
BURNT = "deleteMe"
"""After it the token is worth nothing: each time it is another guest who asks."""
SHUTTING_OUT = ("adminSuspendPlayer", "adminRevokeTokens", "revokeToken")
"""What would shut out those who ask is asked for somebody who is not there."""

_numbers = count()
_keys: set[str] = set()


@schemathesis.auth(refresh_interval=None)
class Asking:
    """Who asks: an operator what operators ask, a guest the rest."""

    def get(self, case: Case[Any], _: AuthContext) -> str:
        """Gives the header."""
        if _operation_id(case) == BURNT:
            clara = httpx.post(f"{FURNISHED['url']}/v1/players", json={"name": "Clara"}).raise_for_status().json()
            return f"Bearer {clara['token']}"
        is_operators = case.operation.path.startswith("/v1/admin") or case.operation.path == "/metrics"
        return str(FURNISHED["operator" if is_operators else "guest"])

    def set(self, case: Case[Any], header: str, _: AuthContext) -> None:
        """Sends it."""
        case.headers["Authorization"] = header


@schemathesis.hook
def before_call(_: HookContext, case: Case[Any], _kwargs: dict[str, Any]) -> None:
    """Leads to games that there are; lets no key stand for two requests."""
    if _operation_id(case) in SHUTTING_OUT:
        for name, value in case.path_parameters.items():
            if value in FURNISHED["asking"]:
                case.path_parameters[name] = f"{value[:-4]}0000"
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    game_id = case.path_parameters.get("game_id")
    if isinstance(game_id, str) and game_id[:8] != FURNISHED["games"][0][:8]:  # ids begin with the time
        case.path_parameters["game_id"] = _known_game(game_id)
    key = case.headers.get("Idempotency-Key")
    if isinstance(key, str):
        if key in _keys:
            case.headers["Idempotency-Key"] = f"{key[:100]}-{next(_numbers)}"
        _keys.add(key)


@schemathesis.hook
def filter_failure(_: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
    """Tells whether something is a failure: not that what is properly asked is refused by a rule that no schema can
    say, nor that a message is none of the whole stream's schema; `told_as_described` holds each against its own.
    """
    if isinstance(failure, JsonSchemaError):
        return not _is_stream(response)
    if not isinstance(failure, RejectedPositiveData):
        return True
    problem = json.loads(response.content)
    codes = {error["code"] for error in problem["errors"]} or {problem["code"]}
    return not codes <= REFUSALS.get(_operation_id(case), frozenset())


@schemathesis.check
def told_as_described(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Holds each message of a stream against the document's schema of its kind."""
    if not _is_stream(response):
        return
    told = case.operation.definition.raw["responses"]["200"]["content"]["text/event-stream"]["x-sse"]
    for message in response.content.decode().split("\n\n")[:-1]:
        said = dict(line.split(": ", 1) for line in message.split("\n"))
        faults = shape_faults(json.loads(said["data"]), told[said["event"]])
        assert not faults, f"{said['event']}: {faults}"


def _is_stream(response: Response) -> bool:
    return response.headers.get("content-type", [""])[0].startswith("text/event-stream")


def _known_game(drawn: str) -> str:
    """Puts one of the games in the place of three drawn ids out of four, the same for the same."""
    number = sha256(drawn.encode()).digest()[0] % 4
    return str(FURNISHED["games"][number]) if number < len(FURNISHED["games"]) else drawn


def _operation_id(case: Case[Any]) -> str:
    return str(case.operation.definition.raw["operationId"])
