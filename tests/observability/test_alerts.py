"""Alerts and dashboard speak of numbers that exist, and the runbook of every alert.

What makes an alert fire is in alerts.yaml beside this file; promtool runs it (`make test-alerts`).
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from api.numbers import readings_of
from infra.embedded.data_folder import tell_scraper
from infra.watching import dashboard, numbers
from infra.watching.cluster import Cluster
from infra.watching.disk import disk_readings
from infra.watching.numbers import COUNTED, READ, reading
from infra.watching.pool import pool_readings
from infra.watching.vital import Vital
from infra.watching.waiting import Waiting
from infra.watching.watched import pages_of
from tests.api.world import new_world

ROOT = Path(dashboard.__file__).parents[2]
FOLDER = ROOT / "infra/deploy/observability"
ALERTS = (FOLDER / "alerts.yaml").read_text()
FIRED = (Path(__file__).parent / "alerts.yaml").read_text()
RUNBOOK = (ROOT / "infra/RUNBOOK.md").read_text()
BY_PROMETHEUS = {"up"}
SAMPLES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",), "gauge": ("",)}

_NAMES = re.findall(r"- alert: (\w+)", ALERTS)


@pytest.fixture(scope="module")
def families() -> Iterator[list[Metric]]:
    """Everything that any process exports."""

    async def nothing() -> int:
        return 0

    async def nobody() -> dict[str, bool]:
        return {}

    async def no_rows(*_: object) -> list[object]:
        return []

    with ExitStack() as exits:
        exits.enter_context(reading(*Cluster(no_rows, nothing, nobody).readings))
        exits.enter_context(reading(*disk_readings("/")))
        exits.enter_context(reading(*Waiting(no_rows).readings))
        exits.enter_context(reading(*pool_readings(os.getpid())))
        exits.enter_context(reading(*readings_of(new_world().house, lambda: 0)))
        families = [family for registry in (COUNTED, READ) for family in registry.collect()]
        families += text_string_to_metric_families(pages_of(Vital("relay"))["/metrics"]()[2].decode())
        yield families


@pytest.fixture(scope="module")
def exported(families: list[Metric]) -> set[str]:
    return {family.name + suffix for family in families for suffix in SAMPLES.get(family.type, ("",))}


@pytest.fixture(scope="module")
def labels(families: list[Metric]) -> set[str]:
    return {name for family in families for sample in family.samples for name in sample.labels}


def asked(query: str) -> set[str]:
    """Finds the names of metrics in a query."""
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]|\b(by|on) \([^)]*\)", "", query)
    return set(re.findall(r"\b(?:shanghai_\w+|process_\w+|up)\b", bare))


def test_every_number_that_alerts_ask_for_is_exported(exported: set[str]) -> None:
    queries = re.findall(r"expr: ((?:>-\n)?.+?)\n +(?:for|labels):", ALERTS, re.DOTALL)
    assert len(queries) == len(_NAMES)
    for query in queries:
        assert asked(query)
        assert asked(query) <= exported | BY_PROMETHEUS


def test_every_number_on_the_dashboard_is_exported_and_every_number_is_on_it(exported: set[str]) -> None:
    shown = {
        name for panels in dashboard.ROWS.values() for panel in panels for query in panel.queries.values()
        for name in asked(query)
    }  # fmt: skip
    assert shown <= exported
    stems = {re.sub(r"_(bucket|sum|count|total)$", "", name) for name in shown}
    own = {re.sub(r"_(bucket|sum|count|total)$", "", name) for name in exported if name.startswith("shanghai_")}
    assert own == {stem for stem in stems if stem.startswith("shanghai_")}


def test_every_alert_leads_to_its_place_in_the_runbook() -> None:
    urls = re.findall(r"runbook_url: infra/RUNBOOK\.md#(\w+)", ALERTS)
    headings = re.findall(r"^### (\w+)$", RUNBOOK, re.MULTILINE)
    assert urls == [name.lower() for name in _NAMES]
    assert set(_NAMES) <= set(headings)


@pytest.mark.parametrize("name", _NAMES)
def test_the_runbook_says_what_an_alert_means_how_to_see_it_and_what_to_do(name: str) -> None:
    section = RUNBOOK.partition(f"### {name}\n")[2].partition("\n#")[0]
    assert all(f"**{word}**" in section for word in ("Means", "See", "Do"))
    for other in re.findall(r"\]\(#(\w+)\)", section):
        assert other in map(str.lower, _NAMES)


def test_every_fault_of_the_database_wakes_somebody(families: list[Metric]) -> None:
    asked_for = re.findall(r'shanghai_database_faults_total\{cause=~?"([^"]+)"\}', ALERTS)
    faults = [family for family in families if family.name == "shanghai_database_faults"]
    causes = {sample.labels["cause"] for family in faults for sample in family.samples}
    assert causes == {cause for causes in asked_for for cause in causes.split("|")}


def test_every_alert_is_made_to_fire() -> None:
    assert sorted(re.findall(r'alertname="(\w+)"', FIRED)) == sorted(_NAMES)


def test_no_label_of_a_target_is_one_of_a_number_which_would_be_renamed(labels: set[str], tmp_path: Path) -> None:
    tell_scraper(tmp_path, {"api": "http://127.0.0.1:9000"})
    [target] = json.loads((tmp_path / "metrics.json").read_text())
    relabelled = re.findall(r"target_label: (\w+)", (FOLDER / "prometheus-kubernetes.yaml").read_text())
    given = {*target["labels"], *relabelled}
    assert given == {"component", "instance"}
    assert "process" in labels
    assert not given & labels


def test_the_dashboard_is_what_the_table_says() -> None:
    assert json.loads((FOLDER / "dashboard.json").read_text()) == dashboard.dashboard(), "run make dashboard"


def test_a_fault_is_a_rise_from_zero_and_not_a_new_number() -> None:
    """Prometheus sees no rise in a series that begins with one."""
    told = numbers.numbers_page()[2].decode()
    for each in ('faults_total{cause="disk_full"}', 'append_seconds_count{outcome="overloaded"}', 'outcome="failed"'):
        assert each in told
