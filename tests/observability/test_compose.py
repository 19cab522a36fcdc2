"""What Prometheus is told of compose: names that are there, at a port that others in the network reach."""

import re
from pathlib import Path

import yaml

from infra.watching import dashboard

DEPLOY = Path(dashboard.__file__).parents[1] / "deploy"
CONFIG = (DEPLOY / "observability/prometheus.yaml").read_text()


def test_prometheus_finds_every_process_of_compose() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    settings = {
        name: service["environment"]
        for name, service in compose["services"].items()
        if service.get("command", [""])[0] in ("api", "worker", "relay", "projector", "clock")
    }
    told = yaml.safe_load("\n".join(re.findall(r"^ *# (\w+_configs: .*)$", CONFIG, re.MULTILINE)))
    [fixed], [looked_up] = told["static_configs"], told["dns_sd_configs"]
    assert sorted(fixed["targets"]) == sorted(f"{name}:9000" for name in settings if name != "worker")
    assert (looked_up["names"], looked_up["port"]) == (["worker"], 9000)
    assert {each["SHANGHAI_METRICS_HOST"] for each in settings.values()} == {"0.0.0.0"}
    assert all("inside" in compose["services"][name]["networks"] for name in settings)
    assert f"SHANGHAI_METRICS_PORT={looked_up['port']}" in (DEPLOY / "Dockerfile").read_text()
    assert f"{compose['name']}_inside" in CONFIG
