"""A client's own picture of a game, made of nothing but the events that the API has shown to it.

It is compared with the view of the same moment: what the events tell must be enough to draw the table.
"""

from typing import Any

Json = dict[str, Any]
_COMPARED = ("version", "status", "round", "table", "seats", "you", "result")
_UNTOLD = ("name", "buys_left")  # names change, limits are in the rules


class Replica:
    """The picture of one seat, or of a spectator where `seat` is None."""

    def __init__(self, seat: int | None) -> None:
        self.seat = seat
        self.version = 0
        self.status = "waiting"
        self.seats: list[Json] = []
        self.hand: list[str] = []
        self.round: Json | None = None
        self.table: Json | None = None
        self.result: Json | None = None
        self.declined = False
        self.rules: Json = {}

    def record(self, event: Json) -> None:
        """Takes the next event; versions come without holes."""
        assert event["version"] == self.version + 1, f"{event['version']} after {self.version}"
        self.version = event["version"]
        getattr(self, f"_{event['kind']}")(event["seat"], event["data"])

    def compare(self, view: Json) -> None:
        """Asserts that the view shows what the events have told."""
        shown = {key: view[key] for key in _COMPARED}
        shown["seats"] = [{key: seat[key] for key in seat if key not in _UNTOLD} for seat in view["seats"]]
        if shown["round"]:
            shown["round"] = {key: value for key, value in shown["round"].items() if key != "waiting_for"}
        if shown["you"]:
            shown["you"] = {**shown["you"], "hand": sorted(shown["you"]["hand"])}
        assert shown == self._picture(), f"at version {self.version}"

    def _picture(self) -> Json:
        return {
            "version": self.version,
            "status": self.status,
            "round": self.round,
            "table": self.table,
            "seats": self.seats,
            "you": None if self.seat is None else {"seat": self.seat, "hand": sorted(self.hand)},
            "result": self.result,
        }

    def _more(self, seat: int, *cards: str | None) -> None:
        self.seats[seat]["hand_count"] += len(cards)
        if seat == self.seat:
            self.hand += [card for card in cards if card is not None]

    def _less(self, seat: int, *cards: str | None) -> None:
        self.seats[seat]["hand_count"] -= len(cards)
        if seat == self.seat:
            for card in cards:
                assert card is not None
                self.hand.remove(card)

    def _game_opened(self, _: int | None, data: Json) -> None:
        self.rules = data["rules"]
        self.seats = [
            {
                "seat": seat,
                "player_id": None,
                "controller": "open",
                "level": None,
                "away": False,
                "hand_count": 0,
                "down": False,
                "contract": 0,
                "score": 0,
            }
            for seat in range(data["seat_count"])
        ]

    def _seat_changed(self, seat: int, data: Json) -> None:
        self.seats[seat] |= {key: data[key] for key in ("player_id", "controller", "level")}
        self.seats[seat]["away"] = data["controller"] == "bot" and data["player_id"] is not None

    def _game_started(self, _: int | None, _data: Json) -> None:
        self.status = "playing"

    def _round_dealt(self, _: int | None, data: Json) -> None:
        for seat, count in zip(self.seats, data["hand_counts"], strict=True):
            seat |= {"hand_count": count, "down": False}
        self.hand = list(data.get("hand", []))
        self.round = {
            "number": data["number"],
            "of": self._rounds(),
            "contract": data["contract"],
            "dealer": data["dealer"],
            "turn": None,
            "phase": "draw",
        }
        self.table = {
            "stock_count": data["stock_count"],
            "discard_top": data["discard_top"],
            "discard_open": False,
            "discard_count": int(data["discard_top"] is not None),
            "melds": [],
        }
        self.pile = [data["discard_top"]] if data["discard_top"] else []

    def _rounds(self) -> int | None:
        if self.rules["progression"] == "individual":
            return None
        return self.rules["max_rounds"] or len(self.rules["contracts"])

    def _ask(self, *, phase: str, discard_open: bool) -> None:
        assert self.round
        assert self.table
        self.round["phase"] = phase
        self.table |= {
            "discard_open": discard_open,
            "discard_top": self.pile[-1] if self.pile else None,
            "discard_count": len(self.pile),
        }

    def _turn_began(self, seat: int, data: Json) -> None:
        assert self.round
        self.round["turn"] = seat
        if self.seat is None:  # a spectator sees what the player in turn works at
            self.round["contract"] = self.rules["contracts"][self.seats[seat]["contract"]]
        self._ask(phase="draw" if data["step"] == "draw" else "play", discard_open=data["discard_open"])

    def _card_drawn(self, seat: int, data: Json) -> None:
        self._more(seat, data.get("card"))
        if data["source"] == "discard":
            assert self.pile.pop() == data["card"]
        self._stock(data)
        self._ask(phase="play", discard_open=False)

    def _stock(self, data: Json) -> None:
        assert self.table
        self.table["stock_count"] = data["stock_count"]

    def _draw_declined(self, _: int, _data: Json) -> None:
        assert self.round
        self.round["phase"] = "claims"

    def _draw_skipped(self, _: int, _data: Json) -> None:
        self._ask(phase="play", discard_open=False)

    def _buy_requested(self, _: int, _data: Json) -> None: ...

    def _passed(self, _: int | None, _data: Json) -> None: ...

    def _card_bought(self, seat: int, data: Json) -> None:
        assert self.pile.pop() == data["card"]
        self._more(seat, data["card"], *data.get("penalty_cards", [None] * data["penalty_count"]))
        self._stock(data)
        self._ask(phase="draw", discard_open=False)

    def _claims_closed(self, _: int | None, _data: Json) -> None:
        self._ask(phase="draw", discard_open=False)

    def _discard_opened(self, _: int | None, data: Json) -> None:
        assert self.pile[-1] == data["card"]
        self._ask(phase="draw", discard_open=True)

    def _shanghai_called(self, _: int, data: Json) -> None:
        assert self.pile.pop() == data["card"]
        self._meld(data)
        self._stock(data)
        penalty = [data.get("penalty_card")] * data["penalty_count"]
        if data["from_seat"] is not None:
            self._less(data["from_seat"], *penalty)
        if data["to_seat"] is not None:
            self._more(data["to_seat"], *([data["card"]] if data["taken_back"] else []), *penalty)
        self._ask(phase="draw", discard_open=False)

    def _false_called(self, seat: int, data: Json) -> None:
        self._more(seat, *data.get("penalty_cards", [None] * data["penalty_count"]))
        self._stock(data)

    def _swap_offered(self, _: int, _data: Json) -> None: ...

    def _swap_declined(self, _: int, _data: Json) -> None: ...

    def _nonces_asked(self, _: int | None, _data: Json) -> None: ...

    def _nonce_revealed(self, _: int, _data: Json) -> None: ...

    def _nonces_dropped(self, _: int | None, data: Json) -> None:
        for seat in data["seats"]:
            self.seats[seat] |= {"player_id": None, "controller": "open", "level": None}

    def _meld(self, data: Json) -> None:
        assert self.table
        for meld in self.table["melds"]:
            if meld["meld_id"] == data["meld_id"]:
                meld["cards"] = data["meld"]

    def _melds_laid(self, seat: int, data: Json) -> None:
        assert self.table
        self.table["melds"] += [dict(meld) for meld in data["melds"]]  # they grow here, and the event stays as it came
        self._less(seat, *(card["card"] for meld in data["melds"] for card in meld["cards"]))
        self.seats[seat]["down"] = True

    def _cards_laid_off(self, seat: int, data: Json) -> None:
        self._meld(data)
        self._less(seat, *(card["card"] for card in data["cards"]))

    def _wild_swapped(self, seat: int, data: Json) -> None:
        self._meld(data)
        self._less(seat, data["card"])
        if data["to_hand"]:
            self._more(seat, data["wild"])

    def _card_discarded(self, seat: int, data: Json) -> None:
        self._less(seat, data["card"])
        self.pile.append(data["card"])
        self._ask(phase="play", discard_open=False)

    def _turn_ended(self, _: int, _data: Json) -> None: ...

    def _stock_renewed(self, _: int | None, data: Json) -> None:
        self.pile = self.pile[-data["discard_count"] :]
        self._stock(data)
        assert self.round
        assert self.table
        self.table["discard_count"] = len(self.pile)

    def _round_ended(self, _: int | None, data: Json) -> None:
        self._ask(phase="scoring", discard_open=False)
        assert [len(hand) for hand in data["hands"]] == [seat["hand_count"] for seat in self.seats]

    def _round_scored(self, _: int | None, data: Json) -> None:
        for seat, total, contract in zip(self.seats, data["totals"], data["contracts"], strict=True):
            assert seat["score"] + data["points"][seat["seat"]] == total
            seat |= {"score": total, "contract": contract}

    def _turn_warned(self, _: int | None, __: Json) -> None:
        pass

    def _operator_acted(self, _: int | None, __: Json) -> None:
        pass

    def _game_cancelled(self, _: int | None, __: Json) -> None:
        self.status = "cancelled"

    def _game_finished(self, _: int | None, data: Json) -> None:
        self.status = "finished"
        self.result = {"winners": data["winners"], "totals": data["totals"]}
