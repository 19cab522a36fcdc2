"""Log lines: JSON for programs, or text for people, made of fields that are built here and of nothing else.

What own code says is written as it was said. A library's words may hold anything, row values and addresses with
passwords too: of them only the fixed text is written, with the numbers in it. Of an exception its kind and its way
through the code are written, and its text where own code has said it.
"""

import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TypeAlias

import asyncpg
import msgspec
from structlog.dev import ConsoleRenderer
from structlog.processors import JSONRenderer
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict

from infra.settings import Settings

Facts: TypeAlias = Callable[[], Mapping[str, str | None]]
"""Gives the ids that belong to what is being done at the moment."""

OWN = frozenset({"domain", "services", "infra", "api", "workers", "shanghai"})
_OUTSPOKEN = OWN - {"domain"}  # whose errors have a text for operators; the domain's are about moves and cards
_FRAMES = 30  # the innermost ones
_NOISY = ("celery", "multiprocessing", "uvicorn", "litestar")  # these have a line for every job or start
_PLAIN = ConsoleRenderer(colors=False, sort_keys=False, pad_event_to=0)
_encode = msgspec.json.Encoder().encode


def configure_logs(settings: Settings, process: str, facts: Facts = dict) -> None:
    """Has everything that is logged in this process written to standard error, uncaught exceptions included.

    facts: asked for each line; empty ones are left out.
    """
    level = logging.getLevelName(settings.log_level.upper())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(process, is_json=is_json(settings), facts=facts))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for library in _NOISY:
        logging.getLogger(library).setLevel(max(level, logging.WARNING))
    logging.raiseExceptions = False  # a line that cannot be written must not be printed in another way
    _catch_uncaught()


def is_json(settings: Settings) -> bool:
    """Tells whether programs read the lines: unless it is set, those of a terminal are for people."""
    return settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())


class Lines(ProcessorFormatter):
    """Writes a process's lines; for people an error has further ones."""

    def __init__(self, process: str, *, is_json: bool, facts: Facts = dict) -> None:
        def built(_logger: Any, _method: str, said: EventDict) -> EventDict:
            record = logging.makeLogRecord({**vars(said["_record"]), "args": said["positional_args"]})
            return fields_of(record, said.get("exc_info"), process, facts())

        written = JSONRenderer(serializer=_as_json) if is_json else _for_people
        # The text is put together here, from what may be said of the arguments.
        super().__init__(processors=[built, written], pass_foreign_args=True, use_get_message=False)


def fields_of(record: logging.LogRecord, failure: Any, process: str, facts: Mapping[str, str | None]) -> dict[str, Any]:
    """Builds the fields of a line, in order. failure: what sys.exc_info() gives, or nothing."""
    is_own = record.name.partition(".")[0] in OWN
    fields: dict[str, Any] = {
        "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
        "level": record.levelname.lower(),
        "process": process,
        "pid": record.process,
        "logger": record.name,
        "event": record.getMessage() if is_own else _fixed_text(record),
    }
    fields |= {name: value for name, value in facts.items() if value}
    if failure and failure[1] is not None:
        fields["error"] = told(failure[1])
        fields["way"] = list(_way(failure[1]))
    return fields


def told(error: BaseException) -> str:
    """Says what an exception is, without anything that a value could stand in.

    Its text is that of own code, the system's word for an error number, or the names of the tables it is about.
    """
    kind = type(error)
    if isinstance(error, asyncpg.PostgresError):
        about = [error.sqlstate, getattr(error, "table_name", None), getattr(error, "constraint_name", None)]
        return " ".join([kind.__name__, *filter(None, about)])
    if kind.__module__.partition(".")[0] in _OUTSPOKEN and str(error):
        return f"{kind.__name__}: {error}"
    if isinstance(error, OSError) and error.strerror:
        return f"{kind.__name__}: {error.strerror}"
    return kind.__name__


def _fixed_text(record: logging.LogRecord) -> str:
    """Gives what stands in a library's code; a text that was put together already is named by its place instead."""
    place = f"{record.module}:{record.lineno}"
    if not record.args:
        return place
    try:
        return f"{record.msg % _numbers_only(record.args)} ({place})"
    except (TypeError, ValueError, KeyError):
        return place


def _numbers_only(args: Any) -> Any:
    if isinstance(args, Mapping):
        return {name: _number(value) for name, value in args.items()}
    return tuple(map(_number, args))


def _number(value: object) -> object:
    return value if isinstance(value, int | float) else "…"


def _way(error: BaseException) -> Iterator[str]:
    """Gives file, line and function of each call, causes first; no source, no locals, no text of an error."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _way(cause)
        yield f"which led to, after {told(cause)}:"
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _way(one)
            yield f"which is one of {len(error.exceptions)}: {told(one)}"
    for frame, line in list(traceback.walk_tb(error.__traceback__))[-_FRAMES:]:
        yield f"{frame.f_globals.get('__name__', '?')}:{line} {frame.f_code.co_name}"


def _catch_uncaught() -> None:
    """Has the last word of a dying process or thread written as a line, not as Python would print it."""
    log = logging.getLogger("shanghai")

    def uncaught(kind: type[BaseException], error: BaseException, way: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            log.critical("ended by an error that nothing foresees", exc_info=(kind, error, way))

    def unraisable(hook: Any) -> None:
        if hook.exc_value is not None:
            log.error("an error where none can be raised", exc_info=hook.exc_value)

    sys.excepthook = uncaught
    sys.unraisablehook = unraisable
    threading.excepthook = lambda hook: uncaught(hook.exc_type, hook.exc_value or hook.exc_type(), hook.exc_traceback)


def _as_json(fields: Any, **_: Any) -> str:
    return _encode(fields).decode()


def _for_people(logger: Any, method: str, fields: EventDict) -> str:
    way = fields.pop("way", ())
    del fields["pid"]
    return "\n    ".join([_PLAIN(logger, method, fields), *way])
