"""A table laid out by hand for one scenario: Anna, Boris, Clara and David sit clockwise on seats 0 to 3."""

from collections.abc import Mapping, Sequence
from uuid import uuid4

from msgspec.structs import replace

from domain.cards import Card, in_deck_order
from domain.claims import claimants
from domain.commands import Answer, CloseClaims, LayDown, Move, OpenGame, Pace, TableCommand
from domain.decide import decide
from domain.decisions import Decision, open_decisions
from domain.events import Event
from domain.evolve import evolve, fold
from domain.meld import Meld, NewMeld, Placed
from domain.meld_rules import meld_rules
from domain.options import options_for
from domain.presets import Json, ruleset_with
from domain.readings import Reading, best, only, readings
from domain.refusals import IllegalMove, Refused, RuleBroken
from domain.ruleset import MeldKind, Ruleset
from domain.state import Discarded, Game, Round, Seat, Step, Turn, Unopened, Window

ANNA, BORIS, CLARA, DAVID = range(4)
NOBODY = None
STOCK = "3C 3D 3H 3S 4C 4H 4S 6C 6D 6S"
SECRET = "ab" * 32


def cards(text: str) -> tuple[Card, ...]:
    """Reads cards as they are written in the rules: `7H TS JK`."""
    return tuple(text.split())


def placed(text: str) -> tuple[Placed, ...]:
    """Reads a meld's cards, a wild with its role in brackets: `5H JK(6H) 7H`."""
    return tuple(
        Placed(card, role.rstrip(")") or None) for card, _, role in (word.partition("(") for word in text.split())
    )


def meld(owner: int, kind: MeldKind, text: str) -> Meld:
    """Puts a meld on the table; the table numbers it."""
    return Meld("", owner, kind, placed(text))


def written(meld: Meld | NewMeld) -> str:
    """Writes the cards of a meld as `placed` reads them."""
    return " ".join(f"{p.card}({p.as_})" if p.as_ else p.card for p in meld.cards)


def new_meld(kind: MeldKind, text: str) -> NewMeld:
    """Writes a meld as a player sends it."""
    return NewMeld(kind, placed(text))


def read_meld(new: NewMeld, rules: Ruleset, *, first_laying: bool = True) -> Reading:
    """Gives the only reading of a meld that is laid alone. Errors: Refused."""
    knobs = meld_rules(rules)
    return only(new.kind, best(readings(new, knobs, first_laying=first_laying)), new.cards, knobs)


def reason_of(refused: Refused) -> str:
    """Gives the reason why a move was illegal."""
    assert isinstance(refused.broken, IllegalMove)
    return refused.broken.reason


def lay_down(*melds: tuple[MeldKind, str]) -> LayDown:
    """Writes a lay-down: `lay_down(("set", "7H 7D JK"), ("run", …))`."""
    return LayDown(tuple(new_meld(kind, text) for kind, text in melds))


def kinds(events: Sequence[Event]) -> list[str]:
    """Names the events."""
    return [type(event).__name__ for event in events]


class Table:
    """The game of a scenario; each answer moves it on."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.events: list[Event] = []

    @classmethod
    def opened(cls, command: OpenGame) -> "Table":
        """Opens a game."""
        events = decide(command, Unopened())
        game = fold(events)
        assert isinstance(game, Game)
        table = cls(game)
        table.events += events
        return table

    def answer(self, seat: int, move: Move) -> list[Event]:
        """Answers the seat's open decision and gives the events."""
        return self.carry_out(Answer(seat, self._decision_id(seat), move))

    def refusal(self, seat: int, move: Move) -> RuleBroken:
        """Answers the seat's open decision and gives the reason why not; the game stays as it was."""
        try:
            events = decide(Answer(seat, self._decision_id(seat), move), self.game)
        except Refused as refused:
            return refused.broken
        raise AssertionError(f"{move} was accepted: {events}")

    def time_is_over(self) -> list[Event]:
        """Lets the claim window's time run out."""
        assert self.round.window is not None
        return self.carry_out(CloseClaims(self.round.window.opened_at))

    def carry_out(self, command: TableCommand) -> list[Event]:
        """Lets any command happen."""
        events = decide(command, self.game)
        for event in events:
            self.happens(event)
        return events

    def happens(self, event: Event) -> None:
        """Lets an event happen, as if a command had led to it."""
        game = evolve(self.game, event)
        assert isinstance(game, Game)
        self.game = game
        self.events.append(event)

    def has(self, seat: int, **changes: object) -> None:
        """Gives a seat other values, as if they had come about before."""
        seats = self.game.seats
        changed = replace(seats[seat], **changes)
        self.game = replace(self.game, seats=(*seats[:seat], changed, *seats[seat + 1 :]))

    def options(self, seat: int) -> tuple[Move, ...]:
        """Lists what the seat may do now; nothing where it is not asked."""
        decision = self.decision(seat)
        return () if decision is None else options_for(self.game, decision)

    def decision(self, seat: int) -> Decision | None:
        """Finds the seat's open decision."""
        return next((decision for decision in open_decisions(self.game) if decision.seat == seat), None)

    def asked(self) -> dict[int, str]:
        """Tells who is asked what."""
        return {decision.seat: decision.kind for decision in open_decisions(self.game)}

    def hand(self, seat: int) -> tuple[Card, ...]:
        """Gives a hand in deck order."""
        return self.game.seats[seat].hand

    def lies(self, meld_id: str) -> str:
        """Writes a meld as it lies: `5H JK(6H) 7H`."""
        lying = next(meld for meld in self.round.melds if meld.meld_id == meld_id)
        return " ".join(f"{card.card}({card.as_})" if card.as_ else card.card for card in lying.cards)

    @property
    def round(self) -> Round:
        """The round on the table."""
        assert self.game.round is not None
        return self.game.round

    @property
    def pile(self) -> tuple[Card, ...]:
        """The cards of the pile, the top last."""
        return tuple(discarded.card for discarded in self.round.pile)

    def _decision_id(self, seat: int) -> str:
        decision = self.decision(seat)
        return "none" if decision is None else decision.decision_id


def table(
    preset: str,
    hands: Sequence[str],
    *,
    overrides: Mapping[str, Json] | None = None,
    number: int = 1,
    turn: int = ANNA,
    step: Step = "play",
    stock: str = STOCK,
    pile: Sequence[tuple[int | None, str]] = ((DAVID, "9D"),),
    melds: Sequence[Meld] = (),
    down: Sequence[int] = (),
    drawn: Card | None = None,
    taken: bool = False,
    claims: str = "early",
) -> Table:
    """Lays out a round in the middle of a turn. pile: who discarded which card, the top last."""
    rules = ruleset_with(preset, dict(overrides or {}))
    seats = tuple(
        Seat("human", f"ply_{seat}", hand=in_deck_order(cards(text)), down=seat in down, contract=number - 1)
        for seat, text in enumerate(hands)
    )
    round_ = Round(
        number=number,
        contracts=(rules.contracts[number - 1],) * len(seats),
        dealer=(turn - 1) % len(seats),
        secret=SECRET,
        stock=cards(stock),
        pile=tuple(Discarded(card, by) for by, card in pile),
        turn=turn,
        step=step,
        melds=tuple(replace(meld, meld_id=f"m{place}") for place, meld in enumerate(melds, start=1)),
        now=Turn(drawn=drawn, taken=taken),
        asked_at=99,
        clock_at=99,
        idle_turns=1,
        stale_turns=1,
    )
    return Table(
        Game(
            version=99,
            game_id=f"gam_{uuid4().hex[:26]}",
            rules=rules,
            pace=Pace(claims="full" if claims == "full" else "early"),
            commitment="00" * 32,
            opened_by=None,
            visibility="public",
            spectators="public",
            seats=seats,
            status="playing",
            nonces=(None,) * len(seats),
            first_dealer=0,
            round=round_,
        )
    )


def open_discard(
    preset: str,
    hands: Sequence[str],
    card: Card,
    *,
    by: int | None = ANNA,
    turn: int = BORIS,
    below: Sequence[tuple[int | None, str]] = ((DAVID, "9D"),),
    overrides: Mapping[str, Json] | None = None,
    number: int = 1,
    stock: str = STOCK,
    melds: Sequence[Meld] = (),
    down: Sequence[int] = (),
    claims: str = "early",
) -> Table:
    """Lays out the moment after `by` has discarded `card`: `turn` is asked to draw, the others about the card."""
    laid = table(
        preset,
        hands,
        overrides=overrides,
        number=number,
        turn=turn,
        step="draw",
        stock=stock,
        pile=(*below, (by, card)),
        melds=melds,
        down=down,
        claims=claims,
    )
    asked = claimants(laid.game, laid.round, turn)
    window = Window(99, asked) if asked else None
    laid.game = replace(laid.game, round=replace(laid.round, discard_open=True, window=window))
    return laid
