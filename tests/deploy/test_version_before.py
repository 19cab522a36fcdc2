"""Which version an upgrade is tried from, whatever kind of clone the tests run in."""

import subprocess
from pathlib import Path

import pytest

from tests.deploy.images import GIT, version_before

pytestmark = pytest.mark.deploy


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A history of three versions, the second of which came with a migration."""
    root = tmp_path / "history"
    for number, file in enumerate(("infra/migrations/0001_log.sql", "infra/migrations/0002_lists.sql", "README.md")):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
        if not number:
            git(root, "init", "--quiet")
        git(root, "add", ".")
        git(root, "-c", "user.name=Anna", "-c", "user.email=anna@example", "commit", "--quiet", f"--message={number}")
    return root


def test_it_is_what_was_there_before_the_newest_migration_or_the_newest_release(history: Path, tmp_path: Path) -> None:
    before = version_before(tmp_path / "before", history)
    assert before is not None
    assert [path.name for path in (before / "infra/migrations").iterdir()] == ["0001_log.sql"]
    git(history, "tag", "v0.1.0", "HEAD^")
    released = version_before(tmp_path / "released", history)
    assert released is not None
    assert len([*(released / "infra/migrations").iterdir()]) == 2
    assert not (released / "README.md").exists()


def test_a_shallow_clone_without_it_is_refused_with_the_way_out(history: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", history.as_uri(), str(clone))
    for deeper in ("--depth=2", "--unshallow"):
        with pytest.raises(AssertionError, match="git fetch --unshallow --tags"):
            version_before(tmp_path / "before", clone)
        git(clone, "fetch", "--quiet", deeper)
    assert version_before(tmp_path / "before", clone) is not None


def test_where_there_has_been_none_it_is_todays(history: Path, tmp_path: Path) -> None:
    git(history, "checkout", "--quiet", "HEAD^^")
    assert version_before(tmp_path / "before", history) is None
    assert version_before(tmp_path / "before", tmp_path) is None


def git(root: Path, *arguments: str) -> None:
    subprocess.run([*GIT, root, *arguments], check=True)
