"""Named SQL statements: each file holds several, each below a line `-- name: …`."""

import re
from pathlib import Path

_HEADING = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def statements(file: str) -> dict[str, str]:
    """Reads infra/sql/`file`.sql into its statements by name."""
    text = (Path(__file__).parent / f"{file}.sql").read_text()
    _, *parts = _HEADING.split(text)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
