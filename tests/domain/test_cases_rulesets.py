"""Rules as data: what the presets say, what overrides may say, and every fault that keeps a game from being played."""

from importlib.resources import files
from json import loads

import pytest

from domain.commands import OpenGame, Pace, SeatPlan
from domain.decide import decide
from domain.faults import FaultyRuleset
from domain.presets import Json, preset, preset_names, ruleset_with
from domain.ruleset import DeckSize, Ruleset
from domain.state import Unopened

S3: Json = {"kind": "set", "size": 3}
R4: Json = {"kind": "run", "size": 4}
STD7 = "S3 S3 | S3 R4 | R4 R4 | S3 S3 S3 | S3 S3 R4 | S3 R4 R4 | R4 R4 R4"


def found(preset_name: str, overrides: dict[str, Json]) -> set[tuple[str, str]]:
    """Lists the faults of a preset with overrides, as codes and paths."""
    try:
        ruleset_with(preset_name, overrides)
    except FaultyRuleset as error:
        return {(fault.code, fault.path) for fault in error.faults if fault.detail}
    return set()


def contracts(rules: Ruleset) -> str:
    letters = {"set": "S", "run": "R", "run_any_suit": "R", "colour": "C"}
    return " | ".join(" ".join(f"{letters[part.kind]}{part.size}" for part in contract) for contract in rules.contracts)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_without_fault_and_says_where_it_comes_from(name: str) -> None:
    rules = preset(name)
    assert rules.name == name
    assert len(rules.source) > 20
    assert set(rules.deck.sizes) == set(range(rules.players.min, rules.players.max + 1))


@pytest.mark.parametrize(
    ("name", "least", "most", "sizes", "wilds"),
    [
        ("black-twos", 2, 5, {2: (2, 0), 5: (2, 0)}, "2C 2S"),
        ("jokers", 2, 5, {2: (2, 4), 5: (2, 4)}, "JK"),
        ("poker-packs", 2, 5, {2: (2, 6), 5: (2, 6)}, "JK"),
        ("davis", 2, 5, {2: (2, 4), 5: (2, 4)}, "JK"),
        ("contract-rummy", 3, 8, {3: (2, 1), 4: (2, 1), 5: (3, 2), 8: (3, 2)}, "JK"),
        ("ten-phases", 2, 6, {2: (1, 0), 6: (1, 0)}, "W"),
        ("ship-captain-crew", 2, 6, {2: (2, 4), 6: (2, 4)}, "JK"),
        ("shanghai-rum", 3, 8, {3: (2, 4), 4: (2, 4), 5: (3, 6), 6: (3, 6), 7: (4, 8), 8: (4, 8)}, "JK"),
        ("liverpool", 3, 8, {3: (2, 4), 4: (2, 4), 5: (3, 6), 8: (3, 6)}, "JK"),
        ("may-i", 3, 6, {3: (2, 4), 4: (2, 4), 5: (3, 6), 6: (3, 6)}, "JK"),
        ("carioca", 2, 5, {2: (2, 4), 5: (2, 4)}, "JK"),
        ("joker-rummy", 3, 8, {3: (2, 2), 4: (2, 3), 5: (3, 4), 6: (3, 5), 7: (4, 6), 8: (4, 7)}, "JK"),
        ("king-rummy", 4, 4, {4: (2, 4)}, "JK"),
        ("onze", 3, 6, {3: (2, 4), 4: (2, 4), 5: (3, 6), 6: (3, 6)}, "2C 2D 2H 2S JK"),
    ],
)
def test_each_game_has_its_players_and_its_deck(
    name: str, least: int, most: int, sizes: dict[int, tuple[int, int]], wilds: str
) -> None:
    rules = preset(name)
    assert (rules.players.min, rules.players.max) == (least, most)
    assert {number: rules.deck.sizes[number] for number in sizes} == {n: DeckSize(*s) for n, s in sizes.items()}
    assert sorted(rules.deck.wilds) == sorted(wilds.split())


@pytest.mark.parametrize(
    "name",
    ["black-twos", "black-twos-no-swap", "jokers", "poker-packs", "davis", "contract-rummy", "ship-captain-crew",
     "liverpool", "may-i", "joker-rummy", "onze"],
)  # fmt: skip
def test_most_games_have_the_seven_contracts_of_shanghai(name: str) -> None:
    assert contracts(preset(name)) == STD7


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("carioca", f"{STD7.removesuffix(' | R4 R4 R4')} | S3 S3 S3 S3 | R4 R4 R4"),
        ("king-rummy", "S3 R4 | S3 S3 S3 | R4 R4 | S3 S3 R4"),
        ("shanghai-rum",
         "S3 S3 | S3 R4 | R4 R4 | S3 S3 S3 | S3 R7 | S3 S3 R5 | R4 R4 R4 | S3 R10 | S3 S3 S3 R5 | R5 R5 R5"),
    ],
)  # fmt: skip
def test_some_games_have_their_own_contracts(name: str, written: str) -> None:
    assert contracts(preset(name)) == written


def test_a_variant_says_only_what_differs() -> None:
    base, without = preset("black-twos"), preset("black-twos-no-swap")
    assert without.swap.whose == "none"
    assert (without.deal, without.buy, without.shanghai) == (base.deal, base.buy, base.shanghai)
    assert set(loads((files("domain") / "rulesets" / "black-twos-no-swap.json").read_text())) == {
        "extends", "name", "source", "swap",
    }  # fmt: skip


def test_overrides_are_merged_knob_by_knob_and_lists_are_replaced() -> None:
    rules = ruleset_with("davis", {"buy": {"per_round": 3}, "deal": {"cards": [12]}})
    assert (rules.buy.per_round, rules.buy.penalty, rules.deal.cards) == (3, (2,), (12,))
    assert ruleset_with("davis", {"contracts": "std7"}) == preset("davis")
    assert ruleset_with("carioca", {"contracts": "std7"}).contracts == preset("davis").contracts


def test_a_whole_rank_may_be_wild() -> None:
    assert ruleset_with("onze", {"deck": {"wilds": ["JK", "3"]}}).deck.wilds == ("JK", "3C", "3D", "3H", "3S")
    assert found("onze", {"deck": {"wilds": ["JK", "2", "2S"]}}) == {("bad_deck", "/deck")}


def test_an_unknown_preset_is_no_ruleset() -> None:
    with pytest.raises(KeyError):
        ruleset_with("canasta", {})


@pytest.mark.parametrize(
    ("name", "overrides", "faults"),
    [
        ("davis", {"players": {"min": 1}}, {("bad_player_numbers", "/players")}),
        ("davis", {"players": {"min": 4, "max": 3}}, {("bad_player_numbers", "/players")}),
        ("davis", {"players": {"max": 6}}, {("deck_missing", "/deck/sizes/6")}),
        ("davis", {"deck": {"sizes": {"4": {"packs": 7}}}}, {("too_many_packs", "/deck/sizes/4")}),
        ("davis", {"deck": {"sizes": {"4": {"packs": 0}}}}, {("too_many_packs", "/deck/sizes/4")}),
        ("davis", {"deck": {"sizes": {"4": {"jokers": 25}}}}, {("too_many_wilds", "/deck/sizes/4")}),
        ("davis", {"deck": {"sizes": {"4": {"jokers": -1}}}}, {("too_many_wilds", "/deck/sizes/4")}),
        ("davis", {"deck": {"wilds": ["JK", "2", "3", "4"]}}, {
            ("too_many_wilds", f"/deck/sizes/{number}") for number in range(2, 6)
        }),
        ("davis", {"deck": {"wilds": ["JK", "1R"]}}, {("unknown_face", "/deck/wilds/1")}),
        ("davis", {"deck": {"wilds": ["JK", "JK"]}}, {("bad_deck", "/deck")}),
        ("davis", {"deck": {"wilds": []}}, {("useless_card", "/deck/wilds")}),
        ("ten-phases", {"deck": {"wilds": ["W", "X"]}}, {("skip_is_wild", "/deck/wilds")}),
        ("ten-phases", {"deck": {"sizes": {"4": {"packs": 2}}}}, {("one_deck_only", "/deck/sizes/4")}),
        ("ten-phases", {"never_taken": []}, {("skip_may_be_taken", "/never_taken")}),
        ("ten-phases", {"never_taken": ["X", "JK"]}, {("unknown_face", "/never_taken/1")}),
        ("davis", {"skip_cards": True}, {("skip_cards_missing", "/skip_cards"), ("skip_may_be_taken", "/never_taken")}),
        ("davis", {"deal": {"cards": []}}, {("bad_deal", "/deal/cards")}),
        ("davis", {"deal": {"cards": [11, 16]}}, {("bad_deal", "/deal/cards")}),
        ("davis", {"deal": {"forehand_extra": True}}, {("upcard_and_forehand_extra", "/deal")}),
        ("davis", {"deal": {"cards": [15]}, "deck": {"sizes": {"5": {"packs": 1, "jokers": 0}}}}, {
            ("deck_too_small", "/deck/sizes/5")
        }),
        ("davis", {"contracts": []}, {("bad_contracts", "/contracts")}),
        ("davis", {"contracts": [[S3]] * 13}, {("too_long", "/contracts")}),
        ("davis", {"deck": {"wilds": ["A"] * 4000}}, {("too_long", "/deck/wilds")}),
        ("davis", {"never_taken": ["7H"] * 65}, {("too_long", "/never_taken")}),
        ("davis", {"points": {"go_out_bonus": [1] * 129}}, {("too_long", "/points/go_out_bonus")}),
        ("davis", {"buy": {"per_round": 10**30}}, {("bad_buy_limit", "/buy/per_round")}),
        ("davis", {"contracts": [[S3], []]}, {("bad_contract", "/contracts/1")}),
        ("davis", {"contracts": [[{"kind": "set", "size": 1}]]}, {("bad_size", "/contracts/0")}),
        ("davis", {"contracts": [[{"kind": "run", "size": 15}]]}, {("bad_size", "/contracts/0")}),
        ("onze", {"contracts": [[{"kind": "run", "size": 14}]], "ace": "high"}, {("meld_too_big", "/contracts/0/0")}),
        ("davis", {"contracts": [[S3, {"kind": "set", "size": 9}]]}, set()),
        ("davis", {"contracts": [[{"kind": "set", "size": 10}]]}, {("meld_too_big", "/contracts/0/0")}),
        ("davis", {"contracts": [[{"kind": "set", "size": 6}]], "distinct_set_suits": True}, {
            ("meld_too_big", "/contracts/0/0")
        }),
        ("davis", {"contracts": [[R4, R4], [R4, R4, R4, R4]]}, {("contract_too_big", "/contracts/1")}),
        ("jokers", {"going_out": "discard_required"}, {("contract_too_big", "/contracts/6")}),
        ("davis", {"going_out": "discard_required"}, {("contract_too_big", "/contracts/6")}),
        ("jokers", {"going_out": "discard_required", "players": {"min": 3}}, set()),
        ("may-i", {"deal": {"cards": [3]}, "buy": {"per_round": 1, "penalty": [1]}}, {
            ("contract_too_big", f"/contracts/{place}") for place in range(1, 7)
        }),
        ("may-i", {"deal": {"cards": [3]}, "buy": {"per_round": 5, "per_game": 1, "penalty": [1]}}, {
            ("contract_too_big", f"/contracts/{place}") for place in range(1, 7)
        }),
        ("may-i", {"deal": {"cards": [3]}}, set()),
        ("davis", {"max_wilds": {"kind": "min_naturals", "n": 6}}, {
            ("contract_too_big", "/contracts/3"), ("contract_too_big", "/contracts/4"),
            ("contract_too_big", "/contracts/5"), ("contract_too_big", "/contracts/6"),
        }),
        ("carioca", {"max_wilds": {"kind": "min_naturals", "n": 4}, "contracts": [[S3], [R4]], "going_out": "either"}, {
            ("size_below_naturals", "/contracts/0/0")
        }),
        ("carioca", {"last_round": "empty_hand_no_discard"}, {("last_contract_too_small", "/contracts/7")}),
        ("carioca", {"last_round": "empty_hand"}, set()),
        ("davis", {"max_wilds": {"n": -1}}, {("bad_max_wilds", "/max_wilds/n")}),
        ("onze", {"all_wild_melds": True}, {("all_wild_within_limit", "/all_wild_melds")}),
        ("contract-rummy", {"swap": {"sets": True}}, {("moved_wild_in_set", "/swap/sets")}),
        ("contract-rummy", {"swap": {"re_meld": True}}, {("moved_wild_owed", "/swap/re_meld")}),
        ("contract-rummy", {"swap": {"offer": "rotation"}}, {("moved_wild_offered", "/swap/offer")}),
        ("king-rummy", {"swap": {"re_meld": True}}, {("offered_wild_owed", "/swap/offer")}),
        ("davis", {"buy": {"penalty": []}}, {("bad_penalty", "/buy/penalty")}),
        ("davis", {"buy": {"penalty": [6]}}, {("bad_penalty", "/buy/penalty")}),
        ("davis", {"buy": {"per_round": -1, "per_game": -2}}, {
            ("bad_buy_limit", "/buy/per_round"), ("bad_buy_limit", "/buy/per_game"),
        }),
        ("davis", {"stock_out": {"max_renewals": 21}}, {("bad_renewals", "/stock_out/max_renewals")}),
        ("davis", {"idle_laps": {"no_draw": 0}}, {("bad_idle_laps", "/idle_laps")}),
        ("davis", {"idle_laps": {"no_progress": 101}}, {("bad_idle_laps", "/idle_laps")}),
        ("davis", {"max_rounds": 8}, {("rounds_without_contract", "/max_rounds")}),
        ("ten-phases", {"max_rounds": 129}, {("bad_max_rounds", "/max_rounds")}),
        ("davis", {"end": "first_through"}, {("first_through_together", "/end")}),
        ("davis", {"points": {"cards": {"Z": 1}}}, {("unknown_face", "/points/cards/Z")}),
        ("davis", {"points": {"alternatives": {"a/b": {"1R": 1}}}}, {("unknown_face", "/points/alternatives/a~1b/1R")}),
        ("davis", {"points": {"cards": {"A": 1001}}}, {("bad_points", "/points")}),
        ("davis", {"points": {"use": ["cheap"]}}, {("unknown_alternative", "/points/use/0")}),
        ("davis", {"name": "d" * 65}, {("text_too_long", "/name")}),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_code_and_its_path(
    name: str, overrides: dict[str, Json], faults: set[tuple[str, str]]
) -> None:
    assert found(name, overrides) == faults


def test_all_faults_are_told_at_once() -> None:
    assert found("davis", {"players": {"max": 6}, "deal": {"cards": [99]}, "end": "first_through"}) >= {
        ("deck_missing", "/deck/sizes/6"), ("bad_deal", "/deal/cards"), ("first_through_together", "/end"),
    }  # fmt: skip


def test_a_table_that_is_too_long_hides_no_fault_of_another_knob() -> None:
    assert found(
        "davis",
        {"deck": {"wilds": ["A"] * 4000}, "contracts": [[S3]] * 13, "deal": {"cards": [99]}, "end": "first_through"},
    ) == {
        ("too_long", "/deck/wilds"), ("too_long", "/contracts"), ("bad_deal", "/deal/cards"),
        ("first_through_together", "/end"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("overrides", "faults"),
    [
        ({"ace": "middle"}, {("invalid_value", "/ace")}),
        ({"buy": None}, {("invalid_value", "/buy")}),
        ({"buy": 3, "spice": {}}, {("invalid_value", "/buy"), ("unknown_field", "/spice")}),
        ({"buy": {"allowed": "yes", "limit": 2}, "deal": {"cards": [11, "12", 13]}}, {
            ("invalid_value", "/buy/allowed"), ("unknown_field", "/buy/limit"), ("invalid_value", "/deal/cards/1"),
        }),
        ({"contracts": [[S3], [{"kind": "row"}]]}, {
            ("invalid_value", "/contracts/1/0/kind"), ("missing", "/contracts/1/0/size"),
        }),
        ({"contracts": "std8"}, {("invalid_value", "/contracts")}),
        ({"deck": {"sizes": {"four": {"packs": 2}}}}, {("invalid_value", "/deck/sizes/four")}),
        ({"deck": {"sizes": {"four": {"packs": 2.5}}}}, {
            ("invalid_value", "/deck/sizes/four"), ("invalid_value", "/deck/sizes/four/packs"),
        }),
        ({"deck": {"sizes": {"4": {"packs": 2.5}}}}, {("invalid_value", "/deck/sizes/4/packs")}),
        ({"points": {"cards": {"A": "20", "K": None}}}, {
            ("invalid_value", "/points/cards/A"), ("invalid_value", "/points/cards/K"),
        }),
    ],
)  # fmt: skip
def test_what_is_no_ruleset_at_all_is_told_field_by_field(
    overrides: dict[str, Json], faults: set[tuple[str, str]]
) -> None:
    assert found("davis", overrides) == faults


def opened(rules: Ruleset, players: int) -> OpenGame:
    return OpenGame("gam_x", rules, Pace(), (SeatPlan("open"),) * players, "00" * 32)


@pytest.mark.parametrize(("name", "players"), [("davis", 6), ("davis", 1), ("king-rummy", 3), ("contract-rummy", 2)])
def test_a_game_is_not_opened_for_more_or_fewer_players_than_it_is_for(name: str, players: int) -> None:
    with pytest.raises(FaultyRuleset) as faulty:
        decide(opened(preset(name), players), Unopened())
    assert [(fault.code, fault.path) for fault in faulty.value.faults] == [("bad_player_number", "/seats")]


def test_a_game_that_its_deck_cannot_serve_is_not_opened() -> None:
    with pytest.raises(FaultyRuleset) as faulty:
        decide(opened(Ruleset(name="nothing"), 4), Unopened())
    assert "deck_missing" in {fault.code for fault in faulty.value.faults}
