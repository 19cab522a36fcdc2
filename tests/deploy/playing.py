"""A person and a bot play a whole game over HTTP, whatever stands behind the address."""

from tests.e2e.client import Client, any_option, follow
from tests.e2e.test_whole_games import assert_finished


def play_a_game(url: str) -> None:
    """Answers every decision of one seat until the game is over, and checks how it ended."""
    anna, choose = Client(url, "Anna"), any_option(7)
    game_id = anna.open_game("davis", "you", "normal", "easy", pace={"claim_window_s": 1, "turn_s": 60})
    answered = set[str]()
    for kind, data in follow(anna, game_id, views=True):
        for decision in data["decisions"] if kind == "view" else ():
            if decision["decision_id"] not in answered:
                answered.add(decision["decision_id"])
                anna.move(game_id, decision, choose(decision))
                break
    assert_finished(anna, game_id, seat=0)
    anna.close()
