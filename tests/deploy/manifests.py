"""The manifests as `kubectl kustomize` renders them, and as podman, which knows pods only, can play them."""

import os
import subprocess
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]

DEPLOY = Path(__file__).parents[2] / "infra/deploy"
OVERLAYS = DEPLOY / "kubernetes/overlays"


def rendered(kubectl: Path, folder: Path) -> list[Json]:
    """Renders a kustomization."""
    done = subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def of_kind(manifests: list[Json], *kinds: str) -> list[Json]:
    return [manifest for manifest in manifests if manifest["kind"] in kinds]


def pod(workload: Json, name: str, images: Mapping[str, str], volumes: Path) -> Json:
    """Is one pod of a Deployment, StatefulSet or Job, with what podman can do of it.

    podman knows no probes by HTTP, no preStop, no claims and no fsGroup: the test looks and waits
    as they say, and a folder below `volumes` stands for each claim and empty folder. images: what stands for which.
    """
    spec = deepcopy(workload["spec"]["template"]["spec"])
    for key in ("topologySpreadConstraints", "serviceAccountName"):
        spec.pop(key, None)
    for container in spec["containers"]:
        container["image"] = images[container["image"]]
        for key in ("startupProbe", "livenessProbe", "readinessProbe", "lifecycle", "ports"):
            container.pop(key, None)
    claims = [claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", [])]
    spec["volumes"] += [{"name": claim, "emptyDir": {}} for claim in claims]
    for volume in spec["volumes"]:
        if is_folder := volume.keys() & {"emptyDir", "persistentVolumeClaim"}:
            del volume[is_folder.pop()]
            volume["hostPath"] = {
                "path": _folder(volumes / name / volume["name"], spec["securityContext"]["runAsUser"])
            }
        elif "secret" in volume:
            volume["secret"]["optional"] = False  # podman 4.3 falls over its absence
    if "restartPolicy" in spec:
        spec["restartPolicy"] = "Never"  # a failed Job is seen at once
    labels = workload["spec"]["template"]["metadata"]["labels"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}


def _folder(path: Path, owner: int) -> str:
    path.mkdir(parents=True)
    os.chown(path, owner, owner)
    return str(path)
