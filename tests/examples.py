"""Examples of the document: answers that the tests were given, kept by `pytest --record-examples tests/api`.

Of all answers to an operation the shortest is kept that shows something; of long lists the first items. One that was
kept before stays while it has the shape of its operation, so that the file changes only where a shape does.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

Json = dict[str, Any]

FILE = Path(__file__).parents[1] / "api" / "examples.json"

_seen: dict[str, Json] = {}
_TOKEN = re.compile(r"shg_[\w-]+")
_SECRET = re.compile(r"whsec_[\w+/=]+")
_TICKET = re.compile(r"sht_[\w-]+")
_ID = re.compile(r"(gam|ply|mov|tok|whk|msg|tkt)_[0-9a-z]{26}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def keep_example(operation_id: str, response: httpx.Response) -> None:
    """Keeps a good answer and the body that was sent for it, where no better one is known."""
    is_json = response.headers.get("content-type") == "application/json"
    if not response.is_success or not is_json or response.request.method == "HEAD":
        return
    example = {"answer": _shortened(response.json())}
    if response.request.content:
        example = {"request": json.loads(response.request.content), **example}
    if operation_id not in _seen or _worth(example) < _worth(_seen[operation_id]):
        _seen[operation_id] = example


def write_examples(is_example: Callable[[str, Json], bool]) -> None:
    """Writes what was kept, without anybody's token. is_example: tells whether an operation still has such answers."""
    known: dict[str, Json] = json.loads(FILE.read_text("utf-8"))
    kept = {operation: example for operation, example in known.items() if is_example(operation, example)}
    new = {operation: json.loads(_alike(json.dumps(example))) for operation, example in _seen.items()}
    text = json.dumps(dict(sorted((new | kept).items())), indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")


def _worth(example: Json) -> tuple[bool, int]:
    text = json.dumps(example)
    return '"items": []' in text, len(text)


def _shortened(value: Any) -> Any:
    """Gives an answer with three items of each page at most."""
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: _shortened(below[:3] if name == "items" else below) for name, below in value.items()}


def _alike(text: str) -> str:
    numbers: dict[str, int] = {}

    def id_of(found: re.Match[str]) -> str:
        return f"{found[1]}_01k9zz{numbers.setdefault(found[0], len(numbers) + 1):020}"

    return _TIME.sub("2026-11-01T18:30:00.000Z", _ID.sub(id_of, _unsecret(text)))


def _unsecret(text: str) -> str:
    text = _TICKET.sub("sht_" + "x" * 43, _TOKEN.sub("shg_" + "x" * 43, text))
    return _SECRET.sub("whsec_" + "x" * 43 + "=", text)
