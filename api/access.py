"""One note of each request: what was asked, how it ended, how long it took; never path, query or body as sent."""

import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeAlias

from msgspec import Struct

from api.operations import Operation
from api.replies import request_id
from services.ids import uuid_of

App: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]

_scope: ContextVar[Any] = ContextVar("scope")


class Request(Struct, frozen=True, gc=False):
    """A request that was answered.

    operation, route: empty where no operation has such a path; status 0: the client left before its answer began.
    answered_s: until the answer began, ended_s: until its end, which is a stream's whole life; problem: the code.
    """

    request_id: str
    method: str
    operation: str
    route: str
    status: int
    answered_s: float
    ended_s: float
    problem: str | None
    game_id: str | None
    move_id: str | None
    player_id: str | None


def watched(app: App, note: Callable[[Request], None]) -> App:
    """Has `note` called after each request."""

    async def with_note(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began, answered_at, status = time.perf_counter(), 0.0, 0

        async def send_noted(message: Any) -> None:
            nonlocal answered_at, status
            if not status:
                answered_at, status = time.perf_counter(), message["status"]
            await send(message)

        _scope.set(scope)
        try:
            await app(scope, receive, send_noted)
        finally:
            ended = time.perf_counter()
            note(_request(scope, status, (answered_at or ended) - began, ended - began))

    return with_note


def facts() -> dict[str, str | None]:
    """Gives what a log line may say of the request under way: ids only."""
    scope = _scope.get(None)
    if scope is None:
        return {}
    operation = _operation(scope)
    return {
        "request_id": request_id(scope),
        "operation": operation.id if operation else "",
        "game_id": _game_id(scope),
        "player_id": _player_id(scope),
    }


def _request(scope: Any, status: int, answered_s: float, ended_s: float) -> Request:
    operation = _operation(scope)
    return Request(
        request_id=request_id(scope),
        method=scope["method"] if operation else "",
        operation=operation.id if operation else "",
        route=operation.path if operation else "",
        status=status,
        answered_s=answered_s,
        ended_s=ended_s,
        problem=scope.get("problem"),
        game_id=_game_id(scope),
        move_id=scope.get("move_id"),
        player_id=_player_id(scope),
    )


def _operation(scope: Any) -> Operation | None:
    found: Operation | None = scope.get("operation")
    return found


def _game_id(scope: Any) -> str | None:
    """Gives the game's id; what has not its form may be anything, and is not told."""
    given = scope.get("path_params", {}).get("game_id")
    return given if given is not None and uuid_of("gam", given) else None


def _player_id(scope: Any) -> str | None:
    caller = scope.get("caller")
    return None if caller is None else str(caller.player_id)
