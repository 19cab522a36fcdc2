"""One note of each request: what was asked, how it ended, how long it took; never path, query or body as sent."""

import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeAlias

from msgspec import Struct

from api.operation import Operation
from api.replies import request_id
from services.ports import Principal

_LENGTH = 30  # of a game's id
_NO_PARTS: dict[str, str] = {}

App: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]

_scope: ContextVar[Any] = ContextVar("scope")


class Request(Struct, frozen=True, gc=False):
    """A request that was answered; kept as it is, since whatever is worked out between two answers costs the most.

    began, answered, ended: when, by time.perf_counter(); the answer begins and ends. operation: None where none has
    such a path. status: 0 where nothing was answered. problem: its code. place: what stood for a game's id.
    """

    began: float
    answered: float
    ended: float
    request_id: str
    method: str
    operation: Operation | None
    status: int
    problem: str | None
    place: str | None
    move_id: str | None
    caller: Principal | None

    @property
    def asked(self) -> tuple[str, str, str]:
        """Method, operation and its path; empty where there is none, as the method may be anything then."""
        return (self.method, self.operation.id, self.operation.path) if self.operation else ("", "", "")

    @property
    def is_fault(self) -> bool:
        """Tells whether the server is to blame."""
        return not 0 < self.status < 500

    @property
    def game_id(self) -> str | None:
        """The game's id; what has not its form may be anything, and is not told."""
        return _game_id(self.place)

    @property
    def player_id(self) -> str | None:
        """Who asked."""
        return self.caller.player_id if self.caller else None


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
            ended, parts = time.perf_counter(), scope.get("path_params", _NO_PARTS)
            note(
                Request(
                    began, scope.get("answered", ended), ended, request_id(scope), scope["method"],
                    scope.get("operation"), scope.get("status", 0), scope.get("problem"), parts.get("game_id"),
                    scope.get("move_id"), scope.get("caller"),
                )
            )  # fmt: skip

    return with_note


def facts() -> dict[str, str | None]:
    """Gives what a log line may say of the request under way: ids only."""
    scope = _scope.get(None)
    if scope is None:
        return {}
    operation: Operation | None = scope.get("operation")
    caller: Principal | None = scope.get("caller")
    return {
        "request_id": request_id(scope),
        "operation": operation.id if operation else "",
        "game_id": _game_id(scope.get("path_params", _NO_PARTS).get("game_id")),
        "player_id": caller.player_id if caller else None,
    }


def _game_id(given: str | None) -> str | None:
    is_one = given is not None and len(given) == _LENGTH and given.startswith("gam_") and given[4:].isalnum()
    return given if is_one else None
