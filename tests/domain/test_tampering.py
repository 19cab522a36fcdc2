"""Whatever is tampered with in a downloaded game is found."""

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from domain.fairness_report import Code
from domain.presets import preset_names
from tests.domain.downloads import another, download, events_of, first, game_with_nonces, renumber, verified
from tests.domain.exports import Json, exported
from tests.domain.table import ANNA, CLARA
from tests.domain.tampering import AT_THE_END, DAVIS, Tampering


@pytest.mark.parametrize(("tampering", "code"), [pytest.param(*each, id=each[0].__name__) for each in DAVIS])
def test_tampering_is_found(tampering: Tampering, code: Code) -> None:
    export = download()
    tampering(export)
    assert code in [finding.code for finding in verified(export).findings]


@pytest.mark.parametrize(("tampering", "code"), [pytest.param(*each, id=each[0].__name__) for each in AT_THE_END])
@pytest.mark.parametrize("name", ["davis", "ten-phases"])
def test_another_result_is_found(name: str, tampering: Tampering, code: Code) -> None:
    export = download(name, share=0.02, rounds=None)
    tampering(export)
    assert [finding.code for finding in verified(export).findings] == [code]


def test_kinds_of_events_that_are_not_known_yet_do_not_disturb() -> None:
    export = download()
    export.insert(40, {**export[40], "kind": "tea_was_served", "data": {"cups": 4}})
    renumber(export)
    report = verified(export)
    assert (report.findings, report.unknown_events) == ((), 1)


def test_a_deal_from_another_secret_is_found_at_the_first_card() -> None:
    export = download()
    foreign = exported(*events_of("davis", seed=2), ANNA)
    dealt = next(at for at, event in enumerate(export) if event["kind"] == "round_dealt")
    report = verified(export[:dealt] + foreign[dealt:])
    assert {"secret_off_chain", "another_game"} <= {finding.code for finding in report.findings}


def test_a_forged_nonce_is_found() -> None:
    export = exported("gam_nonces", game_with_nonces(), CLARA)
    first(export, "game_started")["data"]["nonces"][ANNA] = "00" * 16
    assert verified(export).findings[0].code == "nonce_differs"


def test_a_picked_card_that_the_secret_does_not_pick_is_found() -> None:
    """Davis lets the discarder draw from the caller's hand: both see which card it was."""
    for seed in range(1, 40):
        export = download(viewer=ANNA, seed=seed, rounds=2)
        picked = [event["data"] for event in export if event["data"].get("penalty_card")]
        if picked:
            picked[0]["penalty_card"] = another(picked[0]["penalty_card"])
            assert [finding.code for finding in verified(export).findings] == ["card_differs"]
            return
    raise AssertionError("nobody called")


def test_a_renewal_that_is_not_due_is_found() -> None:
    name, events = "contract-rummy", None
    for seed in range(1, 20):
        events = download(name, seed=seed, share=0.5, rounds=1)
        if any(event["kind"] == "stock_renewed" for event in events):
            break
    assert events
    renewed = first(events, "stock_renewed")
    at = events.index(renewed)
    earlier = deepcopy(events)
    earlier.insert(at - 30, earlier.pop(at))
    renumber(earlier)
    assert "renewal_differs" in [finding.code for finding in verified(earlier).findings]
    never = deepcopy(events)
    del never[at]
    renumber(never)
    assert "renewal_differs" in [finding.code for finding in verified(never).findings]


MOVES_OF_CARDS = ("card_drawn", "card_bought", "melds_laid", "cards_laid_off", "card_discarded", "round_dealt")


@pytest.mark.parametrize("kind", MOVES_OF_CARDS)
def test_a_card_that_moved_in_silence_is_found(kind: str) -> None:
    export = download()
    export.remove(first(export, kind))
    renumber(export)
    assert verified(export).findings


@pytest.mark.parametrize("name", preset_names())
def test_any_card_that_is_replaced_by_another_is_found(name: str) -> None:
    """Rounds with a renewal are left out: a seat may draw its own discard again unseen, and then two stories fit."""
    export, random = download(name), Random(3)
    places = [place for event in without_renewed_rounds(export) for place in cards_in(event["data"])]
    for holder, key in random.sample(places, 10):
        card = holder[key]
        holder[key] = random.choice([other for other, _ in named(places) if other != card])
        assert verified(export).findings, (holder, key, card)
        holder[key] = card
    assert not verified(export).findings


def without_renewed_rounds(export: list[Json]) -> Iterator[Json]:
    starts = [at for at, event in enumerate(export) if event["kind"] == "round_dealt"]
    for start, end in zip(starts, [*starts[1:], len(export)], strict=True):
        if not any(event["kind"] == "stock_renewed" for event in export[start:end]):
            yield from export[start:end]


CARD_FIELDS = ("card", "cards", "discard_top", "hand", "hands", "penalty_card", "penalty_cards", "wild")
Place = tuple[Any, Any]


def cards_in(data: Json) -> Iterator[Place]:
    """Lists every place of an event's data where a card stands."""
    for key, value in data.items():
        if key in CARD_FIELDS or key in ("melds", "meld"):
            yield from cards_below(data, key, value)


def cards_below(holder: Any, key: Any, value: Any) -> Iterator[Place]:
    if isinstance(value, str):
        yield holder, key
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from cards_below(value, at, each)
    elif isinstance(value, dict):
        yield from cards_in(value)


def named(places: list[Place]) -> list[tuple[str, Place]]:
    return [(holder[key], (holder, key)) for holder, key in places]


@pytest.mark.parametrize("seed", range(5))
def test_whatever_stands_in_a_file_is_answered_by_a_report(seed: int) -> None:
    random = Random(seed)
    export = download(seed=seed + 1, rounds=1)
    values: list[Any] = [None, -1, 0, 10**9, "", "7H", [], {}, [[]], True, "ab" * 32]
    for _ in range(60):
        forged = deepcopy(export)
        for _ in range(3):
            holder: Any = random.choice(forged)
            while True:
                keys = list(holder if isinstance(holder, dict) else range(len(holder)))
                key = random.choice(keys)
                if not isinstance(holder[key], dict | list) or not holder[key] or random.random() < 0.1:
                    break
                holder = holder[key]
            if holder not in forged:
                holder[key] = random.choice(values)
        verified(forged)
