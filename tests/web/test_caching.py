"""Two who play in one browser: what one was shown is never given to the other out of the browser's cache."""

import httpx
import pytest
from playwright.sync_api import Page

from tests.e2e.conftest import Server

pytestmark = [pytest.mark.web, pytest.mark.stack]

VIEW = """async ([token, game]) => {
  const answer = await fetch(`/v1/games/${game}/view`, {headers: {Authorization: `Bearer ${token}`}});
  return (await answer.json()).you.seat;
}"""


def test_each_is_shown_the_own_seat_though_the_tag_is_the_same(docs: Page, server: Server) -> None:
    with httpx.Client(base_url=server.base_url) as http:
        anna, boris = (http.post("/v1/players", json={"name": name}).json()["token"] for name in ("Anna", "Boris"))
        own, others = ({"Authorization": f"Bearer {token}", "Idempotency-Key": "k"} for token in (anna, boris))
        seats = [{"controller": "you"}, {"controller": "open"}]
        made = http.post("/v1/games", json={"ruleset": "davis", "seats": seats}, headers=own)
        game = made.json()["game_id"]
        assert http.put(f"/v1/games/{game}/seats/1", headers=others).status_code == 200
    assert [docs.evaluate(VIEW, [token, game]) for token in (anna, boris, anna)] == [0, 1, 0]
