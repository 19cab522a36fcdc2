"""The product's own goals, measured on a server of their own: `make bench`. One line a goal; the exit code is 0."""

import re
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import httpx

from infra.embedded.ports import free_port
from tests.e2e.client import Client, follow
from tests.stack_watching import command, descendants, eventually

GAMES = 5
SETTLED_S = 5.0  # after this time without work a process holds what it holds when idle


def goal(name: str, measured: float, bound: float, unit: str) -> None:
    """Prints one goal's line; all bounds here are upper ones."""
    verdict = "ok" if measured <= bound else "short"
    print(f"goal {name} {measured:.2f}{unit} {bound:g}{unit} {verdict}", flush=True)  # noqa: T201  this is the output


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="shanghai-bench-") as folder:
        port, began = free_port(), time.monotonic()
        with command("-m", "infra.cli", "up", "--port", str(port), "--data", Path(folder)) as server:
            base_url = f"http://127.0.0.1:{port}"
            eventually(lambda: answers(base_url), within_s=60, what="an answer of the API")
            api_s = time.monotonic() - began
            server.line("ready", within_s=60)
            goal("up_api_answers", api_s, 3, "s")
            goal("up_all_ready", time.monotonic() - began, 6, "s")
            time.sleep(SETTLED_S)
            goal("idle_memory_pss", memory_mb(server.process.pid), 500, "MB")
            goal("four_bot_davis_game", statistics.median(game_s(base_url) for _ in range(GAMES)), 10, "s")


def answers(base_url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{base_url}/health/live", timeout=1).is_success
    return False


def memory_mb(pid: int) -> float:
    """Sums the proportional set sizes of a process and all below it, in MB."""
    total = 0
    for process in (pid, *descendants(pid)):
        with suppress(OSError):
            found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
            total += int(found[1]) if found else 0
    return total * 1024 / 1e6


def game_s(base_url: str) -> float:
    """Times a game of seven rounds from its start to the last event seen on its stream."""
    with Client(base_url) as client:
        began = time.monotonic()
        game_id = client.open_game("davis", "normal", "normal", "normal", "normal")
        for _ in follow(client, game_id):
            pass
        took = time.monotonic() - began
        assert client.view(game_id)["status"] == "finished"
    return took


if __name__ == "__main__":
    main()
