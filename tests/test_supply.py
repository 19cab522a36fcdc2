"""What is installed with the server: every file pinned by its hash, every licence one that lets anybody run it."""

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest

LOCKS = sorted(Path(__file__).parent.parent.glob("requirements*.lock"))
# Of what runs. MPL-2.0 binds changes of its own files only, and we change none.
WELCOME = re.compile(r"MIT|BSD|Apache|PSF-2.0|Mozilla Public License 2.0|MPL-2.0|ISC|PostgreSQL")


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_of_a_lock_has_one_version_and_the_hashes_of_its_files(lock: Path) -> None:
    entries = re.split(r"\n(?=\S)", lock.read_text().strip())
    loose = [
        entry.splitlines()[0]
        for entry in entries
        if not re.match(r"[a-z0-9._-]+==[^ ]+ ", entry) or not re.search(r"--hash=sha256:[0-9a-f]{64}", entry)
    ]
    assert loose == []
    assert len(entries) > 30


def test_what_runs_has_a_licence_that_lets_anybody_run_it() -> None:
    names = re.findall(r"^([a-z0-9._-]+)==", (LOCKS[-1].parent / "requirements.lock").read_text(), re.MULTILINE)
    installed = {name: found for name in names if (found := _found(name))}
    assert len(installed) > 50
    assert {name: licence for name, found in installed.items() if not WELCOME.search(licence := _licence(found))} == {}


def _found(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:  # for another Python or system
        return None


def _licence(package: Distribution) -> str:
    """Reads what a package says of itself: the expression, else the classifiers, else the free text."""
    told = package.metadata
    classified = [one for one in told.get_all("Classifier") or [] if one.startswith("License :: ")]
    return "; ".join(told.get_all("License-Expression") or classified or told.get_all("License") or [])
