"""podman with a storage of its own, below a folder that is gone afterwards."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Json = dict[str, Any]

TOOLS = ("podman", "buildah", "runc", "netavark", "aardvark-dns", "catatonit", "mmdebstrap")
PACKAGES = "podman buildah runc netavark aardvark-dns catatonit iptables mmdebstrap"
NETWORK = "shanghai"

_CONF = """
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
static_dir = "{folder}/state"
tmp_dir = "{folder}/now"
volume_path = "{folder}/volumes"
[network]
network_config_dir = "{folder}/networks"
[containers]
log_driver = "k8s-file"
default_ulimits = ["nofile=10000:10000", "nproc=4096:4096"]
"""
_STORAGE = """
[storage]
driver = "overlay"
graphroot = "{folder}/images"
runroot = "{folder}/run"
"""


class Podman:
    """Runs podman; `variables` is the environment that leads to this storage."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in (("containers.conf", _CONF), ("storage.conf", _STORAGE)):
            (folder / name).write_text(text.format(folder=folder))
        (folder / "networks").mkdir(exist_ok=True)
        self.variables = {
            **os.environ,
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        }

    def run(self, *arguments: str, given: str | None = None, within_s: float = 120) -> str:
        """Runs a command to its end and gives what it said; AssertionError with its words where it fails."""
        command, variables = ["podman", *arguments], self.variables
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, env=variables, timeout=within_s, check=False
        )
        assert not done.returncode, f"podman {' '.join(arguments)}: {done.stderr[-4000:]}{done.stdout[-2000:]}"
        return done.stdout.strip()

    def build(self, folder: Path, file: Path, tag: str, *options: str, **arguments: str) -> None:
        """Builds an image, reproducibly; the certificates of this machine are seen, and not kept."""
        given = [f"--build-arg={name}={value}" for name, value in arguments.items()]
        self.run(
            "build", "--isolation=chroot", "--format=docker", "--timestamp=0", "--quiet", *options, *given,
            "--volume=/etc/ssl/certs:/etc/ssl/certs:ro", f"--file={file}", f"--tag={tag}", str(folder),
            within_s=900,
        )  # fmt: skip

    def secret(self, secret: Json) -> None:
        """Makes a Kubernetes Secret: to be mounted or, where its keys are in capitals, to be variables.

        podman keeps them in two forms; what is mounted it does not decode.
        """
        values: dict[str, str] = secret["data"]
        if not all(key.isupper() for key in values):
            secret = {**secret, "data": {key: base64.b64decode(value).decode() for key, value in values.items()}}
            values = secret
        self.run("secret", "create", secret["metadata"]["name"], "-", given=json.dumps(values))


@contextmanager
def podman_of_its_own() -> Iterator[Podman]:
    """Is podman on an empty storage; everything that was started on it is ended and removed."""
    missing = [tool for tool in TOOLS if not _found(tool)]
    assert not missing, f"missing: {', '.join(missing)}; apt-get install --no-install-recommends {PACKAGES}"
    assert os.geteuid() == 0, "make test-deploy needs root: pods get addresses of their own"
    folder = Path(tempfile.mkdtemp(prefix="shanghai-deploy-"))
    podman = Podman(folder)
    try:
        podman.run("network", "create", NETWORK)
        yield podman
    finally:
        for leaving in ("podman pod rm --all --time=0", "podman rm --all --time=0", "podman network prune"):
            subprocess.run([*leaving.split(), "--force"], env=podman.variables, check=False, capture_output=True)
        subprocess.run(["umount", folder / "images/overlay"], check=False, capture_output=True)
        shutil.rmtree(folder)  # fails where anything is still in use


def _found(tool: str) -> bool:
    """Looks where podman looks for its own helpers, too."""
    return bool(shutil.which(tool, path=f"{os.environ['PATH']}:/usr/lib/podman:/usr/libexec/podman:/usr/sbin"))
