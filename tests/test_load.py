"""Simulated people play over the API at a rate, and a report tells how the server bore it."""

import json
import signal
import socket
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from infra.embedded.ports import free_port
from infra.load.drawing import drawn, round_numbers
from infra.load.measured import Times, curve, spread
from infra.load.run import NotYours, check_address
from tests.stack_watching import command, shanghai, up

pytestmark = [pytest.mark.xdist_group("stack")]


@pytest.mark.stack
def test_a_report_tells_the_times_errors_and_costs_and_no_token(tmp_path: Path) -> None:
    with up(tmp_path / "data") as (_, base_url):
        plan = ["--games=4", "--humans=2", "--bots=1", "--rate=25", "--minutes=0.05"]
        said = shanghai("load", *plan, "--url", base_url, "--to", tmp_path / "report", "--data", tmp_path / "data")
    assert "moves/s" in said, said
    report = json.loads((tmp_path / "report/report.json").read_bytes())
    assert 10 <= report["moves"]["count"] <= 25 * 3 + 5  # the rate is a bound
    assert report["moves"]["p50_ms"] <= report["moves"]["p99_ms"]
    assert report["commit_to_stream"]["count"] > report["moves"]["count"]
    assert report["cpu_s"]["api"] > 0
    assert report["after"]["kept"]["games"] == 4
    assert not {code for code in report["turned_away"] if not code.startswith("409")}
    for name in ("rates.svg", "moves.svg", "streams.svg"):
        ET.parse(tmp_path / "report" / name)
    everything = b"".join(path.read_bytes() for path in (tmp_path / "report").iterdir())
    assert b"shg_" not in everything
    assert base_url.encode() not in everything


def test_only_this_machine_is_put_under_load_unasked() -> None:
    check_address("http://127.0.0.1:8000")
    check_address("http://[::1]:8000")
    for url in ("http://192.0.2.1", "http://10.0.0.1:8000", "http://0.0.0.0:8000"):
        with pytest.raises(NotYours, match="yes-this-is-mine"):
            check_address(url)
    for url in ("shanghai", "127.0.0.1:8000", "ftp://127.0.0.1", "http://"):
        with pytest.raises(NotYours, match="no address of a server"):
            check_address(url)


def test_a_server_that_is_away_is_one_line(tmp_path: Path) -> None:
    with command("-m", "infra.cli", "load", "--url", f"http://127.0.0.1:{free_port()}", "--to", tmp_path) as load:
        assert "does not answer: ConnectionRefusedError" in load.line("shanghai:")


def test_a_run_that_is_stopped_ends_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with command("-m", "infra.cli", "load", "--url", url, "--to", tmp_path) as load:
            asking, _ = silent.accept()
            with asking:
                load.process.send_signal(signal.SIGINT)
                assert load.process.wait(60) == 0
    assert load.lines == ["stopped"]


def test_durations_are_summed_up_and_followed_through_the_run() -> None:
    times = Times()
    for n in range(100):
        times.add(n / 10, n / 1000)
    summed = spread(times)
    assert (summed.count, summed.p50_ms, summed.p95_ms, summed.worst_ms) == (100, 50.0, 95.0, 99.0)
    points = curve(times, 10.0)
    assert sum(point.per_s for point in points) * 10 / len(points) == pytest.approx(100, abs=1)
    assert (points[0].p50_ms, points[-1].p99_ms) == (1.0, 99.0)
    assert spread(Times()).p50_ms is None


def test_axes_have_round_numbers() -> None:
    assert round_numbers(532) == [0, 100, 200, 300, 400, 500]
    assert round_numbers(60) == [0, 10, 20, 30, 40, 50, 60]
    assert round_numbers(0.7) == [0, 0.2, 0.4, 0.6]
    for most in (0.003, 1.0, 9.99, 12_345.6):
        numbers = round_numbers(most)
        assert 2 < len(numbers) <= 7
        assert numbers[-1] <= most


def test_a_curve_has_a_name_a_unit_and_a_hole_where_nothing_was_measured() -> None:
    svg = drawn("Time of a move", "ms", [60.0 * n for n in range(1, 8)], {"p99": [1.0, 2.0, None, 3.0, 4.0, None, 5.0]})
    drawing = ET.fromstring(svg)
    texts = [each.text for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Time of a move", "ms", "p99", "0", "5", "min since all tables were filled"} <= {*texts}
    lines = [each.get("points", "").split() for each in drawing.iter("{http://www.w3.org/2000/svg}polyline")]
    assert [len({*line}) for line in lines] == [2, 2, 1]


def test_a_run_of_more_connections_than_the_process_may_have_is_refused_in_one_line(tmp_path: Path) -> None:
    """The limit of the system; what a shell begins with is raised to it."""
    narrow = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)); from infra.cli import main; main()"
    )
    with command("-c", narrow, "load", "--games", "1000", "--to", tmp_path) as load:
        assert load.line("shanghai:") == (
            "1500 connections are needed, and this process may have 256: raise `ulimit -n`"
        )  # fmt: skip
    raised = "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (256, 512)); from infra.open_files import *; "
    with command("-c", raised + "print('may', allow_many_open_files())") as process:
        assert process.line("may") == "512"
