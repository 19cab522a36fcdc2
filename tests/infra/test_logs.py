"""Log lines: what they have, and that no value which a library or an error might tell gets into one."""

import asyncio
import io
import json
import logging
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any, cast

import asyncpg
import msgspec
import pytest
from msgspec.structs import replace

from api.access import Request
from api.numbers import Notes
from api.operations import OPERATIONS
from infra.settings import Settings, environment
from infra.watching.lines import RequestLine, RequestLines, timestamp
from infra.watching.logs import Lines, told
from services.ports import Unavailable
from tests.engines import eventually
from tests.exported import Since
from tests.processes import ENOUGH

SECRET = "shg_secret7H"


def written(record: logging.LogRecord, *, is_json: bool = True) -> str:
    return Lines("api", is_json=is_json, facts=lambda: {"game_id": "gam_1", "player_id": None}).format(record)


def record(logger: str, text: str, *args: Any, error: BaseException | None = None) -> logging.LogRecord:
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord(logger, logging.WARNING, "/lib/redis/client.py", 7, text, args, exc_info)


def raised(error: BaseException) -> BaseException:
    """Raises and catches an error, beside a local variable that must not be told."""
    hand = SECRET
    try:
        assert hand
        raise error
    except BaseException as caught:  # noqa: BLE001 - whatever it is
        return caught


def test_a_line_has_its_time_its_process_and_what_is_known_of_the_moment() -> None:
    line = json.loads(written(record("services.relay", "the bus is away: %s", "refused")))
    assert line["timestamp"].endswith("Z")
    assert {name: line[name] for name in ("level", "process", "logger", "event", "game_id")} == {
        "level": "warning",
        "process": "api",
        "logger": "services.relay",
        "event": "the bus is away: refused",
        "game_id": "gam_1",
    }
    assert "player_id" not in line


def test_a_line_for_people_begins_with_its_time_and_what_happened() -> None:
    line = written(record("services.relay", "the bus is away"), is_json=False)
    assert re.fullmatch(r"20\S+Z \[warning  \] the bus is away \[services\.relay\] process=api game_id=gam_1", line)


@pytest.mark.parametrize(
    ("text", "args", "event"),
    [
        ("cannot connect to %s: %r", (SECRET, SECRET), "cannot connect to …: '…' (client:7)"),
        ("process %s pid %d", (SECRET, 12), "process … pid 12 (client:7)"),
        ("task %(name)s took %(s)d s", ({"name": SECRET, "s": 3},), "task … took 3 s (client:7)"),
        ("port %d", (SECRET,), "client:7"),
        (f"future: <Task result={SECRET}>", (), "client:7"),
    ],
)
def test_of_a_librarys_words_only_the_fixed_text_is_told(text: str, args: tuple[Any, ...], event: str) -> None:
    assert json.loads(written(record("redis.client", text, *args)))["event"] == event


def violation() -> asyncpg.PostgresError:
    error = asyncpg.UniqueViolationError(f"duplicate key {SECRET}")
    error.detail = f"Key (token_hash)=({SECRET}) already exists."
    error.table_name, error.constraint_name = "token", "token_pkey"
    return error


@pytest.mark.parametrize(
    "error",
    [
        violation(),
        KeyError(SECRET),
        ValueError(SECRET),
        msgspec.ValidationError(SECRET),
        OSError(2, "No such file", SECRET),
        ExceptionGroup(SECRET, [violation(), KeyError(SECRET)]),
        asyncio.CancelledError(SECRET),
    ],
)
@pytest.mark.parametrize("is_json", [True, False])
def test_no_value_of_an_error_is_told_nor_of_its_causes(error: BaseException, is_json: bool) -> None:
    outer = RuntimeError(SECRET)
    outer.__cause__ = raised(error)
    line = written(record("api.routes", "request failed", error=raised(outer)), is_json=is_json)
    assert SECRET not in line
    assert "RuntimeError" in line
    assert type(error).__name__ in line
    assert f"{__name__}:" in line
    assert "raised" in line


def test_an_error_of_the_database_is_told_by_its_code_and_what_it_is_about() -> None:
    assert told(violation()) == "UniqueViolationError 23505 token token_pkey"


def test_what_own_code_says_of_an_error_is_told() -> None:
    assert told(Unavailable("the bus is a cluster")) == "Unavailable: the bus is a cluster"
    assert told(ConnectionRefusedError(111, "Connection refused")) == "ConnectionRefusedError: Connection refused"


def test_a_process_that_dies_of_an_error_says_which_and_not_what_was_in_it() -> None:
    program = (
        "import threading; from infra.settings import read_settings; from infra.watching.logs import configure_logs\n"
        "configure_logs(read_settings(), 'relay')\n"
        f"def fail(): raise ValueError('{SECRET}')\n"
        "thread = threading.Thread(target=fail); thread.start(); thread.join()\n"
        "fail()"
    )
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, env=environment(ENOUGH), stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 1
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    told = [(line["level"], line["error"], line["process"]) for line in lines]
    assert told == [("critical", "ValueError", "relay")] * 2
    assert SECRET not in str(lines)


MOMENT = datetime(2026, 11, 30, 12, 0, 0, 250_000, UTC).timestamp()


def request_line(**changes: Any) -> RequestLine:
    at, asked = timestamp(MOMENT), ("GET", "getView", "/v1/games/{game_id}/view")
    return replace(RequestLine(at, "request", "api", 7, "info", "req_1", *asked, 200, 1.5), **changes)


def lines_of(settings: Settings, *lines: RequestLine) -> list[str]:
    out = io.BytesIO()
    RequestLines(settings, out).write(lines)
    return out.getvalue().decode().splitlines()


def test_a_request_is_one_line_in_either_form(settings: Settings) -> None:
    line = request_line(game_id="gam_1", problem="busy", status=503)
    [as_json] = lines_of(replace(settings, log_format="json"), line)
    assert {"status": 503, "ms": 1.5, "problem": "busy", "game_id": "gam_1"}.items() <= json.loads(as_json).items()
    assert json.loads(as_json)["timestamp"] == "2026-11-30T12:00:00.250Z"
    assert "player_id" not in json.loads(as_json)
    known = "request_id=req_1 method=GET operation=getView route=/v1/games/{game_id}/view status=503 problem=busy"
    text = f"2026-11-30T12:00:00.250Z [info     ] request {known} game_id=gam_1 1.5 ms"
    assert lines_of(replace(settings, log_format="text"), line, line) == [text, text]


@pytest.mark.parametrize(
    ("level", "status", "is_probe", "is_wanted"),
    [
        ("info", 200, False, True),
        ("info", 200, True, False),
        ("debug", 200, True, True),
        ("warning", 404, False, False),
        ("warning", 500, False, True),
        ("warning", 0, False, True),
        ("error", 503, True, False),
    ],
)
def test_the_level_says_which_requests_have_a_line(
    settings: Settings, level: Any, status: int, is_probe: bool, is_wanted: bool
) -> None:
    lines = RequestLines(replace(settings, log_level=level))
    assert lines.is_wanted(status, is_probe=is_probe) == is_wanted


async def test_what_is_noted_is_written_soon_and_once(settings: Settings) -> None:
    since, out = Since(), io.BytesIO()
    notes = Notes(RequestLines(settings, out))
    notes.take(request("req_1", "getView"))
    notes.take(request("req_2", "isAlive"))
    assert not out.getvalue()  # a line waits for others

    async def is_written() -> bool:
        return b"getView" in out.getvalue()

    await eventually(is_written, within_s=5)
    notes.close()
    [line] = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (line["request_id"], line["ms"], line["whole_ms"]) == ("req_1", 250.0, 1250.0)
    told = datetime.fromisoformat(line["timestamp"]).timestamp()
    assert abs(time.time() - told) < 60
    assert since("shanghai_request_seconds_sum", operation="getView", status="2xx") == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("status", "level"), [(200, "info"), (404, "info"), (500, "error"), (503, "error"), (0, "error")]
)
async def test_the_line_of_a_request_says_whether_the_server_is_to_blame(
    settings: Settings, status: int, level: str
) -> None:
    out = io.BytesIO()
    notes = Notes(RequestLines(settings, out))
    notes.take(request("req_1", "getView", status=status, streamed_s=0))
    notes.close()
    line = json.loads(out.getvalue())
    assert (line["level"], "whole_ms" in line) == (level, False)


def request(request_id: str, operation: str, *, status: int = 200, streamed_s: float = 1) -> Request:
    """Is a request that was answered now, some time after its answer began."""
    [asked] = [each for each in OPERATIONS if each.id == operation]
    now = time.perf_counter()
    began = now - streamed_s
    return Request(began - 0.25, began, now, request_id, "GET", asked, status, None, None, None, None)


def test_a_line_does_not_wait_for_others_when_it_was_written(settings: Settings) -> None:
    file = io.BytesIO()
    out = io.BufferedWriter(cast("io.RawIOBase", file))
    RequestLines(settings, out).write([request_line()])
    assert b"req_1" in file.getvalue()


def test_a_log_that_cannot_be_written_stops_nothing(settings: Settings) -> None:
    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: Any) -> int:
            raise OSError(28, "No space left on device")

    RequestLines(settings, io.BufferedWriter(Full())).write([request_line()])
