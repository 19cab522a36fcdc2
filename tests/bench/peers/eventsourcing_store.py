"""Writes events with the eventsourcing library's Postgres recorder, or reads a game with its repository.

Prints how often, and in how many seconds. Arguments: append|load, folder of the server's socket, database, seconds,
events of an append or of the game.
"""

import sys
import threading
import time
from uuid import uuid4

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore

THREADS = 8
PAYLOAD = b"x" * 300


class Game(Aggregate):  # type: ignore[misc]  # the library is not there where types are checked
    """As little of a game as can be read back."""

    @event("Opened")  # type: ignore[untyped-decorator]
    def __init__(self) -> None:
        self.cards = 0

    @event("CardDrawn")  # type: ignore[untyped-decorator]
    def draw(self, seat: int, source: str, card: str, stock_count: int) -> None:
        """Draws a card."""
        self.cards += 1


def append(host: str, database: str, seconds: float, events: int) -> tuple[int, float]:
    """Has each thread append to games of its own."""
    store = PostgresDatastore(database, host, "", "postgres", "", pool_size=THREADS)
    recorder = PostgresApplicationRecorder(store)
    recorder.create_table()
    counts = [0] * THREADS
    began = time.monotonic()

    def work(thread: int) -> None:
        game, version = uuid4(), 0
        while time.monotonic() < began + seconds:
            new = [StoredEvent(game, version + number, "game:CardDrawn", PAYLOAD) for number in range(1, events + 1)]
            recorder.insert_events(new)
            version += events
            counts[thread] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    return sum(counts), time.monotonic() - began


def load(host: str, database: str, seconds: float, events: int) -> tuple[int, float]:
    """Reads one game again and again."""
    names = {"PERSISTENCE_MODULE": "eventsourcing.postgres", "POSTGRES_DBNAME": database, "POSTGRES_HOST": host}
    others = {"POSTGRES_PORT": "5432", "POSTGRES_USER": "postgres", "POSTGRES_PASSWORD": ""}
    house: Application = Application(env=names | others)
    game = Game()
    for number in range(events - 1):
        game.draw(number % 4, "stock", "7H", 50)
    house.save(game)
    count, began = 0, time.monotonic()
    while time.monotonic() < began + seconds:
        assert house.repository.get(game.id).version == events
        count += 1
    spent = time.monotonic() - began
    house.close()
    return count, spent


if __name__ == "__main__":
    what, host, database, seconds, events = sys.argv[1:]
    print(*{"append": append, "load": load}[what](host, database, float(seconds), int(events)))  # noqa: T201
