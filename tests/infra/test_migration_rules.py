"""A migration that would break the version before, or hold up those who play, is refused before anybody runs it."""

from pathlib import Path

import pytest

from infra import migrations
from tests.infra.migration_rules import BY_SQUAWK, OF_THE_HOUSE, faults

BEFORE_THE_RULES = {"0001_event_store", "0007_tokens", "0009_ratings"}  # applied as they are, and nobody played yet
HELD = sorted(path for path in Path(migrations.__file__).parent.glob("[0-9]*.sql") if path.stem not in BEFORE_THE_RULES)

BAD = {
    "ALTER TABLE player DROP COLUMN name": "ban-drop-column",
    "DROP TABLE invite": "ban-drop-table",
    "ALTER TABLE player RENAME COLUMN name TO called": "renaming-column",
    "ALTER TABLE player RENAME TO person": "renaming-table",
    "ALTER TABLE player ADD COLUMN colour text NOT NULL": "adding-required-field",
    "ALTER TABLE player ALTER COLUMN suspended_at SET NOT NULL": "adding-not-nullable-field",
    "ALTER TABLE player ADD COLUMN luck uuid DEFAULT gen_random_uuid()": "adding-field-with-default",
    "ALTER TABLE player ALTER COLUMN name TYPE varchar(40)": "changing-column-type",
    "ALTER TABLE player ADD COLUMN number serial PRIMARY KEY": "adding-serial-primary-key-field",
    "ALTER TABLE player ADD CONSTRAINT short CHECK (length(name) < 9)": "constraint-missing-not-valid",
    "ALTER TABLE player ADD CONSTRAINT one UNIQUE (name)": "disallowed-unique-constraint",
    "ALTER TABLE invite ADD FOREIGN KEY (made_by) REFERENCES player": "adding-foreign-key-constraint",
    "CREATE INDEX player_name ON player (name)": "require-concurrent-index-creation",
    "CREATE INDEX CONCURRENTLY player_name ON player (name)": "cannot be done in a transaction, as each migration is",
    "CREATE DOMAIN colour AS text CHECK (value <> '')": "ban-create-domain-with-constraint",
    "DROP DATABASE shanghai": "ban-drop-database",
    "TRUNCATE player CASCADE": "ban-truncate-cascade",
    "ALTER TABLE player ADD COLUM colour text": "syntax-error",
    "DROP FUNCTION make_event_partitions(integer)": "drops what the version before calls",
    "DROP INDEX token_hash": "drops what the version before calls",
    "ALTER FUNCTION month_bounds(text) RENAME TO bounds": "renames",
    "ALTER TYPE new_event ADD ATTRIBUTE colour text": "changes a type, which the version before sends as it was",
    "REVOKE INSERT ON event FROM shanghai_app": "takes a right away",
    "ALTER TABLE player ALTER COLUMN created_at DROP DEFAULT": "takes a default away",
    "LOCK TABLE player": "locks a table",
    "UPDATE event SET actor = 1": "writes or indexes a large table",
    "-- squawk-ignore require-concurrent-index-creation\nCREATE INDEX event_actor ON event (actor)":
        "writes or indexes a large table",
}  # fmt: skip

GOOD = [
    "ALTER TABLE player ADD COLUMN colour text",
    "ALTER TABLE player ADD COLUMN is_kind boolean NOT NULL DEFAULT false",
    "CREATE TABLE colour (name text PRIMARY KEY, seen timestamptz NOT NULL); CREATE INDEX colour_seen ON colour (seen)",
    "ALTER TABLE player ADD CONSTRAINT short CHECK (length(name) < 99) NOT VALID",
    "GRANT SELECT ON player TO shanghai_projector",
    "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ DELETE FROM event $$; REVOKE ALL ON FUNCTION f FROM PUBLIC",
    "-- once DROP FUNCTION f\nSELECT 'x; DROP TYPE y'",
    "UPDATE player SET name = name WHERE name = ''",
    "-- Few rows:\n-- squawk-ignore require-concurrent-index-creation\nCREATE INDEX player_name ON player (name)",
]


@pytest.mark.parametrize("sql", BAD, ids=BAD.values())
def test_what_breaks_or_blocks_is_caught(sql: str) -> None:
    assert BAD[sql] in faults(f"{sql};\n")


@pytest.mark.parametrize("sql", GOOD)
def test_what_only_adds_is_let_through(sql: str) -> None:
    assert faults(f"{sql};\n") == set()


def test_each_rule_has_its_bad_example() -> None:
    assert {*BAD.values()} == BY_SQUAWK | OF_THE_HOUSE.keys()


@pytest.mark.parametrize("path", HELD, ids=lambda path: path.stem)
def test_a_migration_lets_the_version_before_run_and_the_players_play(path: Path) -> None:
    assert faults(path.read_text()) == set(), "add now, and take away a version later (infra/README.md, Decisions)"
