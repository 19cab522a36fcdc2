"""One note of each request: what was asked, how it ended, how long it took; never path, query or body as sent."""

import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeAlias

from msgspec import Struct

from api.operation import Operation
from api.replies import request_id

_LATER_S = 0.001  # an answer that ends so much after it began is told both times
_LENGTH = 30  # of a game's id
_NO_PARTS: dict[str, str] = {}

App: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]

_scope: ContextVar[Any] = ContextVar("scope")


class Request(Struct, omit_defaults=True, frozen=True, gc=False):
    """A request that was answered, as its log line has it.

    operation, route: empty where no operation has such a path; status 0: nothing was answered. ms: until the answer
    began; whole_ms: until its end, where that is later, as a stream's; problem: the code.
    """

    level: str
    request_id: str
    method: str
    operation: str
    route: str
    status: int
    ms: float
    whole_ms: float | None = None
    problem: str | None = None
    game_id: str | None = None
    move_id: str | None = None
    player_id: str | None = None

    def __str__(self) -> str:
        """Tells people what is known."""
        asked = f" method={self.method} operation={self.operation} route={self.route}" if self.operation else ""
        problem = f" problem={self.problem}" if self.problem else ""
        game = f" game_id={self.game_id}" if self.game_id else ""
        move = f" move_id={self.move_id}" if self.move_id else ""
        player = f" player_id={self.player_id}" if self.player_id else ""
        spent = f"{self.ms} ms" if self.whole_ms is None else f"{self.ms} ms, {self.whole_ms} ms in all"
        known = f"{asked} status={self.status}{problem}{game}{move}{player}"
        return f"[{self.level:<9}] request request_id={self.request_id}{known} {spent}"


def watched(app: App, note: Callable[[Request], None]) -> App:
    """Has `note` called after each request."""

    async def with_note(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began = time.perf_counter()
        _scope.set(scope)
        try:
            await app(scope, receive, send)
        finally:
            note(_request(scope, began, time.perf_counter()))

    return with_note


def facts() -> dict[str, str | None]:
    """Gives what a log line may say of the request under way: ids only."""
    scope = _scope.get(None)
    if scope is None:
        return {}
    operation: Operation | None = scope.get("operation")
    return {
        "request_id": request_id(scope),
        "operation": operation.id if operation else "",
        "game_id": _game_id(scope),
        "player_id": _player_id(scope),
    }


def _request(scope: Any, began: float, ended: float) -> Request:
    operation, status, answered = scope.get("operation"), scope.get("status", 0), scope.get("answered", ended)
    method, name, route = (scope["method"], operation.id, operation.path) if operation else ("", "", "")
    ms = round((answered - began) * 1000, 2)
    whole_ms = round((ended - began) * 1000, 2) if ended - answered > _LATER_S else None
    return Request(
        "info" if 0 < status < 500 else "error", request_id(scope), method, name, route, status, ms, whole_ms,
        scope.get("problem"), _game_id(scope), scope.get("move_id"), _player_id(scope),
    )  # fmt: skip


def _game_id(scope: Any) -> str | None:
    """Gives the game's id; what has not its form may be anything, and is not told."""
    given: str = scope.get("path_params", _NO_PARTS).get("game_id", "")
    return given if len(given) == _LENGTH and given.startswith("gam_") and given[4:].isalnum() else None


def _player_id(scope: Any) -> str | None:
    caller = scope.get("caller")
    return None if caller is None else str(caller.player_id)
