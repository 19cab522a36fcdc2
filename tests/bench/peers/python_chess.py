"""Plays random games of chess with python-chess; prints moves and CPU seconds. Arguments: seed, seconds."""

import random
import sys
import time

import chess

LONGEST = 300  # half-moves: random games may last for thousands, with hardly a piece left

seed, seconds = int(sys.argv[1]), float(sys.argv[2])
luck = random.Random(seed)
moves, began = 0, time.process_time()
while (spent := time.process_time() - began) < seconds:
    board = chess.Board()
    while board.ply() < LONGEST and (legal := list(board.legal_moves)):
        board.push(luck.choice(legal))
        moves += 1
print(moves, spent)  # noqa: T201  this is the output
