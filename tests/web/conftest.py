"""A whole server and a real browser; what a page writes to its console fails the test."""

from collections.abc import Iterator
from shutil import which

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.e2e.conftest import Server, server

__all__ = ["server"]

# A browser as root, which asks nobody but the pages it is sent to.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which(request.config.getoption("--web")), args=FLAGS)
        yield browser
        browser.close()


def is_complaint(message: ConsoleMessage) -> bool:
    """Tells what went wrong in the page from what the server refused, which a test asks for."""
    return message.type == "error" and "status of 4" not in message.text


@pytest.fixture
def docs(browser: Browser, server: Server) -> Iterator[Page]:
    """The page /docs, drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(10_000)
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if is_complaint(message) else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server.base_url}/docs")
    page.wait_for_selector("details.operation")
    yield page
    page.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith((server.base_url, "data:"))] == []
