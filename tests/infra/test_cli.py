"""What `shanghai` says to whoever tries it for the first time."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from infra.cli import main
from services.version import VERSION

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("group", [(), ("admin",)])
def test_help_cuts_no_sentence(group: tuple[str, ...]) -> None:
    page = CliRunner().invoke(main, [*group, "--help"]).output
    assert "..." not in page.partition("Commands:")[2]


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"shanghai {VERSION}\n"
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION


@pytest.mark.parametrize("command", [("admin", "games"), ("token", "--scope", "play")])
def test_without_a_database_it_is_said_that_a_folder_can_be_named(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SHANGHAI_DATABASE_URL", "SHANGHAI_OPERATOR_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    result = CliRunner().invoke(main, command)
    assert (result.exit_code, result.stderr) == (
        2,
        "shanghai: SHANGHAI_DATABASE_URL is not set: set it, or give --data\n",
    )


@pytest.mark.parametrize(
    "command",
    [
        ("admin", "games"),
        ("token", "--scope", "play"),
        ("archive", "2026-08", "--to", "kept"),
        ("restore", "events-2026-08.json"),
        ("projector", "--rebuild"),
        ("backup", "--to", "backups"),
        ("load",),
    ],
)
def test_a_folder_on_which_nothing_runs_is_named(command: tuple[str, ...], tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [*command, "--data", str(tmp_path)])
    assert (result.exit_code, result.stderr) == (1, f"shanghai: no `shanghai up` runs on {tmp_path}\n")


def test_a_folder_is_for_a_rebuild_and_not_for_a_second_projector(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["projector", "--data", str(tmp_path)])
    assert result.exit_code == 2
    assert "--data goes with --rebuild" in result.stderr
