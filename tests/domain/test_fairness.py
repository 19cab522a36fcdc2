"""A game is verified from its download alone: fair games pass, and whatever is tampered with is found."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from hashlib import sha256
from itertools import count
from random import Random
from typing import Any

import pytest

from domain.commands import LeaveForGood, OpenGame, Pace, RevealNonce, SeatPlan, StartGame, TakeSeat
from domain.decide import decide
from domain.decisions import open_decisions
from domain.events import Event
from domain.evolve import fold
from domain.fairness import check
from domain.fairness_deal import Luck, Setting, deal_again
from domain.fairness_report import Code, Report
from domain.luck import link
from domain.presets import preset, preset_names, ruleset_with
from domain.state import Game
from tests.domain.exports import Json, as_shown, exported
from tests.domain.games import at_random, like_a_bot, next_command, whole_game

ANNA, BORIS, CLARA = 0, 1, 2
SEED = bytes(range(32))
NONCE = "00112233445566778899aabbccddeeff"


@cache
def events_of(name: str, seed: int = 1, share: float = 0.1, rounds: int | None = 3) -> tuple[str, tuple[Event, ...]]:
    """Plays a mixed game with the most usual number of players."""
    players = min(4, preset(name).players.max)
    told = list(whole_game(name, players, seed, at_random(Random(seed), share), rounds=rounds))
    return told[-1][0].game_id, tuple(event for _, events in told for event in events)


def download(name: str = "davis", viewer: int | None = ANNA, **how: Any) -> list[Json]:
    return exported(*events_of(name, **how), viewer)


def verified(export: list[Json]) -> Report:
    return check(as_shown(export))


@pytest.mark.parametrize("name", preset_names())
def test_a_game_of_every_preset_is_verified_by_each_player_and_by_a_spectator(name: str) -> None:
    players = min(4, preset(name).players.max)
    for viewer in (None, *range(players)):
        report = verified(download(name, viewer))
        assert report.findings == ()
        assert (report.viewer, report.rounds, report.unrevealed) == (viewer, (1, 2, 3), ())
        assert report.cards > 100


@pytest.mark.parametrize("name", ["davis", "black-twos", "ten-phases"])
def test_a_whole_game_is_verified_to_its_winners(name: str) -> None:
    report = verified(download(name, share=0.02, rounds=None))
    assert report.findings == ()
    assert report.is_finished


def test_a_running_game_is_verified_up_to_its_last_revealed_round() -> None:
    export = download()
    second = next(at for at, event in enumerate(export) if event["data"].get("number") == 2)
    report = verified(export[: second + 20])
    assert report.findings == ()
    assert (report.rounds, report.unrevealed) == ((1,), (2,))


def test_the_test_vector_is_dealt() -> None:
    setting = Setting("gam_test", preset("davis"), 4, (None, NONCE, None, None))
    dealt = deal_again(Luck(setting, 1, link(SEED, 1)))
    assert (dealt.dealer, dealt.order) == (3, (0, 1, 2, 3))
    assert [" ".join(hand[:3]) for hand in dealt.hands] == ["6H KH 2S", "4D JK 6H", "2H 6S TH", "3S KC 3H"]
    assert " ".join(dealt.stock[-4:]) == "2D TS AD 9C"


def game_with_nonces() -> list[Event]:
    """Anna and Boris each add a nonce, Clara none; two rounds are played."""
    state = fold([])
    told: list[Event] = []

    def do(command: Any) -> None:
        nonlocal state
        events = decide(command, state)
        state = fold(events, state)
        told.extend(events)

    seats = tuple(SeatPlan("open") for _ in range(3))
    do(OpenGame("gam_nonces", preset("davis"), Pace(), seats, link(SEED, 0).hex()))
    do(TakeSeat(ANNA, "ply_anna", commitment_to(NONCE)))
    do(TakeSeat(BORIS, "ply_boris", commitment_to(NONCE[::-1])))
    do(TakeSeat(CLARA, "ply_clara"))
    do(StartGame())
    do(RevealNonce(BORIS, NONCE[::-1]))
    do(RevealNonce(ANNA, NONCE))
    assert isinstance(state, Game)
    while (command := next_command(state, SEED, Random(1), like_a_bot, rounds=2)) is not None:
        do(command)
    return told


def commitment_to(nonce: str) -> str:
    return sha256(bytes.fromhex(nonce)).hexdigest()


def test_nonces_are_verified_and_mixed_into_the_luck() -> None:
    report = verified(exported("gam_nonces", game_with_nonces(), CLARA))
    assert report.findings == ()
    assert (report.nonces, report.rounds) == (2, (1, 2))


def test_a_game_that_a_player_left_for_good_is_verified() -> None:
    rules = ruleset_with("davis", {"leaver": "out"})
    plans = tuple(SeatPlan("human", f"ply_{seat}") for seat in range(4))
    state = fold([])
    told: list[Event] = []
    commands: Iterator[Any] = iter([OpenGame("gam_left", rules, Pace(), plans, link(SEED, 0).hex()), StartGame()])
    for number in count():
        command = next(commands, None)
        if command is None:
            assert isinstance(state, Game)
            command = next_command(state, SEED, Random(2), like_a_bot, rounds=3)
            if number == 40:
                command = LeaveForGood(open_decisions(state)[0].seat)
        if command is None:
            break
        events = decide(command, state)
        state = fold(events, state)
        told += events
    assert verified(exported("gam_left", told, None)).findings == ()


Tampering = Callable[[list[Json]], object]


def first(export: list[Json], kind: str, **having: Any) -> Json:
    """Finds the first event of a kind whose data has these values."""
    for event in export:
        if event["kind"] == kind and having.items() <= event["data"].items():
            return event
    raise AssertionError(f"no {kind} with {having}")


def another(card: str) -> str:
    return "7H" if card != "7H" else "8C"


def other_card_drawn(export: list[Json]) -> None:
    drawn = next(e["data"] for e in export if e["kind"] == "card_drawn" and e["seat"] == ANNA and "card" in e["data"])
    drawn["card"] = another(drawn["card"])


def other_card_taken(export: list[Json]) -> None:
    taken = first(export, "card_drawn", source="discard")["data"]
    taken["card"] = another(taken["card"])


def discard_of_another(export: list[Json]) -> None:
    discarded = first(export, "card_discarded")["data"]
    discarded["card"] = another(discarded["card"])


def another_upcard(export: list[Json]) -> None:
    dealt = first(export, "round_dealt")["data"]
    dealt["discard_top"] = another(dealt["discard_top"])


def another_dealer(export: list[Json]) -> None:
    dealt = first(export, "round_dealt", number=2)["data"]
    dealt["dealer"] = (dealt["dealer"] + 1) % 4


def a_card_more(export: list[Json]) -> None:
    first(export, "round_dealt")["data"]["hand_counts"][BORIS] += 1


def own_hand_of_another(export: list[Json]) -> None:
    hand = first(export, "round_dealt")["data"]["hand"]
    hand[0] = another(hand[0])


def another_secret(export: list[Json]) -> None:
    first(export, "round_ended")["data"]["revealed"] = "ab" * 32


def no_secret(export: list[Json]) -> None:
    first(export, "round_ended")["data"]["revealed"] = "soon"


def another_commitment(export: list[Json]) -> None:
    export[0]["data"]["commitment"] = "ab" * 32


def hand_shown_without_its_dearest_card(export: list[Json]) -> None:
    hands = first(export, "round_ended")["data"]["hands"]
    next(hand for hand in hands if hand).pop()


def cheaper_hand(export: list[Json]) -> None:
    points = first(export, "round_scored")["data"]["points"]
    points[points.index(max(points))] -= 5


def other_total(export: list[Json]) -> None:
    first(export, "round_scored")["data"]["totals"][ANNA] += 1


def contract_done_too_early(export: list[Json]) -> None:
    first(export, "round_scored")["data"]["contracts"][ANNA] += 1


def penalty_card_of_another(export: list[Json]) -> None:
    bought = next(event["data"] for event in export if event["data"].get("penalty_cards"))
    bought["penalty_cards"][0] = another(bought["penalty_cards"][0])


def no_penalty(export: list[Json]) -> None:
    next(e["data"] for e in export if e["kind"] == "card_bought" and e["data"]["penalty_count"])["penalty_count"] = 0


def another_buyer(export: list[Json]) -> None:
    bought = first(export, "card_bought")
    bought["seat"] = (bought["seat"] + 1) % 4


def meld_with_another_card(export: list[Json]) -> None:
    placed = first(export, "melds_laid")["data"]["melds"][0]["cards"][0]
    placed["card"] = another(placed["card"])


def meld_that_grows_by_itself(export: list[Json]) -> None:
    first(export, "cards_laid_off")["data"]["meld"].append({"card": "7H", "as": None})


def draw_by_another_seat(export: list[Json]) -> None:
    drawn = first(export, "card_drawn", source="stock")
    drawn["seat"] = (drawn["seat"] + 1) % 4


def bigger_stock(export: list[Json]) -> None:
    first(export, "card_drawn", source="stock")["data"]["stock_count"] += 1


def stock_with_a_card_less(export: list[Json]) -> None:
    first(export, "round_dealt")["data"]["stock_count"] -= 1


def stock_with_a_card_more_after_a_buy(export: list[Json]) -> None:
    first(export, "card_bought")["data"]["stock_count"] += 1


def buy_of_another_card(export: list[Json]) -> None:
    wanted = first(export, "buy_requested")["data"]
    wanted["card"] = another(wanted["card"])


def another_forehand(export: list[Json]) -> None:
    began = first(export, "turn_began")
    began["seat"] = (began["seat"] + 1) % 4


def round_dealt_twice(export: list[Json]) -> None:
    first(export, "round_dealt", number=2)["data"]["number"] = 1


def event_left_out(export: list[Json]) -> None:
    del export[50]


def event_twice(export: list[Json]) -> None:
    export.insert(50, export[50])


def event_of_another_game(export: list[Json]) -> None:
    export[50]["game_id"] = "gam_other"


def beginning_left_out(export: list[Json]) -> None:
    del export[0]


def field_left_out(export: list[Json]) -> None:
    del first(export, "card_discarded")["data"]["card"]


def more_players_than_cards(export: list[Json]) -> None:
    export[0]["data"]["rules"]["deal"]["cards"] = [60]


def nonce_out_of_nowhere(export: list[Json]) -> None:
    first(export, "game_started")["data"]["nonces"][ANNA] = NONCE


def hand_left_out(export: list[Json]) -> None:
    first(export, "round_ended")["data"]["hands"].pop()


def somebody_else_went_out(export: list[Json]) -> None:
    ended = first(export, "round_ended", reason="out")
    ended["seat"] = (ended["seat"] + 1) % 4


def nobody_draws(export: list[Json]) -> None:
    first(export, "card_drawn")["seat"] = None


def nobody_of_this_table_draws(export: list[Json]) -> None:
    first(export, "card_drawn")["seat"] = 4


def opened_twice(export: list[Json]) -> None:
    export.append(export[0] | {"version": len(export) + 1})


def secret_kept(export: list[Json]) -> None:
    del first(export, "round_ended")["data"]["revealed"]


def nonce_of_nobody(export: list[Json]) -> None:
    first(export, "game_started")["data"]["nonces"].append(None)


def other_totals_at_the_end(export: list[Json]) -> None:
    export[-1]["data"]["totals"][ANNA] += 1


def other_winner(export: list[Json]) -> None:
    export[-1]["data"]["winners"] = [(export[-1]["data"]["winners"][0] + 1) % 4]


AT_THE_END: list[tuple[Tampering, Code]] = [
    (other_totals_at_the_end, "totals_differ"),
    (other_winner, "winners_differ"),
]
DAVIS: list[tuple[Tampering, Code]] = [
    (other_card_drawn, "card_differs"),
    (other_card_taken, "card_differs"),
    (discard_of_another, "card_not_held"),
    (another_upcard, "card_differs"),
    (another_dealer, "dealer_differs"),
    (a_card_more, "hand_counts_differ"),
    (own_hand_of_another, "hand_differs"),
    (another_secret, "secret_off_chain"),
    (no_secret, "secret_malformed"),
    (another_commitment, "secret_off_chain"),
    (hand_shown_without_its_dearest_card, "hand_differs"),
    (cheaper_hand, "points_differ"),
    (other_total, "totals_differ"),
    (contract_done_too_early, "contracts_differ"),
    (penalty_card_of_another, "card_differs"),
    (no_penalty, "card_count_differs"),
    (another_buyer, "card_not_held"),
    (meld_with_another_card, "card_not_held"),
    (meld_that_grows_by_itself, "meld_differs"),
    (draw_by_another_seat, "not_in_turn"),
    (bigger_stock, "stock_count_differs"),
    (stock_with_a_card_less, "stock_count_differs"),
    (stock_with_a_card_more_after_a_buy, "stock_count_differs"),
    (buy_of_another_card, "card_differs"),
    (another_forehand, "not_in_turn"),
    (round_dealt_twice, "round_out_of_order"),
    (event_left_out, "version_missing"),
    (event_twice, "version_missing"),
    (event_of_another_game, "another_game"),
    (beginning_left_out, "no_beginning"),
    (field_left_out, "unreadable_event"),
    (more_players_than_cards, "impossible_rules"),
    (nonce_out_of_nowhere, "nonce_differs"),
    (nonce_of_nobody, "nonce_differs"),
    (hand_left_out, "hand_differs"),
    (somebody_else_went_out, "hand_differs"),
    (nobody_draws, "not_in_turn"),
    (nobody_of_this_table_draws, "not_in_turn"),
    (opened_twice, "no_beginning"),
    (secret_kept, "secret_missing"),
]


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


def renumber(export: list[Json]) -> None:
    for version, event in enumerate(export, start=1):
        event["version"] = version


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
