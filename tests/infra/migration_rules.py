"""What a migration must not do: break the version before, which goes on beside it, or hold up those who play.

Squawk (https://squawkhq.com) reads SQL and knows Postgres's locks; what is particular to this house is added below.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

OLDEST_POSTGRES = "15.0"
SQUAWK = Path(sys.executable).parent / "squawk"

BY_SQUAWK = {
    "adding-field-with-default",  # a default that is computed for each row writes the whole table anew
    "adding-foreign-key-constraint",
    "adding-not-nullable-field",
    "adding-required-field",
    "adding-serial-primary-key-field",
    "ban-create-domain-with-constraint",
    "ban-drop-column",
    "ban-drop-database",
    "ban-drop-table",
    "ban-truncate-cascade",
    "changing-column-type",
    "constraint-missing-not-valid",
    "disallowed-unique-constraint",
    "renaming-column",
    "renaming-table",
    "require-concurrent-index-creation",
    "syntax-error",
}
"""Its other rules are of style, or ask for settings that the session of the migration has."""

OF_THE_HOUSE = {
    "drops what the version before calls": r"DROP (FUNCTION|PROCEDURE|ROUTINE|VIEW|TYPE|SEQUENCE|ROLE|SCHEMA|INDEX)\b",
    "renames": r"ALTER (FUNCTION|TYPE|VIEW|SEQUENCE|ROLE|SCHEMA|TABLE)\b[^;]*\bRENAME\b",
    "changes a type, which the version before sends as it was": r"ALTER TYPE\b",
    "takes a right away": r"REVOKE\b[^;]*\bFROM\b[^;]*\bshanghai_",
    "takes a default away": r"ALTER COLUMN \w+ DROP DEFAULT\b",
    "cannot be done in a transaction, as each migration is": r"(CREATE|DROP)\b[^;]*\bINDEX CONCURRENTLY\b",
    "locks a table": r"(LOCK TABLE|VACUUM|CLUSTER|REINDEX|REFRESH MATERIALIZED VIEW)\b",
    "writes or indexes a large table": r"(UPDATE|DELETE FROM|TRUNCATE( TABLE)?) (ONLY )?(event|idempotency)\b"
    r"|CREATE (UNIQUE )?INDEX\b[^;]*\bON (ONLY )?(event|idempotency)\b",
}
"""By what is wrong, at the beginning of a statement or of a part of one; a function's body is not looked at."""


def faults(sql: str) -> set[str]:
    """Names what is wrong with a migration: Squawk's rules, and those of the house."""
    return {*_by_squawk(sql), *_of_the_house(sql)}


def _by_squawk(sql: str) -> Iterator[str]:
    command: Sequence[str | Path] = (
        SQUAWK, "--reporter=json", f"--pg-version={OLDEST_POSTGRES}", "--assume-in-transaction",
        "--stdin-filepath=0.sql",
    )  # fmt: skip
    ended = subprocess.run(command, input=sql, capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    found = {each["rule_name"] for each in json.loads(ended.stdout)}
    yield from found & BY_SQUAWK


def _of_the_house(sql: str) -> Iterator[str]:
    bare = re.sub(r"--[^\n]*|\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'", " ", sql, flags=re.DOTALL)
    for statement in re.sub(r"\s+", " ", bare).split(";"):
        for what, pattern in OF_THE_HOUSE.items():
            if re.search(rf"(^ ?|, ?|\b(?=ALTER COLUMN))({pattern})", f"{statement};", re.IGNORECASE):
                yield what
