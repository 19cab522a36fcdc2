"""The rendered manifests, run by podman: what the kubelet and a Service do, the test does."""

import http.client
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count

import yaml

from tests.deploy.manifests import Json, of_kind, pod
from tests.deploy.podman import NETWORK, Podman
from tests.deploy.service import Service

ENGINES = ("shanghai-postgres", "shanghai-redis")
PROCESSES = tuple(f"shanghai-{name}" for name in ("relay", "projector", "clock", "worker", "webhooks", "api"))
START_BOUND_S = 240  # of a pod, on a busy machine


@dataclass(frozen=True)
class Pod:
    """One running pod; its name is known to the other pods."""

    name: str
    address: str
    workload: Json

    @property
    def container(self) -> str:
        return f"{self.name}-{self._spec['containers'][0]['name']}"

    @property
    def grace_s(self) -> int:
        return int(self._spec.get("terminationGracePeriodSeconds", 30))

    @property
    def probes(self) -> list[str]:
        """Names what has to be well before it is used."""
        return [probe for probe in ("startupProbe", "readinessProbe") if probe in self._spec["containers"][0]]

    def is_well(self, probe: str) -> bool:
        """Asks what a probe of the manifest asks."""
        container = self._spec["containers"][0]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        asked = container[probe]
        with suppress(OSError, http.client.HTTPException):
            if "tcpSocket" in asked:
                socket.create_connection((self.address, ports[asked["tcpSocket"]["port"]]), timeout=1).close()
                return True
            page = asked["httpGet"]
            connection = http.client.HTTPConnection(self.address, ports[page["port"]], timeout=3)
            with closing(connection):
                connection.request("GET", page["path"])
                return connection.getresponse().status == http.client.OK
        return False

    @property
    def _spec(self) -> Json:
        spec: Json = self.workload["spec"]["template"]["spec"]
        return spec


class Cluster:
    """The pods of one overlay. `images` is what stands for the manifests' images; `api` is the API's Service."""

    def __init__(self, podman: Podman, manifests: list[Json], images: Mapping[str, str], api: Service) -> None:
        self.podman = podman
        self.api = api
        self.pods: dict[str, list[Pod]] = {}
        self._images = dict(images)
        self._workloads = {
            workload["metadata"]["name"]: workload
            for workload in of_kind(manifests, "Deployment", "StatefulSet", "Job")
        }
        self._settings = of_kind(manifests, "ConfigMap")
        self._numbers = count(1)
        for secret in of_kind(manifests, "Secret"):
            podman.secret(secret)

    def runs(self, image: str, *, of: str) -> bool:
        """Tells whether pods that are started now run this image."""
        return self._images[of] == image

    def upgrade(self, image: str, *, of: str) -> Iterator[str]:
        """Has another image migrate, then rolls each process to it; names each that is done."""
        self._images[of] = image
        self.run_job("shanghai-migrate")
        for workload in PROCESSES:
            self.roll(workload)
            yield workload

    def start(self, *workloads: str) -> None:
        """Starts a pod of each and waits until all are ready."""
        new = [self._start(name, name if name in ENGINES else f"{name}-{next(self._numbers)}") for name in workloads]
        for started in new:
            self._wait(started)
            self.pods.setdefault(started.workload["metadata"]["name"], []).append(started)
        self._tell_service()

    def run_job(self, name: str) -> str:
        """Runs a Job's pod to its end and gives its log."""
        job = self._start(name, f"{name}-{next(self._numbers)}")
        code = self.podman.run("wait", job.container)
        log = self.podman.run("logs", job.container)
        self.podman.run("pod", "rm", "--force", job.name)
        assert code == "0", log
        return log

    def roll(self, workload: str) -> None:
        """Replaces its pods one by one as a rolling update does: a new one first, and then an old one goes."""
        for old in list(self.pods[workload]):
            self.start(workload)
            self.stop(old)

    def stop(self, leaving: Pod) -> float:
        """Takes a pod out of the Service and stops it within its grace; gives the seconds that it took."""
        self.pods[leaving.workload["metadata"]["name"]].remove(leaving)
        self._tell_service()
        begun = time.monotonic()
        self.podman.run("stop", f"--time={leaving.grace_s}", leaving.container)
        took_s = time.monotonic() - begun
        code = self.podman.run("inspect", "--format={{.State.ExitCode}}", leaving.container)
        assert code == "0", f"{leaving.name} ended with {code} after {took_s:.1f} s:\n{self.log(leaving)}"
        self.podman.run("pod", "rm", "--force", leaving.name)
        return took_s

    def log(self, pod: Pod) -> str:
        return self.podman.run("logs", "--tail=60", pod.container)

    def _start(self, workload: str, name: str) -> Pod:
        manifest = self._workloads[workload]
        played = pod(manifest, name, self._images, self.podman.folder / "disks")
        text = yaml.safe_dump_all([*self._settings, played])
        self.podman.run("kube", "play", f"--network={NETWORK}", "-", given=text)
        infra = self.podman.run("pod", "inspect", "--format={{.InfraContainerID}}", name)
        where = f'{{{{(index .NetworkSettings.Networks "{NETWORK}").IPAddress}}}}'
        return Pod(name, self.podman.run("inspect", f"--format={where}", infra), manifest)

    def _wait(self, started: Pod) -> None:
        deadline = time.monotonic() + START_BOUND_S
        while not all(map(started.is_well, started.probes)):
            assert time.monotonic() < deadline, f"{started.name} does not get ready:\n{self.log(started)}"
            time.sleep(0.05)

    def _tell_service(self) -> None:
        self.api.backends = [(each.address, 8000) for each in self.pods.get("shanghai-api", [])]
