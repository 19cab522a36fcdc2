"""A person who has never seen the API reads /docs and plays from it."""

import json
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page

from tests.e2e.conftest import Server

pytestmark = [pytest.mark.web, pytest.mark.stack]


def opened(docs: Page, operation: str) -> Locator:
    """Opens an operation by its name in the index."""
    docs.locator(f"#index a[href='#{operation}']").click()
    panel = docs.locator(f"#{operation}")
    panel.locator("form.try").wait_for()
    return panel


def answered(panel: Locator, status: int) -> Any:
    """Sends what stands in the form, and reads the answer."""
    panel.get_by_role("button", name="Send").click()
    panel.locator(".try [aria-live] .status", has_text=str(status)).wait_for()
    return json.loads(panel.locator(".try [aria-live] > pre").inner_text())


def test_every_operation_is_listed_and_opens(docs: Page, server: Server) -> None:
    paths = httpx.get(f"{server.base_url}/openapi.json").json()["paths"]
    operations = {operation["operationId"] for methods in paths.values() for operation in methods.values()}
    assert {each.get_attribute("id") for each in docs.locator("details.operation").all()} == operations
    for operation in sorted(operations):
        assert opened(docs, operation).locator(".answers details").count() >= 1, operation


def test_a_game_is_opened_started_and_looked_at_from_the_page(docs: Page) -> None:
    guest = answered(opened(docs, "createGuest"), 201)
    assert docs.locator("#token").input_value() == guest["token"]
    assert docs.locator("#token").get_attribute("type") == "password"
    panel = opened(docs, "createGame")
    seats = [{"controller": "you"}, {"controller": "bot", "level": "easy"}]
    panel.get_by_label("Body").fill(json.dumps({"ruleset": "davis", "seats": seats}))
    game = answered(panel, 201)
    panel = opened(docs, "startGame")
    panel.locator("input[data-name=game_id]").focus()
    assert answered(panel, 200)["game_id"] == game["game_id"]
    panel = opened(docs, "getView")
    panel.locator("input[data-name=game_id]").focus()
    assert answered(panel, 200)["you"]["seat"] == 0
    panel.get_by_text("as curl").click()
    assert guest["token"] not in panel.inner_text()


def test_a_stream_is_followed_until_it_is_stopped(docs: Page) -> None:
    answered(opened(docs, "createGuest"), 201)
    panel = opened(docs, "createGame")
    panel.get_by_label("Body").fill(json.dumps({"ruleset": "davis", "seats": [{"controller": "you"}]}))
    answered(opened(docs, "createGame"), 422)  # a table of one
    panel.get_by_label("Body").fill(
        json.dumps({"ruleset": "davis", "seats": [{"controller": "you"}, {"controller": "open"}]})
    )
    answered(panel, 201)
    panel = opened(docs, "streamEvents")
    panel.locator("input[data-name=game_id]").focus()
    panel.get_by_role("button", name="Send").click()
    panel.locator("pre", has_text="event: game_opened").wait_for()
    panel.get_by_role("button", name="Stop").click()
    panel.get_by_role("button", name="Stop").wait_for(state="hidden")


def test_the_filter_narrows_the_index(docs: Page) -> None:
    docs.get_by_label("Filter").fill("webhook")
    shown = docs.locator("#index a:visible").all_inner_texts()
    docs.get_by_label("Filter").fill("move")
    moves = docs.locator("#index a:visible").all_inner_texts()
    assert all("move" in each.lower() for each in moves)
    assert "makeMove" in " ".join(moves)
    assert set(shown).isdisjoint(moves)


def test_nothing_is_wider_than_a_telephone(docs: Page) -> None:
    docs.set_viewport_size({"width": 390, "height": 844})
    for operation in ("makeMove", "createGame", "createWebhook", "validateRuleset"):
        opened(docs, operation).locator(".schema details").evaluate_all(
            "all => all.forEach((each) => each.open = true)"
        )
        assert docs.evaluate("document.documentElement.scrollWidth") <= 390, operation


def test_an_answer_is_shown_as_an_example(docs: Page) -> None:
    for operation, said in (("createGame", '"status": "waiting"'), ("exportGame", "The game starts:")):
        examples = opened(docs, operation).locator(".answers .example")
        examples.evaluate_all("all => all.forEach((each) => each.open = true)")
        examples.locator("pre", has_text=said).wait_for()


def test_each_field_says_what_it_is(docs: Page) -> None:
    fields = opened(docs, "createGame").locator(".schema .field")
    told = fields.filter(has=docs.locator("code", has_text="spectator_delay_s")).locator(".says").first
    assert told.inner_text() == "how late delayed spectators see what happens, null: 60 s; refused where there are none"
    assert told.locator("code").inner_text() == "delayed"


def test_each_operation_shows_the_scope_that_it_needs(docs: Page) -> None:
    assert docs.locator("#getView summary .lock").inner_text() == "token: watch"
    assert docs.locator("#makeMove summary .lock").inner_text() == "token: bot"
    assert docs.locator("#createGuest summary .lock").count() == 0
