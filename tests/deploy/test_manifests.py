"""Image, compose file and manifests, as strict validators and a few rules of our own see them."""

import os
import re
import subprocess
from base64 import b64decode
from ipaddress import ip_network
from pathlib import Path

import pytest
import yaml

from tests.deploy.images import DOCKERFILE
from tests.deploy.manifests import DEPLOY, OVERLAYS, Json, of_kind, rendered

LOGINS = {
    "shanghai-api": "shanghai-app",
    "shanghai-worker": "shanghai-app",
    "shanghai-webhooks": "shanghai-app",
    "shanghai-relay": "shanghai-app",
    "shanghai-clock": "shanghai-app",
    "shanghai-projector": "shanghai-projector",
}
CONNECTIONS = {  # at most, of one pod: its pools, its appends, what wakes the relay
    "shanghai-api": 11,
    "shanghai-worker": 5,
    "shanghai-webhooks": 7,
    "shanghai-relay": 3,
    "shanghai-clock": 9,
    "shanghai-projector": 3,
}
FOR_OTHERS = 20  # operators, backups, the standbys, CloudNativePG
DESK = "shanghai-operator"  # the operators' own, of which none runs by itself
RUNBOOK = DEPLOY.parent / "DEPLOY.md"
OPERATORS = ("cnpg.io", "keda.sh", "rabbitmq.com")  # their kinds are no part of Kubernetes, so nobody here knows them

pytestmark = pytest.mark.deploy


@pytest.fixture(params=["local", "production with rabbitmq"])
def overlay(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Is the folder of a kustomization."""
    name, _, more = str(request.param).partition(" with ")
    return with_component(name, more, tmp_path) if more else OVERLAYS / name


@pytest.fixture
def production(tools: Path) -> list[Json]:
    return rendered(tools / "kubectl", OVERLAYS / "production")


def test_kubernetes_takes_every_object_and_checkov_has_no_finding(tools: Path, overlay: Path, tmp_path: Path) -> None:
    everything = rendered(tools / "kubectl", overlay)
    known = [each for each in everything if not any(name in each["apiVersion"] for name in OPERATORS)]
    assert len(known) >= 25
    file = tmp_path / "everything.yaml"
    file.write_text(yaml.safe_dump_all(known))
    assert "WARN" not in said_by(tools / "kubernetes-validate", "--strict", file)
    file.write_text(yaml.safe_dump_all(everything))
    said_by(tools / "checkov", "--config-file", DEPLOY / "checkov.yaml", "--framework=kubernetes", "--file", file)


def test_the_dockerfile_has_no_fault(tools: Path) -> None:
    said_by(tools / "hadolint", DOCKERFILE)
    said_by(tools / "checkov", "--config-file", DEPLOY / "checkov.yaml", "--framework=dockerfile", "--file", DOCKERFILE)


def test_compose_opens_the_api_alone_and_starts_nothing_without_its_passwords(tools: Path, tmp_path: Path) -> None:
    passwords = tmp_path / ".env"
    make_passwords, _ = of_runbook("> .env").split("docker compose", 1)
    said_by("bash", "-euc", make_passwords.replace("cd infra/deploy", f"cd {tmp_path}"))
    compose = (tools / "docker-compose", "--file", DEPLOY / "compose.yaml", "--env-file", passwords, "config")
    services = yaml.safe_load(said_by(*compose))["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["api"]
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in services.values())
    assert all(service["deploy"]["resources"]["limits"]["memory"] for service in services.values())
    lines = passwords.read_text().splitlines()
    assert len(lines) == 7
    for left_out in lines:
        passwords.write_text("\n".join(line for line in lines if line != left_out))
        done = subprocess.run(compose, capture_output=True, text=True, check=False)
        assert "is missing a value" in done.stderr


def test_the_runbook_makes_the_secrets_that_the_manifests_name(tools: Path, production: list[Json]) -> None:
    kubectl = f'kubectl() {{ {tools / "kubectl"} "$@" --dry-run=client --output=yaml; echo ---; }}\n'
    printed = said_by("bash", "-euc", f"KEY=k KEY_ID=i\n{kubectl}{of_runbook('shanghai-redis-users')}")
    made = {each["metadata"]["name"]: decoded(each) for each in yaml.safe_load_all(printed) if each}
    named = set(
        re.findall(r"(?:secretName|passwordSecret|secret): *(?:\n *name: )?([a-z-]+)", yaml.safe_dump(production))
    )
    assert named - {"shanghai-postgres-app", "shanghai-tls"} <= made.keys()
    assert {"shanghai-app-login", "shanghai-projector-login", "shanghai-operator-login", "shanghai-app"} <= named
    for login in (name for name in named if name.endswith("-login")):
        role = login.removesuffix("-login")
        assert f"{made[login]['username']}:{made[login]['password']}@" in made[role]["url"]
    users = (OVERLAYS / "local/users.acl").read_text()
    assert made["shanghai-redis-users"]["users.acl"] == users.replace(
        ">local", f">{made['shanghai-redis-users']['password']}"
    )
    assert len(bytes.fromhex(made["shanghai"]["secret-key"])) == 32


def test_the_runbooks_first_step_applies_engines_and_migration_and_no_process(production: list[Json]) -> None:
    later = {*re.search(r"component notin \(([a-z,]+)\)", RUNBOOK.read_text())[1].split(",")}  # type: ignore[index]
    label = "app.kubernetes.io/component"
    first = [each for each in production if each["metadata"].get("labels", {}).get(label) not in later]
    assert {"Namespace", "ConfigMap", "Cluster", "ObjectStore", "StatefulSet", "Job"} <= {
        each["kind"] for each in first
    }
    assert not of_kind(first, "Deployment", "HorizontalPodAutoscaler", "ScaledObject")
    for workload in of_kind(production, "Deployment", "StatefulSet", "Job"):
        assert workload["metadata"]["labels"][label] == workload["spec"]["template"]["metadata"]["labels"][label]


def test_each_process_logs_in_as_its_own_role_and_nothing_but_the_migration_as_the_owner(
    production: list[Json],
) -> None:
    seen = {}
    for workload in of_kind(production, "Deployment"):
        volumes = {volume["name"]: volume for volume in workload["spec"]["template"]["spec"]["volumes"]}
        seen[workload["metadata"]["name"]] = volumes["database"]["secret"]["secretName"]
    assert seen == {**LOGINS, DESK: "shanghai-operator"}
    [job] = of_kind(production, "Job")
    [owner] = [volume for volume in job["spec"]["template"]["spec"]["volumes"] if volume["name"] == "database"]
    assert owner["secret"]["secretName"] == "shanghai-postgres-app"


def test_every_process_may_lose_a_machine(production: list[Json]) -> None:
    processes = {workload["metadata"]["name"]: workload for workload in of_kind(production, "Deployment")}
    assert processes.pop(DESK)["spec"]["replicas"] == 0
    least = {name: workload["spec"].get("replicas") for name, workload in processes.items()}
    for scaler in of_kind(production, "HorizontalPodAutoscaler", "ScaledObject"):
        spec = scaler["spec"]
        least[spec["scaleTargetRef"]["name"]] = spec.get("minReplicas") or spec["minReplicaCount"]
    assert least == dict.fromkeys(LOGINS, 2)
    kept = {budget["metadata"]["name"] for budget in of_kind(production, "PodDisruptionBudget")}
    assert kept == set(LOGINS)
    for workload in processes.values():
        labels = workload["spec"]["template"]["metadata"]["labels"]
        for rule in workload["spec"]["template"]["spec"]["topologySpreadConstraints"]:
            assert rule["labelSelector"]["matchLabels"].items() <= labels.items()


def test_postgres_has_connections_for_as_many_pods_as_there_may_be(production: list[Json]) -> None:
    pods = dict.fromkeys(LOGINS, 2)
    for scaler in of_kind(production, "HorizontalPodAutoscaler", "ScaledObject"):
        spec = scaler["spec"]
        pods[spec["scaleTargetRef"]["name"]] = spec.get("maxReplicas") or spec["maxReplicaCount"]
    assert pods["shanghai-api"] > 2
    [cluster] = of_kind(production, "Cluster")
    most = sum((number + 1) * CONNECTIONS[name] for name, number in pods.items())  # one more in a rollout
    assert most + FOR_OTHERS <= int(cluster["spec"]["postgresql"]["parameters"]["max_connections"])


def test_only_who_posts_webhooks_gets_outside(production: list[Json]) -> None:
    policies = {policy["metadata"]["name"]: policy["spec"] for policy in of_kind(production, "NetworkPolicy")}
    lead_out = {name for name, spec in policies.items() if "ipBlock" in yaml.safe_dump(spec.get("egress", []))}
    assert lead_out == {"shanghai-webhooks"}
    let_out = policies["shanghai-webhooks"]["podSelector"]["matchLabels"].items()
    pods = [(each["metadata"]["name"], each["spec"]["template"]) for each in of_kind(production, "Deployment")]
    assert [name for name, pod in pods if let_out <= pod["metadata"]["labels"].items()] == ["shanghai-webhooks"]


def test_nobody_is_believed_about_addresses_but_whom_an_overlay_names(tools: Path) -> None:
    variable = "SHANGHAI_TRUSTED_PROXIES"
    assert variable not in yaml.safe_dump(rendered(tools / "kubectl", OVERLAYS.parent / "base"))
    for name in ("local", "production"):
        [settings] = [each["data"] for each in of_kind(rendered(tools / "kubectl", OVERLAYS / name), "ConfigMap")
                      if variable in each["data"]]  # fmt: skip
        assert all(ip_network(network).prefixlen >= 16 for network in settings[variable].split(","))


def test_a_recovery_reads_the_old_copies_and_writes_to_a_place_of_its_own(tools: Path, tmp_path: Path) -> None:
    recovering = rendered(tools / "kubectl", with_component("production", "recovery", tmp_path))
    [spec] = [cluster["spec"] for cluster in of_kind(recovering, "Cluster")]
    assert spec["bootstrap"].keys() == {"recovery"}
    [source] = [
        each["plugin"] for each in spec["externalClusters"] if each["name"] == spec["bootstrap"]["recovery"]["source"]
    ]
    [archiver] = spec["plugins"]
    assert source["name"] == archiver["name"]
    assert source["parameters"]["barmanObjectName"] == archiver["parameters"]["barmanObjectName"]
    assert source["parameters"]["serverName"] == "shanghai-postgres" != archiver["parameters"]["serverName"]


def with_component(overlay: str, component: str, folder: Path) -> Path:
    """Makes the folder of a kustomization: an overlay and one component more."""
    kinds = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    resource, more = (
        os.path.relpath(path, folder) for path in (OVERLAYS / overlay, OVERLAYS.parent / "components" / component)
    )
    (folder / "kustomization.yaml").write_text(yaml.safe_dump({**kinds, "resources": [resource], "components": [more]}))
    return folder


def of_runbook(mark: str) -> str:
    """Is the commands of the runbook that hold the mark."""
    blocks: list[str] = re.findall(r"```sh\n(.*?)```", RUNBOOK.read_text(), re.DOTALL)
    return next(block for block in blocks if mark in block)


def decoded(secret: Json) -> dict[str, str]:
    return {key: b64decode(value).decode() for key, value in secret["data"].items()}


def said_by(*command: str | Path) -> str:
    """Runs a validator that has to be content."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr
