"""Bringing a game back from its stored events: what a server does for a game that it has not in memory."""

import statistics
import time
from itertools import chain, islice
from random import Random

from domain.evolve import fold
from services.codec import decode_event, encode_event
from tests.domain.games import at_random, whole_game

EVENTS = 400  # most of a game among people
GAMES = 20


def rehydration_s() -> float:
    """Times the first 400 events of games, decoded and folded; gives the median of all games' CPU time."""
    return statistics.median(map(_rehydrated_s, range(GAMES)))


def _rehydrated_s(seed: int) -> float:
    played = whole_game("davis", 4, seed, at_random(Random(seed), share=0.1))
    events = islice(chain.from_iterable(events for _, events in played), EVENTS)
    stored = [encode_event(event) for event in events]
    assert len(stored) == EVENTS
    began = time.process_time()
    fold(decode_event(*event) for event in stored)
    return time.process_time() - began
