"""What `shanghai health` asks a process on the same machine."""

from infra.embedded.ports import free_port
from infra.health import ask
from infra.watching.port import health_pages, serving
from infra.watching.vital import Vital


def test_a_process_tells_whether_it_lives_and_whether_it_is_of_use() -> None:
    port, vital = free_port(), Vital("clock")
    assert ask(port, "/health/live") is None
    with serving("127.0.0.1", port, health_pages(vital)):
        alive, ready = ask(port, "/health/live"), ask(port, "/health/ready")
        assert alive is not None
        assert alive.is_well
        assert ready is not None
        assert not ready.is_well
        vital.leads()
        ready = ask(port, "/health/ready")
        assert ready is not None
        assert ready.is_well
        assert '"leads"' in ready.text
