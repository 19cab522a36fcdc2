"""podman with a storage of its own, below a folder that is gone afterwards."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from infra.ending import STOP_SIGNALS
from tests.stack_watching import eventually

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
static_dir = "{folder}/images/libpod"  # where the command that cleans up after a container looks
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
    """Is podman on an empty storage; everything that was started on it is ended and removed, also after Ctrl-C."""
    missing = [tool for tool in TOOLS if not _found(tool)]
    assert not missing, f"missing: {', '.join(missing)}; apt-get install --no-install-recommends {PACKAGES}"
    assert os.geteuid() == 0, "make test-deploy needs root: pods get addresses of their own"
    folder = Path(tempfile.mkdtemp(prefix="shanghai-deploy-"))
    podman = Podman(folder)
    before = {number: signal.signal(number, signal.default_int_handler) for number in STOP_SIGNALS}
    try:
        podman.run("network", "create", NETWORK)
        yield podman
    finally:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # an impatient Ctrl-C would leave half of it behind
        for leaving in ("pod rm --all --time=0", "rm --all --volumes --time=0", "network prune"):
            command = ["podman", *leaving.split(), "--force"]
            subprocess.run(command, env=podman.variables, check=False, capture_output=True, start_new_session=True)
        _let_go_of(folder)
        for number, handler in before.items():
            signal.signal(number, handler)
        shutil.rmtree(folder)  # fails where anything is still in use


def _let_go_of(folder: Path) -> None:
    """Ends what still runs on a file system below the folder, as a build that was cut short, and unmounts them all."""
    for root in Path("/proc").glob("[0-9]*/root"):
        with suppress(OSError):  # it has ended meanwhile
            if root.readlink().is_relative_to(folder):
                os.kill(int(root.parent.name), signal.SIGKILL)
    mounted = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for place in reversed(mounted):
        if Path(place).is_relative_to(folder):
            subprocess.run(["umount", "--lazy", place], check=False, capture_output=True)


@contextmanager
def docker_api(podman: Podman) -> Iterator[str]:
    """Is the address of a Docker engine, which podman plays."""
    place = podman.folder / "docker.sock"
    command = ["podman", "system", "service", "--time=0", f"unix://{place}"]
    with subprocess.Popen(command, env=podman.variables) as engine:
        eventually(place.exists, within_s=120, what="podman's service")
        try:
            yield f"unix://{place}"
        finally:
            engine.terminate()
            engine.wait()
            place.unlink(missing_ok=True)


def _found(tool: str) -> bool:
    """Looks where podman looks for its own helpers, too."""
    return bool(shutil.which(tool, path=f"{os.environ['PATH']}:/usr/lib/podman:/usr/libexec/podman:/usr/sbin"))
