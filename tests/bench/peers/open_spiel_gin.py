"""Plays random games of OpenSpiel's gin rummy, move by move; prints moves and CPU seconds. Arguments: seed, seconds."""

import random
import sys
import time

import pyspiel

seed, seconds = int(sys.argv[1]), float(sys.argv[2])
luck = random.Random(seed)
game = pyspiel.load_game("gin_rummy")
moves, began = 0, time.process_time()
while (spent := time.process_time() - began) < seconds:
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            cards, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(luck.choices(cards, chances)[0])
        else:
            state.apply_action(luck.choice(state.legal_actions()))
            moves += 1
print(moves, spent)  # noqa: T201  this is the output
