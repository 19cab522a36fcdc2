"""The deals of a download are checked by the example for client writers, which knows nothing of this code."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from domain.presets import preset_names
from tests.domain.downloads import download, game_with_nonces
from tests.domain.exports import exported

EXAMPLE = Path(__file__).parents[2] / "openapi" / "examples" / "python" / "deals.py"


@pytest.fixture(scope="module")
def deals() -> ModuleType:
    spec = importlib.util.spec_from_file_location("deals", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", preset_names())
def test_the_deals_of_every_preset_are_dealt_again(deals: ModuleType, name: str) -> None:
    for viewer in (None, 0, 1):
        assert deals.check(download(name, viewer)) == [1, 2, 3]


@pytest.mark.parametrize("field", ["hand", "discard_top", "dealer", "stock_count"])
def test_a_deal_that_was_changed_is_found(deals: ModuleType, field: str) -> None:
    events = download()
    deal = next(event["data"] for event in events if event["kind"] == "round_dealt")
    deal[field] = {"hand": deal["hand"][1:], "discard_top": "ZZ", "dealer": deal["dealer"] - 1, "stock_count": 0}[field]
    with pytest.raises(ValueError, match=r"dealt another way|dealt first"):
        deals.check(events)


def test_a_secret_that_was_not_fixed_before_is_found(deals: ModuleType) -> None:
    events = download()
    next(event["data"] for event in events if event["kind"] == "round_ended")["revealed"] = "00" * 32
    with pytest.raises(ValueError, match="not the one that was fixed"):
        deals.check(events)


def test_the_luck_of_the_players_counts(deals: ModuleType) -> None:
    events = exported("gam_nonces", game_with_nonces(), None)
    assert deals.check(events)[0] == 1
    next(event["data"] for event in events if event["kind"] == "game_started")["nonces"][0] = None
    with pytest.raises(ValueError, match=r"dealt another way|dealt first"):
        deals.check(events)
