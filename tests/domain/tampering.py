"""Ways of tampering with a download, each with what it is found by."""

from collections.abc import Callable

from domain.fairness_report import Code
from tests.domain.downloads import NONCE, another, first
from tests.domain.exports import Json
from tests.domain.table import ANNA, BORIS

Tampering = Callable[[list[Json]], object]


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
