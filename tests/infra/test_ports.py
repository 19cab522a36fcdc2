"""Ports that `shanghai up` chooses by itself."""

import socket
from pathlib import Path

import pytest

from infra.embedded import ports
from infra.embedded.ports import free_port, free_ports


def outgoing(folder: Path, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has connections that go out begin at a port."""
    (folder / "range").write_text(f"{first}\t60999\n")
    monkeypatch.setattr(ports, "_OUTGOING", folder / "range")


def test_no_connection_that_goes_out_can_take_a_free_port_before_its_listener() -> None:
    chosen = [free_port() for _ in range(50)]
    for port in chosen:
        with socket.create_server(("127.0.0.1", port)):
            pass
    with socket.socket() as going_out:
        going_out.bind(("127.0.0.1", 0))  # as the system chooses for one
        assert max(chosen) < ports._first_of_outgoing() <= going_out.getsockname()[1]


def test_a_port_that_is_taken_is_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = free_port()
    monkeypatch.setattr(ports, "_FIRST", taken)
    outgoing(tmp_path, taken + 1, monkeypatch)
    with socket.create_server(("127.0.0.1", taken)):
        assert free_port() != taken


def test_where_every_port_may_go_out_any_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outgoing(tmp_path, 1024, monkeypatch)
    assert free_port() > 1024


def test_ports_that_are_given_together_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outgoing(tmp_path, ports._FIRST + 10, monkeypatch)
    chosen = free_ports(3, besides=ports._FIRST)
    assert len(set(chosen)) == 3
    assert ports._FIRST not in chosen
