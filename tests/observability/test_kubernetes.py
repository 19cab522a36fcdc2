"""Prometheus's configuration for Kubernetes, as promtool reads it and as it would find the manifests' pods.

Debian's promtool is built without Kubernetes: a list of addresses with the labels that Kubernetes gives stands for it.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.watching import dashboard

DEPLOY = Path(dashboard.__file__).parents[1] / "deploy"
WATCHED = DEPLOY / "observability"
COMPONENT = "app.kubernetes.io/component"
PROCESSES = {"api", "worker", "webhooks", "relay", "projector", "clock"}

Json = dict[str, Any]

with_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool, see make test-alerts")


@pytest.fixture
def jobs() -> dict[str, Json]:
    config = yaml.safe_load((WATCHED / "prometheus-kubernetes.yaml").read_text())
    return {job["job_name"]: job for job in config["scrape_configs"]}


def test_kubernetes_is_asked_for_the_pods_of_the_namespace_and_for_the_nodes(jobs: dict[str, Json]) -> None:
    [production] = yaml.safe_load_all((DEPLOY / "kubernetes/overlays/production/kustomization.yaml").read_text())
    asked = {name: job["kubernetes_sd_configs"] for name, job in jobs.items()}
    assert asked == {
        "shanghai": [{"role": "pod", "namespaces": {"names": [production["namespace"]]}}],
        "kubelet": [{"role": "node"}],
    }


def test_what_the_rules_want_of_kubelet_is_fetched_and_kept(jobs: dict[str, Json]) -> None:
    wanted = set(re.findall(r"\bkubelet_\w+", (WATCHED / "kubernetes.yaml").read_text()))
    kept = [
        each["regex"] for each in jobs["kubelet"]["metric_relabel_configs"] if each["source_labels"] == ["__name__"]
    ]
    assert wanted
    assert all(re.fullmatch(regex, name) for regex in kept for name in wanted)


@with_promtool
def test_prometheus_takes_the_configuration(jobs: dict[str, Json], tmp_path: Path) -> None:
    shutil.copytree(WATCHED, tmp_path, dirs_exist_ok=True)
    config = yaml.safe_load((WATCHED / "prometheus-kubernetes.yaml").read_text())
    config["scrape_configs"] = [found(job, []) for job in jobs.values()]
    file = tmp_path / "prometheus-kubernetes.yaml"
    file.write_text(yaml.safe_dump(config).replace("/var/run/secrets/kubernetes.io/serviceaccount", str(tmp_path)))
    for name in ("token", "ca.crt"):
        (tmp_path / name).touch()
    assert "is valid prometheus config" in said("check", "config", file)


@with_promtool
def test_prometheus_finds_every_process_by_its_port_and_no_pod_that_has_ended(
    jobs: dict[str, Json], tmp_path: Path
) -> None:
    addresses = [address for each in manifests() for address in (*pod(each, "Running"), *pod(each, "Failed"))]
    file = tmp_path / "found.yaml"
    file.write_text(yaml.safe_dump({"scrape_configs": [found(jobs["shanghai"], addresses)]}))
    scraped = [
        each["labels"] for each in json.loads(said("check", "service-discovery", "--timeout=1s", file, "shanghai"))
    ]
    assert sorted(target["component"] for target in scraped if target) == sorted(PROCESSES)
    for target in filter(None, scraped):
        assert target["instance"] == f"shanghai-{target['component']}-7"
        assert target["__address__"].endswith(":9000")


def manifests() -> list[Json]:
    base = DEPLOY / "kubernetes/base"
    [kustomization] = yaml.safe_load_all((base / "kustomization.yaml").read_text())
    every = [each for name in kustomization["resources"] for each in yaml.safe_load_all((base / name).read_text())]
    return [each for each in every if each["kind"] in ("Deployment", "Job")]


def pod(workload: Json, phase: str) -> list[Json]:
    """Lists a pod's ports as Prometheus hears of them: an address for each, and one of its own where there is none."""
    name, template = workload["metadata"]["name"], workload["spec"]["template"]
    labels = {
        "__meta_kubernetes_pod_name": f"{name}-7",
        "__meta_kubernetes_pod_phase": phase,
        "__meta_kubernetes_pod_label_app_kubernetes_io_component": workload["metadata"]["labels"][COMPONENT],
    }
    ports = [port for container in template["spec"]["containers"] for port in container.get("ports", ())]
    return [
        {
            "targets": [f"{name}.{phase.lower()}:{port['containerPort']}"],
            "labels": {**labels, "__meta_kubernetes_pod_container_port_name": port["name"]},
        }
        for port in ports or [{"containerPort": 80, "name": ""}]
    ]


def found(job: Json, addresses: list[Json]) -> Json:
    """Is a job with addresses in the place of Kubernetes."""
    left = {key: value for key, value in job.items() if key != "kubernetes_sd_configs"}
    return {**left, "static_configs": addresses}


def said(*arguments: str | Path) -> str:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout
