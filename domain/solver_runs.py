"""How several runs of one suit grow place by place, whatever the cards are.

A walk over the places of a suit, from low to high, carries the runs that are open. What an open run may still become
depends on little: its length up to the size wanted, and what the wild limits ask. Such a state is a small number; the
states of all open runs and the count of closed ones make a *line*, also a number, whose next steps are remembered.
"""

from functools import lru_cache
from typing import NamedTuple, TypeAlias

from domain.solver_terms import CLASS_BITS, FIELD, LINE_BITS, STEP_BITS, RunRules, Wanted

MOST_LINES = 4_000  # of a graph, about 40 MB with their steps; three runs with eight wilds have some hundreds


class Growth(NamedTuple):
    """What an open run does at a place: begins (before is None), goes on, or closes (after is None)."""

    before: int | None
    after: int | None
    wanted: int
    natural: bool


class Step(NamedTuple):
    """A way from one line to the next. change: of line and wilds, packed as the walk packs them."""

    change: int
    naturals: int
    wilds: int
    line: int
    growths: tuple[Growth, ...]


PackedStep: TypeAlias = tuple[int, int, int, int, int]  # number, change, naturals, wilds, line


class _State(NamedTuple):
    """What an open run may still become. Numbers are counted only as far as the limits ask for them."""

    wanted: int
    length: int
    naturals: int
    wilds: int
    balance: int
    ends_wild: bool


class _Line(NamedTuple):
    open: tuple[int, ...]
    closed: tuple[int, ...]


class _Part(NamedTuple):
    """What some of the runs do at a place: cards laid, the states of the runs then open, and the classes closed."""

    naturals: int
    wilds: int
    open: tuple[int, ...]
    closed: tuple[int, ...]
    growths: tuple[Growth, ...]


_NOTHING = _Part(0, 0, (), (), ())


class RunGraph:
    """The lines of runs with a number of wilds at hand, and at most so many runs in the suit."""

    def __init__(self, rules: RunRules, wilds: int, most: int):
        self._rules, self._limits, self._classes = rules, rules.limits, rules.classes
        self._wilds, self._most = wilds, most
        self._states: list[_State] = []
        self._state_ids: dict[_State, int] = {}
        self._ways: list[tuple[Growth, ...]] = []  # by state: how it goes on, closing first
        self._goings: dict[tuple[int, ...], list[_Part]] = {}
        self._begun: dict[tuple[int, ...], list[_Part]] = {}
        self._lines: list[_Line] = []
        self._line_ids: dict[_Line, int] = {}
        self._every: list[list[Step]] = []  # by line, once asked for
        self._steps: dict[int, list[Step]] = {}
        self.packed: dict[int, list[PackedStep]] = {}  # by line, copies held, free, as `packed_steps` packs them
        self.is_full = False  # lines were left out
        self.finished: list[int] = []  # by line: number of runs of each class once all close, or -1
        self.lacking: list[int] = []  # by line: places that its shortest run still needs
        for wanted in range(len(rules.classes)):
            self._ways_to_begin(wanted)  # numbers all states, in an order of their own
        self._line_id(_Line((), (0,) * len(rules.classes)))

    def has_open(self, line: int) -> bool:
        """Tells whether a run is open."""
        return bool(self._lines[line].open)

    def packed_steps(self, line: int, held: int, *, free: int) -> list[PackedStep]:
        """Lists the next steps where `held` naturals lie at the place, fewest wilds first; see `packed`.

        free: a wild may also stand where a natural could; else naturals are used as far as they go.
        """
        steps = self.steps(line, held, free=free)
        found = [(number, s.change, s.naturals, s.wilds, s.line) for number, s in enumerate(steps)]
        self.packed[(line << FIELD | held) << 1 | free] = found
        return found

    def steps(self, line: int, held: int, *, free: int) -> list[Step]:
        """Lists the same steps with all that they do."""
        key = (line << FIELD | held) << 1 | free
        found = self._steps.get(key)
        if found is None:
            if not self._every[line]:
                self._every[line] = self._every_step(self._lines[line], line)
            found = self._steps[key] = [
                step
                for step in self._every[line]
                if step.naturals <= held and (free or step.naturals == min(held, step.naturals + step.wilds))
            ]
        return found

    def _every_step(self, line: _Line, number: int) -> list[Step]:
        found: dict[tuple[int, int, int], Step] = {}
        beginnings = self._beginnings(self._room(line))
        for going in self._goings_on(line.open):
            joins = going.closed and self._rules.separate  # a run that began here would join the closed one
            for begun in [_NOTHING] if joins else beginnings:
                naturals, wilds = going.naturals + begun.naturals, going.wilds + begun.wilds
                after = self._line_id(self._after(line, going, begun)) if wilds <= self._wilds else None
                if after is not None:
                    change = after - number + (wilds << LINE_BITS)
                    step = Step(change, naturals, wilds, after, going.growths + begun.growths)
                    found.setdefault((wilds, naturals, after), step)
        self.is_full = self.is_full or len(found) > 1 << STEP_BITS
        steps = sorted(found.values(), key=self._order_of)
        return steps[: 1 << STEP_BITS]

    def _order_of(self, step: Step) -> tuple[int, int, _Line]:
        """Orders steps by what they do, not by when their line was first met, so that equal hands are laid alike."""
        return step.wilds, -step.naturals, self._lines[step.line]

    def _after(self, line: _Line, going: _Part, begun: _Part) -> _Line:
        closed = line.closed
        for wanted in going.closed:
            closed = (*closed[:wanted], closed[wanted] + 1, *closed[wanted + 1 :])
        return _Line(tuple(sorted(going.open + begun.open)), closed)

    def _room(self, line: _Line) -> tuple[int, ...]:
        """Counts the runs that may still begin: in all, then of each class."""
        room = [number - closed for (_, number), closed in zip(self._classes, line.closed, strict=True)]
        for state in line.open:
            room[self._states[state].wanted] -= 1
        return (self._most - len(line.open) - sum(line.closed), *room)

    def _goings_on(self, states: tuple[int, ...]) -> list[_Part]:
        """Lists what open runs do together; of runs in one state the earlier does what comes first."""
        found = self._goings.get(states)
        if found is None:
            found = [_NOTHING]
            if states:
                first, others = states[0], states[1:]
                ways, alike = self._ways[first], bool(others) and others[0] == first
                found = [
                    _with(growth, rest)
                    for growth in ways
                    for rest in self._goings_on(others)
                    if not alike or ways.index(growth) <= ways.index(rest.growths[0])
                ]
            self._goings[states] = found
        return found

    def _beginnings(self, room: tuple[int, ...]) -> list[_Part]:
        """Lists what may begin, at most so many runs in all and of each class."""
        found = self._begun.get(room)
        if found is None:
            found = [_NOTHING]
            for wanted, number in enumerate(room[1:]):
                found += [
                    _with(growth, rest)
                    for growth in self._ways_to_begin(wanted)
                    for rest in (self._beginnings(_less(room, wanted)) if number and room[0] > 0 else ())
                    if not rest.growths or _order(growth) <= _order(rest.growths[0])
                ]
            self._begun[room] = found
        return found

    def _ways_to_begin(self, wanted: int) -> list[Growth]:
        empty = _State(wanted, 0, 0, 0, 0, ends_wild=False)
        ways = [(natural, self._grown(empty, natural=natural)) for natural in (True, False)]
        return [Growth(None, after, wanted, natural) for natural, after in ways if after is not None]

    def _grown(self, state: _State, *, natural: bool) -> int | None:
        """Gives the state after one card more, or None where the limits forbid it."""
        wanted = self._classes[state.wanted][0]
        if wanted.exact and state.length == wanted.size:
            return None
        if not natural and state.ends_wild:
            return None
        wilds = state.wilds + (not natural) if self._limits.cap < self._wilds else 0
        if wilds > self._limits.cap:
            return None
        balance = state.balance + (1 if natural else -1) if self._limits.half else 0
        after = _State(
            state.wanted,
            min(state.length + 1, wanted.size),
            min(state.naturals + natural, self._naturals_counted(wanted)),
            wilds,
            max(-self._wilds, min(balance, self._wilds)),
            ends_wild=not natural and not self._rules.wilds_adjacent,
        )
        return self._state_id(after)

    def _naturals_counted(self, wanted: Wanted) -> int:
        """Counts as many naturals as a run could lack: none where wilds cannot fill it anyway."""
        most_wilds = min(self._wilds, self._limits.cap)
        least = self._limits.least_naturals
        return 0 if wanted.size - most_wilds >= least else least

    def _complete(self, state: _State) -> bool:
        wanted = self._classes[state.wanted][0]
        enough = state.naturals >= self._naturals_counted(wanted)
        return state.length == wanted.size and enough and state.balance >= 0

    def _state_id(self, state: _State) -> int:
        found = self._state_ids.get(state)
        if found is None:
            found = self._state_ids[state] = len(self._states)
            self._states.append(state)
            self._ways.append(())
            ways = [Growth(found, None, state.wanted, natural=False)] if self._complete(state) else []
            for natural in (True, False):
                after = self._grown(state, natural=natural)
                if after is not None:
                    ways.append(Growth(found, after, state.wanted, natural))
            self._ways[found] = tuple(ways)
        return found

    def _line_id(self, line: _Line) -> int | None:
        found = self._line_ids.get(line)
        if found is None:
            if len(self._lines) >= MOST_LINES:
                self.is_full = True
                return None
            found = self._line_ids[line] = len(self._lines)
            self._lines.append(line)
            self._every.append([])
            states = [self._states[state] for state in line.open]
            self.lacking.append(max((self._classes[s.wanted][0].size - s.length for s in states), default=0))
            self.finished.append(self._finished(line, states))
        return found

    def _finished(self, line: _Line, states: list[_State]) -> int:
        if not all(map(self._complete, states)):
            return -1
        ended = list(line.closed)
        for state in states:
            ended[state.wanted] += 1
        return sum(number << CLASS_BITS * place for place, number in enumerate(ended))


@lru_cache(maxsize=200)  # some hundred kB each at the most
def run_graph(rules: RunRules, wilds: int, most: int) -> RunGraph:
    """Gives the lines for these rules, shared by all contracts that ask for the same runs."""
    return RunGraph(rules, wilds, most)


def _with(growth: Growth, rest: _Part) -> _Part:
    laid, closed = growth.after is not None, (growth.wanted,) if growth.after is None else ()
    return _Part(
        rest.naturals + (laid and growth.natural),
        rest.wilds + (laid and not growth.natural),
        (growth.after, *rest.open) if growth.after is not None else rest.open,
        closed + rest.closed,
        (growth, *rest.growths),
    )


def _less(room: tuple[int, ...], wanted: int) -> tuple[int, ...]:
    """Takes a run of a class out of the room, and all classes before it, for they have begun."""
    return (room[0] - 1, *(0 for _ in range(wanted)), room[wanted + 1] - 1, *room[wanted + 2 :])


def _order(growth: Growth) -> tuple[int, bool]:
    return growth.wanted, not growth.natural
