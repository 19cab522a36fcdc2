"""The pages for people: the files, settings, commands and targets that they name are there, and no room is left out."""

import re
from fnmatch import fnmatch
from pathlib import Path

import click
import pytest

from infra.cli import main
from infra.settings import NO_FIELDS, Settings, is_secret

ROOT = Path(__file__).parents[1]
FLOORS = ("api", "services", "infra", "workers", "domain")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md"]
PAGES += sorted(page for folder in (*FLOORS, "openapi", "tests") for page in (ROOT / folder).glob("*.md"))

PATH = re.compile(r"([\w-]+/)+|([\w-]+/)*[\w-]+\.(py|md|sql|lua|yaml|json|html)")
MADE = {"clients/", "postgres/", "redis/", "logs/", "metrics.json", "events-2026-08.json", "report.md", "report.json"}
"""What commands make."""
SETTINGS = (*Settings.__struct_fields__, *NO_FIELDS)
VARIABLES = {name.upper() for name in SETTINGS} | {f"{name.upper()}_FILE" for name in SETTINGS if is_secret(name)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_whatever_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    assert [link for link in re.findall(r"\]\(([^)\s#]+)\)", text) if not is_there(page, link)] == []
    words, listings = words_of(text)
    assert [path for path in words if PATH.fullmatch(path) and not is_there(page, path)] == []
    assert sorted({word.split()[1] for word in words if word.startswith("make ")} - targets()) == []
    assert sorted(set(re.findall(r"SHANGHAI_([A-Z_]*[A-Z])\b", text)) - VARIABLES) == []
    assert [line for line in commands(words + listings) if not is_command(line)] == []


@pytest.mark.parametrize("floor", FLOORS)
def test_the_page_of_a_floor_names_every_room(floor: str) -> None:
    named = re.findall(r"`([\w*]+\.py)`", (ROOT / floor / "README.md").read_text("utf-8"))
    rooms = {room.name for room in (ROOT / floor).glob("*.py")} - {"__init__.py"}
    assert sorted(room for room in rooms if not any(fnmatch(room, name) for name in named)) == []


def is_there(page: Path, path: str) -> bool:
    """Tells whether a file is there, seen from the page, from the top, or by its name among the tests."""
    if "://" in path or path in MADE:
        return True
    return (page.parent / path).exists() or (ROOT / path).exists() or any((ROOT / "tests").glob(f"**/{path}"))


def words_of(text: str) -> tuple[list[str], list[str]]:
    """Gives what stands between backticks in the lines of a page, and its listings of commands."""
    listings = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)), listings


def targets() -> set[str]:
    """Lists what can be made."""
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def commands(shown: list[str]) -> list[str]:
    """Lists the command lines of ours: `shanghai up --port`."""
    return re.findall(r"(?m)(?:^|; |-- |exec \w+ |=\S* )shanghai ((?:--)?[a-z][^\n|;#]*)", "\n".join(shown))


def is_command(line: str) -> bool:
    """Tells whether a line's words are commands and options of the command line; what else stands there is free."""
    command: click.Command = main
    for word in line.split():
        if word.startswith("--"):
            options = {option for each in command.get_params(click.Context(command)) for option in each.opts}
            if word.partition("=")[0] not in options:
                return False
        elif isinstance(command, click.Group):
            chosen = command.commands.get(word)
            if chosen is None:
                return False
            command = chosen
    return True
