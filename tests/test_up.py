"""The whole server from one command: `shanghai up`, each process for itself, on a free port."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.demo import GameRefused, run
from infra.embedded.kept import watch
from infra.embedded.ports import free_port
from infra.embedded.stack import Stack, running_stack
from infra.watching.shared import PREFIX
from tests.exported import number
from tests.stack_watching import command, crash, descendants, eventually, is_ready, is_running, up

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("stack")]


def test_a_killed_server_leaves_nothing_running_starts_again_on_its_data_and_stops_in_good_order(
    tmp_path: Path,
) -> None:
    with up(tmp_path) as (server, url):
        assert httpx.get(server.line("docs")).is_success
        assert len(json.loads(Path(server.line("metrics")).read_text())) == 5
        anna = httpx.post(f"{url}/v1/players", json={"name": "Anna"}).raise_for_status().json()
        children = descendants(server.process.pid)
        assert len(children) >= 8
        crash(server.process.pid)
        eventually(lambda: not any(map(is_running, children)), within_s=30, what="all children gone")

    with up(tmp_path) as (server, url):  # every process killed at once
        assert who_is(anna["token"], url) == anna["player_id"]
        for pid in (server.process.pid, *descendants(server.process.pid)):
            crash(pid)

    with up(tmp_path) as (server, url):
        assert who_is(anna["token"], url) == anna["player_id"]
        children = descendants(server.process.pid)
        server.process.terminate()
        assert server.process.wait(60) == 0
        assert not any(map(is_running, children))
        assert not (tmp_path / "run").is_symlink()
        assert "database system is shut down" in (tmp_path / "logs/postgres.log").read_text()


@pytest.mark.parametrize("name", ["api", "relay", "clock", "projector", "worker", "postgres", "redis"])
def test_a_killed_process_is_started_again_and_the_server_gets_ready(stack: Stack, name: str) -> None:
    said: list[str] = []
    killed = stack.processes[name].running
    crash(killed.pid)
    deadline = time.monotonic() + 30

    def is_back() -> bool:
        assert time.monotonic() < deadline, said
        return stack.processes[name].running is not killed and is_ready(stack.base_url)

    watch(stack.processes.values(), say=said.append, until=is_back)
    assert f"{name} ended (signal 9), starting it again" in said


def test_a_killed_workers_numbers_are_removed_by_the_next_and_the_clock_tells_the_room_on_the_disk(
    stack: Stack,
) -> None:
    """One server for both, since a server is what costs."""
    killed = stack.processes["worker"].running
    folder = folder_of_numbers(killed.pid)
    assert folder.exists()
    crash(killed.pid)
    watch(stack.processes.values(), say=lambda _: None, until=lambda: not folder.exists())
    assert folder_of_numbers(stack.processes["worker"].running.pid) != folder
    told = (httpx.get(f"http://{address}/metrics").text for address in addresses(stack.data, "clock"))
    free = [number("shanghai_disk_free_bytes", text) for text in told]
    assert free == [pytest.approx(shutil.disk_usage(stack.data).free, rel=0.5)]


def test_the_doctor_finds_every_process_by_itself(stack: Stack) -> None:
    watch(stack.processes.values(), say=lambda _: None, until=lambda: is_ready(stack.base_url))
    with command("-m", "infra.cli", "doctor", "--json", "--data", stack.data) as doctor:
        doctor.process.wait(60)
        doctor.end()
        found = {each["what"]: each for each in map(json.loads, doctor.lines)}
    told = "processes", "versions", "clocks of processes", "leaders", "ports"
    assert {found[what]["level"] for what in told} == {"ok"}, found
    assert "1 api, 1 clock (leads), 1 projector (leads), 1 relay (leads), 1 worker" in found["processes"]["found"]


def test_a_demo_of_rules_that_there_are_not_is_refused_in_one_line(stack: Stack) -> None:
    with pytest.raises(GameRefused, match=r"^Invalid request: There is no such ruleset; known are .*davis"):
        run(stack.base_url, "whist", 4)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("data"), port=free_port()) as running:
        yield running


def folder_of_numbers(pid: int) -> Path:
    """Finds where a worker keeps its numbers: it has those files in its memory."""
    found: set[Path] = set()

    def is_found() -> bool:
        maps = Path(f"/proc/{pid}/maps").read_text()
        found.update(Path(path).parent for path in re.findall(rf"/\S+/{PREFIX}\S+", maps))
        return bool(found)

    eventually(is_found, within_s=20, what="a worker's numbers")
    [folder] = found
    return folder


def addresses(data: Path, process: str) -> list[str]:
    targets = json.loads((data / "metrics.json").read_text())
    return [address for each in targets if each["labels"]["component"] == process for address in each["targets"]]


def who_is(token: str, url: str) -> object:
    answer = httpx.get(f"{url}/v1/me", headers={"Authorization": f"Bearer {token}"})
    return answer.raise_for_status().json()["player_id"]
