"""Checks a game from its visible events alone, as any player or spectator may download them: was all luck as fixed?

Nothing is asked of a server. Every round whose secret is revealed is dealt again and followed card by card, up to its
first difference. What is still hidden is not checked, and the report says so.
Source: domain/README.md, "Fair dealing".
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from domain import shown as v
from domain.fairness_chain import revealed_secrets, wrong_nonces
from domain.fairness_deal import Luck, Setting, can_be_dealt
from domain.fairness_report import Code, Finding, Report, ShownEvent
from domain.fairness_round import Differs, RoundAgain
from domain.visible import KINDS


def check(events: Sequence[ShownEvent]) -> Report:
    """Checks a game, or as much of its beginning as the events tell; no findings: all that was checked is fair.

    Shape: findings stand in the order of versions; of several differences in one round the first is reported.
    """
    story = _Story(events)
    story.findings += _misplaced(events)
    opened = story.read(events[0]) if events else None
    if isinstance(opened, v.GameOpenedData):
        story.tell(opened)
    else:
        story.findings.append(Finding(1, "no_beginning", "a game begins with the event game_opened"))
    return story.report()


def _misplaced(events: Sequence[ShownEvent]) -> Iterator[Finding]:
    """Finds holes in the versions and events of other games."""
    before = 0
    for event in events:
        if event.version != before + 1:
            yield Finding(event.version, "version_missing", f"version {before + 1} should stand here")
        if event.game_id != events[0].game_id:
            yield Finding(event.version, "another_game", f"this event belongs to the game {event.game_id}")
        before = event.version


class _Story:
    """A game as it is told event by event: what holds from round to round."""

    def __init__(self, events: Sequence[ShownEvent]) -> None:
        self.events = events
        self.findings: list[Finding] = []
        self.version = 1
        self.ruleset = ""
        self.seats = self.number = self.nonces = self.compared = self.unknown = 0
        self.viewer = _viewer(events)
        self.commitments: tuple[str | None, ...] = ()
        self.secrets: dict[int, bytes] = {}
        self.dealt_again: list[int] = []
        self.round: RoundAgain | None = None
        self.totals: tuple[int, ...] = ()
        self.contracts: tuple[int, ...] = ()
        self.is_finished = False

    def tell(self, opened: v.GameOpenedData) -> None:
        """Tells the game from its beginning."""
        self.ruleset, self.seats = opened.rules.name, opened.seat_count
        if not can_be_dealt(opened.rules, self.seats):
            self._find("impossible_rules", "these rules cannot be played with so many seats")
            return
        secrets = revealed_secrets(self.events, opened.commitment)
        self.secrets = secrets.of_round
        self.findings += secrets.findings
        self.setting = Setting(self.events[0].game_id, opened.rules, self.seats)
        self.commitments = (None,) * self.seats
        self.totals = self.contracts = (0,) * self.seats
        for event in self.events[1:]:
            self.version = event.version
            data = self.read(event)
            if data is not None:
                self._record(event.seat, data)
        self._leave_round()

    def read(self, event: ShownEvent) -> v.VisibleData | None:
        """Reads an event's fields; None for a kind that this version does not know, or what cannot be read."""
        type_ = _TYPES.get(event.kind)
        if type_ is None:
            self.unknown += 1
            return None
        try:
            data: v.VisibleData = msgspec.convert(event.data, type_, str_keys=True)
        except msgspec.ValidationError as error:
            self.findings.append(Finding(event.version, "unreadable_event", f"{event.kind}: {error}"))
            return None
        return data

    def report(self) -> Report:
        """Sums up."""
        last = self.events[-1] if self.events else None
        return Report(
            game_id="" if last is None else last.game_id,
            ruleset=self.ruleset,
            seats=self.seats,
            last_version=0 if last is None else last.version,
            is_finished=self.is_finished,
            viewer=self.viewer,
            rounds=tuple(self.dealt_again),
            unrevealed=tuple(number for number in range(1, self.number + 1) if number not in self.secrets),
            nonces=self.nonces,
            cards=self.compared,
            unknown_events=self.unknown,
            findings=tuple(sorted(self.findings, key=lambda finding: finding.version)),
        )

    def _record(self, seat: int | None, data: v.VisibleData) -> None:
        match data:
            case v.GameOpenedData():
                self._find("no_beginning", "a game is opened only once")
            case v.NoncesAskedData(commitments):
                self.commitments = commitments
            case v.NoncesDroppedData():
                self.commitments = (None,) * self.seats
            case v.GameStartedData(nonces):
                self.setting = replace(self.setting, nonces=nonces)
                self.nonces = sum(nonce is not None for nonce in nonces)
                for text in wrong_nonces(self.commitments, nonces):
                    self._find("nonce_differs", text)
            case v.RoundDealtData():
                self._deal(data)
            case v.RoundScoredData():
                self._score(data)
            case v.GameFinishedData():
                self._finish(data)
            case v.SeatChangedData(reason="out") if seat is not None:
                self.setting = replace(self.setting, out=self.setting.out | {seat})
                self._go_on(lambda round_: round_.follow(seat, data))
            case _:
                self._go_on(lambda round_: round_.follow(seat, data))

    def _deal(self, data: v.RoundDealtData) -> None:
        if self.number and self.number not in self.secrets:
            self._find("secret_missing", f"the secret of round {self.number} was never revealed")
        self.number += 1
        if data.number != self.number:
            self._find("round_out_of_order", f"this must be round {self.number}, not {data.number}")
        self._leave_round()
        dealer = data.dealer
        if self.number in self.secrets:
            self.dealt_again.append(self.number)
            self.round = RoundAgain(Luck(self.setting, self.number, self.secrets[self.number]))
            dealer = self.round.dealer
            self._go_on(lambda round_: round_.compare_deal(data, self.viewer))
        self.setting = replace(self.setting, dealer=dealer)

    def _score(self, data: v.RoundScoredData) -> None:
        before = self.contracts
        self._go_on(lambda round_: round_.compare_score(data, before))
        totals = tuple(sum(pair) for pair in zip(self.totals, data.points, strict=False))
        if totals != data.totals:
            self._find("totals_differ", f"the totals are {totals}, and not {data.totals}")
        self.totals, self.contracts = data.totals, data.contracts

    def _finish(self, data: v.GameFinishedData) -> None:
        """Compares the result: the lowest total wins, equals share.

        Most contracts done come first where being through wins, and where nobody is through at the end.
        """
        self.is_finished = True
        if data.totals != self.totals:
            self._find("totals_differ", f"the totals are {self.totals}, and not {data.totals}")
        rules, those = self.setting.rules, range(min(self.seats, len(self.totals), len(self.contracts)))
        done = {seat: self.contracts[seat] for seat in those if seat not in self.setting.out}
        is_total_all = rules.end == "lowest_total" and max(done.values(), default=0) >= len(rules.contracts)
        ranks = {seat: (0 if is_total_all else -number, self.totals[seat]) for seat, number in done.items()}
        winners = tuple(seat for seat, rank in ranks.items() if rank == min(ranks.values()))
        if data.winners != winners:
            self._find("winners_differ", f"the winners are {winners}, and not {data.winners}")

    def _go_on(self, step: Callable[[RoundAgain], None]) -> None:
        """Goes on in the round dealt again; at a difference the rest of it is left unchecked."""
        if self.round is None:
            return
        try:
            step(self.round)
        except Differs as difference:
            self._find(difference.code, difference.detail)
            self._leave_round()

    def _leave_round(self) -> None:
        if self.round is not None:
            self.compared += self.round.compared
        self.round = None

    def _find(self, code: Code, detail: str) -> None:
        self.findings.append(Finding(self.version, code, detail))


def _viewer(events: Sequence[ShownEvent]) -> int | None:
    """Finds whose seat the events were shown to: it alone sees what it draws, and that it was it who passed."""
    seats = Counter(event.seat for event in events if event.seat is not None and _is_shown_to_its_seat(event))
    return seats.most_common(1)[0][0] if seats else None


def _is_shown_to_its_seat(event: ShownEvent) -> bool:
    match event.kind:
        case "card_drawn":
            return "card" in event.data and event.data.get("source") == "stock"
        case "card_bought" | "false_called":
            return "penalty_cards" in event.data
        case kind:
            return kind == "passed"


_TYPES: dict[str, type[v.VisibleData]] = {
    KINDS[event]: data for data in v.VisibleData.__args__ for event in KINDS if data.__name__ == f"{event.__name__}Data"
}
