"""The images that the tests run: the product's as it is shipped, the one of the version before, and the engines'."""

import subprocess
from pathlib import Path

from tests.deploy.podman import Podman

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "infra/deploy/Dockerfile"
HERE = Path(__file__).parent
GIT = ("git", "-c", "safe.directory=*", "-C")  # the tests run as root, on a clone that may be somebody else's


def take_bases(podman: Podman, folder: Path) -> None:
    """Takes the file systems that the Makefile has made from Debian's packages."""
    for name in ("workshop", "python"):
        tar = folder / f"{name}.tar"
        assert tar.is_file(), f"{tar} is missing: run make test-deploy"
        podman.run("import", str(tar), f"localhost/{name}", within_s=300)


def build_product(podman: Podman, tag: str, *options: str, source: Path = ROOT) -> str:
    """Builds the product's image from a folder of its sources, by today's Dockerfile."""
    podman.build(
        source, DOCKERFILE, tag, *options, f"--ignorefile={ROOT / '.dockerignore'}",
        BUILD="localhost/workshop", BASE="localhost/python", VERSION=tag.rpartition(":")[2],
    )  # fmt: skip
    return tag


def build_engine(podman: Podman) -> str:
    podman.build(HERE / "engine", HERE / "engine/Containerfile", "localhost/engine:test")
    return "localhost/engine:test"


def version_before(folder: Path, root: Path = ROOT) -> Path | None:
    """Unpacks the version before: the newest tag v*, else what was there before the newest migration.

    None where there has been none: an archive of the sources, a history that begins today. A shallow clone fails.
    """
    if not (root / ".git").exists():
        return None
    tag = _git(root, "describe", "--tags", "--match=v*", "--abbrev=0", "HEAD")
    added = _git(root, "log", "-1", "--diff-filter=A", "--format=%H", "--", "infra/migrations/*.sql")
    commit = tag or _git(root, "rev-parse", "--verify", "--quiet", f"{added}^")
    if not commit:
        whole = _git(root, "rev-parse", "--is-shallow-repository") == "false"
        assert whole, "the version before is not in this clone, which is shallow: git fetch --unshallow --tags"
        return None
    folder.mkdir()
    archive = subprocess.run([*GIT, root, "archive", commit], stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    (folder / "infra/deploy").mkdir(exist_ok=True)
    (folder / "infra/deploy/unshipped.txt").write_bytes((DOCKERFILE.parent / "unshipped.txt").read_bytes())
    return folder


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run([*GIT, root, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if not done.returncode else ""
