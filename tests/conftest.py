"""Options for all tests, and the soak: long tests that run only when they are asked for."""

from pathlib import Path

import pytest

KEPT_APART = ("soak", "node", "web", "deploy")  # each a marker and an option


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds what a developer may ask for on top of pytest."""
    parser.addoption("--record-golden", action="store_true", help="record the golden files in tests/golden anew")
    parser.addoption("--node", action="store_true", help="run only the tests that need Node, for make test-clients")
    parser.addoption("--web", metavar="CHROMIUM", help="run only the tests that need a browser, for make test-web")
    parser.addoption("--record-examples", action="store_true", help="record api/examples.json anew, from tests/api")
    parser.addoption("--deploy", metavar="FOLDER", help="run only the deployment's tests, for make test-deploy")
    parser.addoption("--soak", type=int, default=0, metavar="GAMES", help="run the soak with so many games a table")
    parser.addoption("--soak-minutes", type=float, default=480, metavar="MINUTES", help="bound of the whole soak")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves the browser's tests unread where its library may not be installed."""
    return True if collection_path.name == "web" and not config.getoption("--web") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is kept apart, or everything else."""
    asked = next((name for name in KEPT_APART if config.getoption(f"--{name}")), None)
    wanted = {item for item in items if _kept_apart(item) == asked}
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = [item for item in items if item in wanted]


def _kept_apart(item: pytest.Item) -> str | None:
    return next((name for name in KEPT_APART if item.get_closest_marker(name)), None)


def pytest_report_header() -> str:
    """Says where Postgres and Redis come from."""
    from tests.outside_engines import origin

    return f"engines: {origin()}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the examples that were seen, where they were asked for."""
    if session.config.getoption("--record-examples"):
        from tests.described import is_example
        from tests.examples import write_examples

        write_examples(is_example)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how much the soak has played."""
    played: dict[str, int] = {}
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        played.update((name, games) for name, games in report.user_properties if isinstance(games, int))
    if played:
        least = min(played, key=lambda name: played[name])
        terminalreporter.write_line(
            f"soak: {sum(played.values()):,} games at {len(played)} tables; fewest at {least}: {played[least]:,}"
        )


@pytest.fixture(scope="session")
def is_recording(request: pytest.FixtureRequest) -> bool:
    """Tells whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--record-golden"))
