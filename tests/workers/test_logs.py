"""What an API process logs while it is asked hostile things and its database fails: lines, and no secret in them."""

import json

import asyncpg
import httpx
import pytest
from msgspec.structs import replace

from infra.embedded.ports import free_port
from infra.settings import Settings
from tests.engines import eventually
from tests.processes import is_live, server

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
        assert api.wait(10) == 0  # its last lines are written by then
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
