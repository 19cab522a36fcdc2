"""A whole game of bots on the terminal, through nothing but the HTTP API of a running server."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from domain.ruleset import Contract
from infra.embedded import CannotRun
from services.chronicle import face, parts_in_words

Json = dict[str, Any]

_RED = "DH"


class GameRefused(CannotRun):
    """The server does not open such a game."""


def run(base_url: str, ruleset: str, players: int) -> None:
    """Opens a game with a bot on every seat and shows it until it is over.

    Errors: GameRefused.
    """
    with httpx.Client(base_url=base_url, timeout=30) as client:
        guest = _sent(client.post("/v1/players", json={"name": "Audience"}))
        client.headers["Authorization"] = f"Bearer {guest['token']}"
        levels = ("normal", "easy")
        seats = [{"controller": "bot", "level": levels[seat % 2]} for seat in range(players)]
        game = _sent(client.post("/v1/games", json={"ruleset": ruleset, "seats": seats}, headers=_key()))
        path = f"/v1/games/{game['game_id']}"
        _sent(client.post(f"{path}/start", headers=_key()))
        show = Show(Console(highlight=False), [str(seat["name"]) for seat in game["seats"]])
        for event in _stream(client, f"{path}/stream"):
            show.event(event)


def _sent(response: httpx.Response) -> Json:
    body: Json = response.json()
    if response.is_error:
        raise GameRefused(f"{body['title']}: {body['detail']}")
    return body


def _key() -> dict[str, str]:
    return {"Idempotency-Key": uuid4().hex}


def _stream(client: httpx.Client, path: str) -> Iterator[Json]:
    """Reads events until the server says `bye`; a cut connection is taken up where it was."""
    last = 0
    while True:
        headers = {"Last-Event-ID": str(last), "Accept": "text/event-stream"}
        try:
            with client.stream("GET", path, headers=headers) as response:
                if response.status_code == httpx.codes.NO_CONTENT:
                    return
                for kind, data in _messages(response.iter_lines()):
                    if kind == "bye" and data["reason"] == "game_over":
                        return
                    if "version" in data and "kind" in data:
                        last = data["version"]
                        yield data
        except httpx.TransportError:
            continue


def _messages(lines: Iterator[str]) -> Iterator[tuple[str, Json]]:
    kind, data = "message", ""
    for line in lines:
        field, _, value = line.partition(":")
        if field == "event":
            kind = value.strip()
        elif field == "data":
            data += value.strip()
        elif not line and data:
            yield kind, json.loads(data)
            kind, data = "message", ""


class Show:
    """Prints a game turn by turn: one line a turn, the score sheet between rounds and at the end."""

    def __init__(self, console: Console, names: list[str]) -> None:
        self._console = console
        self._names = names
        self._line = Text()
        self._sheet: list[tuple[list[int], list[int]]] = []

    def event(self, event: Json) -> None:
        """Shows one event; kinds that say nothing to an audience are passed over."""
        shown = getattr(self, f"_{event['kind']}", None)
        if shown is not None:
            shown(event["seat"], event["data"])

    def _round_dealt(self, _: int | None, data: Json) -> None:
        if self._sheet:
            self._print_sheet("Score sheet")
        parts = parts_in_words(msgspec.convert(data["contract"], Contract))
        self._console.rule(f"Round {data['number']}: {parts}")
        self._console.print(f"{self._names[data['dealer']]} deals", style="dim")

    def _turn_began(self, seat: int, _: Json) -> None:
        self._end_line()
        self._line = Text(f"{self._names[seat]:<6} ")

    def _end_line(self) -> None:
        if len(self._line.plain.strip().split()) > 2:  # more than the name: something happened
            self._console.print(self._line, soft_wrap=True)
        self._line = Text()

    def _card_drawn(self, _: int, data: Json) -> None:
        self._say("takes ", _card(data["card"])) if "card" in data else self._say("draws")

    def _card_bought(self, seat: int, data: Json) -> None:
        penalty = f" (+{data['penalty_count']})" if data["penalty_count"] else ""
        self._say(Text(f"{self._names[seat]} buys ", "bold yellow"), _card(data["card"]), penalty)

    def _shanghai_called(self, seat: int, data: Json) -> None:
        self._say(Text(f"{self._names[seat]} calls SHANGHAI ", "bold magenta"), _card(data["card"]))

    def _melds_laid(self, _: int, data: Json) -> None:
        for meld in data["melds"]:
            self._say(Text(f"lays {meld['kind']} {meld['meld_id']} ", "bold green"), _cards(meld["cards"]))

    def _cards_laid_off(self, _: int, data: Json) -> None:
        self._say("adds ", _cards(data["cards"]), f" to {data['meld_id']}")

    def _wild_swapped(self, _: int, data: Json) -> None:
        self._say("swaps ", _card(data["card"]), " for ", _card(data["wild"]))

    def _card_discarded(self, _: int, data: Json) -> None:
        self._say("discards ", _card(data["card"]), ", declared" if data["declared"] else "")

    def _stock_renewed(self, _: int | None, _data: Json) -> None:
        self._say(Text("the pile becomes the stock", "dim"))

    def _say(self, *words: str | Text) -> None:
        self._line.append(" · " if len(self._line.plain.strip().split()) > 2 else "")
        for word in words:
            self._line.append(word)

    def _round_ended(self, seat: int | None, _data: Json) -> None:
        self._end_line()
        how = "the stock is used up" if seat is None else f"{self._names[seat]} goes out"
        self._console.print(how, style="bold")

    def _round_scored(self, _: int | None, data: Json) -> None:
        self._sheet.append((data["points"], data["totals"]))

    def _print_sheet(self, title: str, winners: list[int] | None = None) -> None:
        table = Table(title=title)
        table.add_column("Round", justify="right")
        for seat, name in enumerate(self._names):
            table.add_column(f"{name} ★" if winners and seat in winners else name, justify="right")
        for number, (points, _) in enumerate(self._sheet, start=1):
            table.add_row(str(number), *map(str, points))
        table.add_section()
        table.add_row("Total", *map(str, self._sheet[-1][1]))
        self._console.print(table)

    def _operator_acted(self, _: int | None, data: Json) -> None:
        self._end_line()
        self._console.print(f"an operator steps in: {data['what']}", style="dim")

    def _game_cancelled(self, _: int | None, data: Json) -> None:
        if self._sheet:
            self._print_sheet("Score sheet")
        self._console.print(f"the game is cancelled: {data['reason']}", style="bold")

    def _game_finished(self, _: int | None, data: Json) -> None:
        winners = " and ".join(self._names[seat] for seat in data["winners"])
        self._print_sheet(f"{winners} won", data["winners"])


def _cards(placed: list[Json]) -> Text:
    return Text(" ").join(
        Text.assemble(_card(card["card"]), f"({face(card['as'])})" if card["as"] else "") for card in placed
    )


def _card(card: str) -> Text:
    return Text(face(card), "red" if card[-1:] in _RED else "")
