"""What processes log while they are asked hostile things and their database fails: lines, and no secret in them."""

import json

import asyncpg
import httpx
import pytest
from msgspec.structs import replace

from infra.embedded.ports import free_port
from infra.settings import Settings
from infra.wiring import Services
from services.ids import uuid_of
from tests.engines import eventually
from tests.processes import is_live, server
from tests.workers.tables import started_game

pytestmark = pytest.mark.xdist_group("processes")

SEATS = {"ruleset": "davis", "seats": [{"controller": "you"}, {"controller": "bot", "level": "easy"}]}


async def test_an_api_logs_each_request_and_every_fault_and_no_secret(
    settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    own = replace(settings, port=free_port())
    owner = await asyncpg.connect(settings.database_url)
    await owner.execute("ALTER TABLE player ADD CONSTRAINT no_eve CHECK (name <> 'Eve Eavesdropper')")
    url = f"http://127.0.0.1:{own.port}"
    with server("api", own) as api:
        async with httpx.AsyncClient(base_url=url) as http:
            await eventually(lambda: is_live(http))
            token = (await http.post("/v1/players", json={"name": "Anna Anonymous"})).json()["token"]
            http.headers.update({"authorization": f"Bearer {token}", "idempotency-key": "key-of-anna"})
            game_id = (await http.post("/v1/games", json=SEATS)).json()["game_id"]
            code = (await http.post(f"/v1/games/{game_id}/invites", json={})).json()["code"]
            assert (await http.get(f"/v1/invites/{code}")).is_success
            assert (await http.post("/v1/players", json={"name": "Eve Eavesdropper"})).status_code == 500
            await http.get(f"/v1/games/{game_id}/view?token={token}")
            await http.get(f"/{token}", headers={"authorization": "Bearer shg_of_nobody"})
            await owner.execute("ALTER TABLE player DROP CONSTRAINT no_eve; ALTER TABLE invite RENAME TO elsewhere")
            assert (await http.get(f"/v1/invites/{code}")).status_code == 500
            await owner.execute("ALTER TABLE elsewhere RENAME TO invite")
        api.terminate()
        assert api.wait(60) == 0  # its last lines are written by then
    await owner.close()
    log = capfd.readouterr().err
    lines = [json.loads(line) for line in log.splitlines()]
    for secret in (token, code, "Eve", "Anonymous", "of_nobody", "key-of-anna", "SELECT", "Traceback"):
        assert secret not in log
    told = [(line["operation"], line["status"]) for line in lines if line["event"] == "request"]
    assert told == [
        ("createGuest", 201), ("createGame", 201), ("createInvite", 201), ("getInvite", 200), ("createGuest", 500),
        ("getView", 422), ("", 404), ("getInvite", 500),
    ]  # fmt: skip
    assert [line["error"] for line in lines if "error" in line] == [
        "CheckViolationError 23514 player no_eve",
        "UndefinedTableError 42P01",
    ]
    failed = [line for line in lines if line["level"] == "error" and line["event"] != "request"]
    assert all(line["request_id"] and any("api.routes" in step for step in line["way"]) for line in failed)


async def test_a_worker_names_the_game_whose_job_fails(
    services: Services, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    game_id = await started_game(services)
    owner = await asyncpg.connect(settings.database_url)
    await owner.execute("UPDATE event SET payload = '\\x00' WHERE game_id = $1", uuid_of("gam", game_id))
    await owner.close()
    told: list[str] = []

    async def has_failed() -> bool:
        told.append(capfd.readouterr().err)
        return any(line.endswith("\n") for line in failures("".join(told)))

    with server("workers", settings):
        await services.jobs.hand_out(game_id)
        await eventually(has_failed)
    failed = json.loads(failures("".join(told))[0])
    assert (failed["level"], failed["game_id"]) == ("error", game_id)
    assert any("services.codec" in step for step in failed["way"])


def failures(log: str) -> list[str]:
    return [line for line in log.splitlines(keepends=True) if "DecodeError" in line]
