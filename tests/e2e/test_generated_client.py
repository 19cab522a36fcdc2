"""A client made from openapi.json by openapi-python-client plays a whole game; nothing of its code is ours."""

import importlib
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from tests.e2e.conftest import Server

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]

OPENAPI = Path(__file__).parents[2] / "openapi"
PREFERRED = ("lay_down", "lay_off", "swap_wild")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Generates the client and gives its package's name."""
    folder, name = tmp_path_factory.mktemp("generated"), "generated_client"
    generator = Path(sysconfig.get_path("scripts")) / "openapi-python-client"
    options = ["--path", str(OPENAPI / "openapi.json"), "--meta", "none", "--output-path", str(folder / name)]
    config = ["--config", str(OPENAPI / "examples" / "python" / "generator.yaml"), "--fail-on-warning"]
    made = subprocess.run(
        [generator, "generate", *options, *config], capture_output=True, text=True, timeout=60, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    yield name
    sys.path.remove(str(folder))
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def test_the_generated_client_plays_a_whole_game_with_three_bots(server: Server, generated: str) -> None:
    def part(name: str) -> ModuleType:
        return importlib.import_module(f"{generated}.{name}")

    models, random = part("models"), Random(11)

    def called(operation: str, **arguments: Any) -> Any:
        answer = part(f"api.{operation}").sync_detailed(**arguments)
        assert answer.status_code < 300 or answer.parsed.code == "decision_closed", answer.content
        return answer.parsed

    with part("client").Client(base_url=server.base_url) as open_client:
        guest = called("players.create_guest", client=open_client, body=models.NewPlayer(name="Anna"))
    with part("client").AuthenticatedClient(base_url=server.base_url, token=guest.token) as client:
        seats = [models.YourSeat(controller="you"), *(models.BotSeat(controller="bot") for _ in range(3))]
        wanted = models.NewGame(ruleset="davis", seats=seats, pace=models.NewPace(claim_window_s=1))
        game = called("games.create_game", client=client, body=wanted, idempotency_key="open")
        called("games.start_game", client=client, game_id=game.game_id, idempotency_key="start")
        view = called("play.get_view", client=client, game_id=game.game_id)
        while view.status == "playing":
            for decision in view.decisions[:1]:
                assert all(type(option).__name__ != "dict" for option in decision.options)
                good = [option for option in decision.options if option.kind in PREFERRED]
                move = random.choice(good or decision.options)
                called(
                    "play.make_move",
                    client=client,
                    game_id=game.game_id,
                    body=models.MoveRequest(decision_id=decision.decision_id, move=move),
                    idempotency_key=decision.decision_id,
                )
            view = called("play.get_view", client=client, game_id=game.game_id)
        assert view.status == "finished"
        assert len(view.result.totals) == 4

        page = called("log.list_events", client=client, game_id=game.game_id, limit=500)
        assert type(page.items[0]).__name__ == "GameOpenedEvent"
        assert page.items[0].data.rules.name == "davis"
