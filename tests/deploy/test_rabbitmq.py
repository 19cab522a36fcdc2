"""RabbitMQ as the broker: the jobs of a game go through it, and it may be away for a while."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra.embedded.engines import embedded_services
from infra.embedded.ports import free_port
from infra.migrations import migrate
from infra.settings import Settings
from tests.deploy.images import build_engine
from tests.deploy.playing import play
from tests.deploy.podman import Podman
from tests.e2e.client import Client
from tests.e2e.roof import Roof, roof
from tests.e2e.test_whole_games import assert_finished
from tests.engines import UNSAFE, run, settings_of
from tests.stack_watching import eventually

EVERYBODY = ("relay", "clock", "projector", "worker", "api")
NAME, NODE = "rabbitmq", "rabbit@localhost"
CONF = "loopback_users = none\ndefault_user = shanghai\ndefault_pass = rabbit\n"
QUEUES = {"shanghai", "shanghai.webhooks"}
BEGUN = 20  # events

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


def test_bots_play_on_after_rabbitmq_was_started_anew(podman: Podman, everybody: Roof) -> None:
    eventually(lambda: served(podman).keys() == QUEUES, within_s=120, what="the worker takes jobs of both kinds")
    with Client(everybody.base_urls[0], "Anna") as anna, ThreadPoolExecutor(1) as seat:
        game_id = anna.open_game("davis", "you", "normal", "easy", pace={"claim_window_s": 1, "turn_s": 60})
        playing = seat.submit(play, anna, game_id, seed=7)
        eventually(lambda: version(anna, game_id) >= BEGUN, within_s=60, what="the bots are at it")
        podman.run("restart", "--time=0", NAME)
        assert not playing.done(), "the broker was away after the end"
        assert playing.result()
        assert_finished(anna, game_id, seat=0)
        assert served(podman)["shanghai"] == 1, "the worker has come back once"


def version(client: Client, game_id: str) -> int:
    current: int = client.view(game_id)["version"]
    return current


def served(podman: Podman) -> dict[str, int]:
    """Counts the consumers of each queue."""
    lines = podman.run(
        "exec", "--user=rabbitmq", NAME, "rabbitmqctl", f"--node={NODE}", "--quiet", "list_queues", "name", "consumers"
    ).splitlines()
    return {name: int(consumers) for name, consumers in (line.split() for line in lines if line[-1:].isdigit())}
