"""Plays random games of RLCard's gin rummy by `env.run`; prints moves and CPU seconds. Arguments: seed, seconds."""

import random
import sys
import time

import rlcard
from rlcard.agents import RandomAgent

seed, seconds = int(sys.argv[1]), float(sys.argv[2])
random.seed(seed)
env = rlcard.make("gin-rummy", config={"seed": seed})
env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(env.num_players)])
moves, began = 0, time.process_time()
while (spent := time.process_time() - began) < seconds:
    trajectories, _ = env.run(is_training=False)
    moves += sum(len(trajectory) // 2 for trajectory in trajectories)  # states and actions, in turn
print(moves, spent)  # noqa: T201  this is the output
