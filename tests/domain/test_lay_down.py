"""Going down: whole lay-downs against their contracts."""

import pytest
from msgspec.structs import replace

from domain.lay_down import read_lay_down
from domain.presets import preset, ruleset_with
from domain.refusals import IllegalMove, Refused
from domain.ruleset import Contract, MeldKind, Part, Ruleset
from tests.domain.table import new_meld

DAVIS, BLACK_TWOS, JOKERS = preset("davis"), preset("black-twos"), preset("jokers")
FREE = ruleset_with("jokers", {"max_wilds": {"kind": "unlimited"}})
TWO_SETS, SET_AND_RUN, TWO_RUNS = DAVIS.contracts[:3]
THREE_RUNS = DAVIS.contracts[6]


def laid(rules: Ruleset, contract: Contract, *melds: tuple[MeldKind, str]) -> list[str]:
    read = read_lay_down(tuple(new_meld(kind, text) for kind, text in melds), contract, rules)
    return [" ".join(f"{p.card}({p.as_})" if p.as_ else p.card for p in cards) for _, cards in read]


def refusal(rules: Ruleset, contract: Contract, *melds: tuple[MeldKind, str]) -> IllegalMove:
    with pytest.raises(Refused) as refused:
        laid(rules, contract, *melds)
    assert isinstance(refused.value.broken, IllegalMove)
    return refused.value.broken


def test_melds_meet_the_contract_in_either_order() -> None:
    run: tuple[MeldKind, str] = ("run", "8H JK(9H) JK(TH) JK(JH)")
    nines: tuple[MeldKind, str] = ("set", "9C 9D 9S 9H")
    assert laid(FREE, SET_AND_RUN, run, nines) == [run[1], nines[1]]
    assert laid(FREE, SET_AND_RUN, nines, run) == [nines[1], run[1]]


def test_sizes_are_met_by_the_best_match() -> None:
    contract = (Part("set", 3), Part("set", 5))
    assert laid(FREE, contract, ("set", "7H 7D 7S 7C 7C"), ("set", "9C 9D 9S"))
    assert refusal(FREE, contract, ("set", "7H 7D 7S 7C"), ("set", "9C 9D 9S 9H")).reason == "contract_not_met"


def test_two_sets_of_one_rank_are_two_sets_only_where_the_rules_have_it_so() -> None:
    kings: tuple[tuple[MeldKind, str], ...] = (("set", "KH KD KS"), ("set", "KC KH KD"))
    assert refusal(DAVIS, TWO_SETS, *kings).reason == "same_rank_sets"
    assert laid(replace(DAVIS, distinct_set_ranks=False), TWO_SETS, *kings) == ["KH KD KS", "KC KH KD"]


def test_one_set_of_six_is_not_two_sets() -> None:
    assert refusal(DAVIS, TWO_SETS, ("set", "KH KD KS KC KH KD")).reason == "contract_not_met"


def test_a_lay_down_has_no_more_melds_than_its_contract() -> None:
    runs: list[tuple[MeldKind, str]] = [("run", "2H 3H 4H 5H"), ("run", "7D 8D 9D TD"), ("run", "3S 4S 5S 6S")]
    assert refusal(DAVIS, TWO_RUNS, *runs).reason == "wrong_meld_count"
    assert laid(DAVIS, THREE_RUNS, *runs) == [text for _, text in runs]


def test_a_run_of_three_meets_no_contract_of_runs_of_four() -> None:
    assert refusal(DAVIS, TWO_RUNS, ("run", "2H 3H 4H"), ("run", "7D 8D 9D TD")).reason == "contract_not_met"


@pytest.mark.parametrize("second", ["6H 7H 8H 9H", "JK(6H) 7H 8H 9H"])
def test_runs_that_join_end_to_end_are_one_run(second: str) -> None:
    assert refusal(DAVIS, TWO_RUNS, ("run", "2H 3H 4H 5H"), ("run", second)).reason == "consecutive_runs"
    assert laid(BLACK_TWOS, TWO_RUNS, ("run", "2H 3H 4H 5H"), ("run", "6H 7H 8H 9H"))


@pytest.mark.parametrize("second", ["5H 6H 7H 8H", "7H 8H 9H TH", "6D 7D 8D 9D"])
def test_runs_that_overlap_leave_a_gap_or_differ_in_suit_are_two_runs(second: str) -> None:
    assert laid(DAVIS, TWO_RUNS, ("run", "2H 3H 4H 5H"), ("run", second)) == ["2H 3H 4H 5H", second]


def test_runs_join_round_the_corner_too() -> None:
    corner = replace(DAVIS, ace="corner")
    assert refusal(corner, TWO_RUNS, ("run", "TH JH QH KH"), ("run", "AH 2H 3H 4H")).reason == "consecutive_runs"


def test_a_wild_that_only_one_place_keeps_apart_needs_no_role() -> None:
    assert laid(DAVIS, TWO_RUNS, ("run", "2H 3H 4H 5H"), ("run", "7H 8H 9H JK"))[1] == "7H 8H 9H JK(TH)"
    assert refusal(BLACK_TWOS, TWO_RUNS, ("run", "2H 3H 4H 5H"), ("run", "7H 8H 9H 2C")) == IllegalMove(
        "ambiguous_wild", ("6H", "TH")
    )


def test_sets_of_wilds_find_the_rank_that_the_others_leave() -> None:
    rules = replace(FREE, all_wild_melds=True, distinct_set_ranks=True)
    assert refusal(rules, TWO_SETS, ("set", "KH KD KS"), ("set", "JK JK JK")).readings == tuple("A23456789TJQ")


def test_an_ambiguous_wild_is_told_before_nothing_else_is_wrong() -> None:
    assert refusal(DAVIS, TWO_RUNS, ("run", "9D TD JD JK"), ("run", "2H 3H 4H 5H")) == IllegalMove(
        "ambiguous_wild", ("8D", "QD")
    )
    assert refusal(DAVIS, TWO_SETS, ("run", "9D TD JD JK"), ("set", "2H 2H 2D")).reason == "contract_not_met"


def test_a_melds_own_fault_comes_before_the_contracts() -> None:
    assert refusal(DAVIS, TWO_SETS, ("run", "5H 6D 7H 8H")).reason == "run_mixed_suits"
    assert refusal(DAVIS, TWO_RUNS, ("run", "JC QC KC AC"), ("run", "AH 2H 3H 4H")).reason == "ace_low"
    assert laid(BLACK_TWOS, TWO_RUNS, ("run", "JC QC KC AC"), ("run", "AH 2H 3H 4H"))


@pytest.mark.parametrize(
    ("contract", "melds", "meld"),
    [
        (TWO_SETS, (("set", "7H 7D 7S"), ("set", "9C 9D TS")), 1),
        (TWO_RUNS, (("run", "9D TD JD JK"), ("run", "2H 3H 4H 5H")), 0),
        (TWO_RUNS, (("run", "2H 3H 4H 5H"), ("run", "9D TD JD JK")), 1),
        (TWO_SETS, (("set", "7H 7D 7S"), ("set", "7C 7D 7S")), None),
        (TWO_SETS, (("set", "7H 7D 7S"),), None),
    ],
)
def test_a_refusal_says_which_meld_is_at_fault(
    contract: Contract, melds: tuple[tuple[MeldKind, str], ...], meld: int | None
) -> None:
    with pytest.raises(Refused) as refused:
        laid(DAVIS, contract, *melds)
    assert refused.value.meld == meld


def test_exact_sizes_are_exact() -> None:
    exact = replace(FREE, exact_sizes=True)
    assert refusal(exact, TWO_SETS, ("set", "7H 7D 7S 7C"), ("set", "9C 9D 9S")).reason == "size_not_exact"
    assert refusal(exact, TWO_SETS, ("set", "7H 7D"), ("set", "9C 9D 9S")).reason == "contract_not_met"
    assert laid(exact, TWO_SETS, ("set", "7H 7D 7S"), ("set", "9C 9D 9S"))


def test_more_melds_than_the_contract_are_laid_where_the_rules_have_it_so() -> None:
    king_rummy = preset("king-rummy")
    set_and_run = king_rummy.contracts[0]
    melds: list[tuple[MeldKind, str]] = [("set", "9C 9D 9S"), ("run", "2H 3H 4H 5H"), ("set", "KC KD KS")]
    assert len(laid(king_rummy, set_and_run, *melds)) == 3
    assert refusal(king_rummy, set_and_run, *melds[:2], ("set", "KC KD")).reason == "contract_not_met"
    assert refusal(king_rummy, set_and_run, melds[0], melds[2]).reason == "contract_not_met"


def test_ten_phases_contracts_are_met_by_runs_in_any_colour() -> None:
    phases = preset("ten-phases")
    set_and_run = phases.contracts[1]
    assert laid(phases, set_and_run, ("set", "3R 3B W"), ("run_any_suit", "5R 6B 7Y 8G"))[0] == "3R 3B W(3)"
    assert refusal(phases, set_and_run, ("set", "3R 3B W"), ("run", "5R 6R 7R 8R")).reason == "contract_not_met"


def test_nothing_meets_no_contract() -> None:
    assert refusal(DAVIS, TWO_SETS).reason == "contract_not_met"
    assert refusal(DAVIS, TWO_SETS, ("set", ""), ("set", "9C 9D 9S")).reason == "contract_not_met"
