"""RabbitMQ as the broker: the jobs of a game go through it, and it may be away for a while."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra.embedded.engines import embedded_services
from infra.embedded.ports import free_port
from infra.migrations import migrate
from infra.settings import Settings
from tests.deploy.images import build_engine
from tests.deploy.podman import Podman
from tests.e2e.client import Client, follow
from tests.e2e.roof import Roof, roof
from tests.engines import UNSAFE, run, settings_of
from tests.stack_watching import eventually

EVERYBODY = ("relay", "clock", "projector", "worker", "api")
NAME, NODE = "rabbitmq", "rabbit@localhost"
CONF = "loopback_users = none\ndefault_user = shanghai\ndefault_pass = rabbit\n"
BEGUN = 40  # events: the bots are at it

pytestmark = pytest.mark.deploy


@pytest.fixture
def broker(podman: Podman, tmp_path: Path) -> Iterator[str]:
    """Is the address of a RabbitMQ in a container."""
    conf, port = tmp_path / "rabbitmq.conf", free_port()
    conf.write_text(CONF)
    podman.run(
        "run", "--detach", f"--name={NAME}", "--user=rabbitmq", f"--env=RABBITMQ_NODENAME={NODE}",
        f"--publish=127.0.0.1:{port}:5672", f"--volume={conf}:/etc/rabbitmq/rabbitmq.conf:ro",
        build_engine(podman), "rabbitmq-server",
    )  # fmt: skip
    yield f"amqp://shanghai:rabbit@127.0.0.1:{port}//"
    podman.run("rm", "--force", "--time=0", NAME)


@pytest.fixture
def everybody(broker: str) -> Iterator[Roof]:
    with embedded_services(UNSAFE) as engines:
        run(migrate(engines.postgres.url))
        settings: Settings = replace(settings_of(engines, engines.postgres.url), broker_url=broker)
        with roof(settings, EVERYBODY) as running:
            yield running


def test_bots_play_a_whole_game_while_rabbitmq_is_started_anew(podman: Podman, everybody: Roof) -> None:
    anna = Client(everybody.base_urls[0], "Anna")
    game_id = anna.open_game("davis", "normal", "easy", "easy")
    told = follow(anna, game_id, within_s=600)
    for _, data in told:
        if data.get("version") == BEGUN:
            assert served(podman).keys() == {"shanghai", "shanghai.webhooks"}
            podman.run("restart", "--time=0", NAME)
    assert anna.sent("GET", f"/v1/games/{game_id}")["status"] == "finished"
    eventually(lambda: served(podman)["shanghai"] == 1, within_s=60, what="the worker is back")
    anna.close()


def served(podman: Podman) -> dict[str, int]:
    """Counts the consumers of each queue."""
    lines = podman.run(
        "exec", "--user=rabbitmq", NAME, "rabbitmqctl", f"--node={NODE}", "--quiet", "list_queues", "name", "consumers"
    ).splitlines()
    return {name: int(consumers) for name, consumers in (line.split() for line in lines if line[-1:].isdigit())}
