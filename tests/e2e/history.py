"""Players at real tables while the server's processes die: what is sent and told is written down and compared with the
log afterwards.

What must hold, whatever struck: the log has no holes; each acknowledged move is in it exactly once, as it was
acknowledged; it has no other moves of these players; every key answers the same again; every stream told the log.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, groupby
from random import Random
from threading import Event, Thread
from uuid import uuid4

import httpx

from tests.e2e.client import Client, Json, messages
from tests.replica import Replica

PACE = {"claim_window_s": 1, "turn_s": 5, "bot_delay_ms": 0}
RECOVERY_S = 60.0  # so long after the last fault until the server is ready again
CATCH_UP_S = 30.0  # so long after the last move until every stream has told it
_REFUSALS = range(400, 500)
_PAUSE_S = 0.05


@dataclass
class Sent:
    """One keyed request and everything that was answered to it: status and body, None where the connection broke."""

    key: str
    body: Json
    answers: list[tuple[int, Json] | None] = field(default_factory=list)

    @property
    def accepted(self) -> list[Json]:
        """Is every answer that acknowledged it."""
        return [answer[1] for answer in self.answers if answer and answer[0] == httpx.codes.CREATED]

    @property
    def is_settled(self) -> bool:
        """Tells whether it is known what became of it."""
        return bool(self.accepted) or any(answer and answer[0] in _REFUSALS for answer in self.answers)


@dataclass
class Player:
    """Somebody at a table: what they sent, what their stream told, and what the log shows them afterwards."""

    client: Client
    game_id: str
    seat: int
    sent: list[Sent] = field(default_factory=list)
    told: list[Json] = field(default_factory=list)
    log: list[Json] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"/v1/games/{self.game_id}"


@contextmanager
def sitting(base_urls: Sequence[str], tables: int, pace: dict[str, int] = PACE) -> Iterator[list[Player]]:
    """Opens tables of three people and a bot each, and starts them; who sits together came by different addresses."""
    with ExitStack() as clients:
        players = []
        for table in range(tables):
            by = zip(("Anna", "Boris", "Clara"), cycle(base_urls), strict=False)
            together = [clients.enter_context(Client(url, f"{name} {table}")) for name, url in by]
            game_id = together[0].open_game("davis", "you", "open", "open", "easy", pace=pace)
            for seat, client in enumerate(together[1:], start=1):
                client.sent("PUT", f"/v1/games/{game_id}/seats/{seat}")
            together[0].sent("POST", f"/v1/games/{game_id}/start")
            players += [Player(client, game_id, seat) for seat, client in enumerate(together)]
        yield players


def live_through(
    players: Sequence[Player], faults: Sequence[Callable[[], None]], *, seed: int, seconds: float, pause_s: float
) -> None:
    """Has everybody play and listen while the faults strike one after the other; then calm comes, and all is read."""
    luck = Random(seed)
    stop, leave = Event(), Event()
    playing = [Thread(target=play, args=(player, Random(luck.random()), stop)) for player in players]
    listening = [Thread(target=listen, args=(player, leave)) for player in players]
    for thread in (*playing, *listening):
        thread.start()
    try:
        strike(faults, luck, seconds=seconds, pause_s=pause_s)
        wait_until_ready(players[0].client)
        goes_on(players)
        stop.set()
        for thread in playing:
            thread.join()
        catch_up(players)
    finally:
        stop.set()
        leave.set()
        for thread in playing:
            thread.join()
        for thread in listening:
            thread.join()
    for player in players:
        settle(player)
    for player in players:
        player.log = player.client.events(player.game_id)


def strike(faults: Sequence[Callable[[], None]], luck: Random, *, seconds: float, pause_s: float) -> None:
    """Lets every fault strike once before any strikes again."""
    until = time.monotonic() + seconds
    for fault in cycle(luck.sample(faults, len(faults))):
        time.sleep(min(pause_s, max(0.0, until - time.monotonic())))
        if time.monotonic() >= until:
            return
        with suppress(AssertionError, ProcessLookupError):  # it is down already
            fault()


def play(player: Player, luck: Random, stop: Event) -> None:
    """Answers what is asked, by any option; repeats what was not answered, and again and again what was."""
    while not stop.is_set():
        decisions = view_of(player).get("decisions", [])
        for decision in decisions:
            if decision["kind"] == "claim" and luck.random() < 0.03:
                continue  # lets the window's time run out
            options = decision["options"]
            best = [option for option in options if option["kind"] in ("lay_down", "lay_off")]
            sent = Sent(uuid4().hex, {"decision_id": decision["decision_id"], "move": luck.choice(best or options)})
            player.sent.append(sent)
            while not sent.is_settled and not stop.is_set():
                send(player, sent)
        if player.sent:
            send(player, luck.choice(player.sent))
        time.sleep(_PAUSE_S / 2)


def send(player: Player, sent: Sent) -> None:
    """Sends a request once more and writes down what comes back."""
    answer = None
    with suppress(httpx.TransportError):
        response = player.client.call("POST", f"{player.path}/moves", sent.body, idempotency_key=sent.key)
        answer = (response.status_code, response.json())
    sent.answers.append(answer)
    if answer is None or answer[0] not in (httpx.codes.CREATED, *_REFUSALS):
        time.sleep(_PAUSE_S)


def view_of(player: Player) -> Json:
    with suppress(httpx.TransportError):
        response = player.client.call("GET", f"{player.path}/view")
        if response.is_success:
            view: Json = response.json()
            return view
    return {}


def listen(player: Player, leave: Event) -> None:
    """Follows the stream, from the last id on whenever it breaks, and writes down every event as it comes."""
    http = httpx.Client(base_url=player.client.http.base_url, headers=player.client.http.headers, timeout=1)
    with http:
        while not leave.is_set():
            last = str(player.told[-1]["version"] if player.told else 0)
            with (
                suppress(httpx.TransportError),
                http.stream("GET", f"{player.path}/stream", headers={"Last-Event-ID": last}) as response,
            ):
                if response.status_code == httpx.codes.OK:
                    for _, data in messages(response.iter_lines()):
                        player.told += [data] if "occurred_at" in data else []
                        if leave.is_set():
                            break
            time.sleep(_PAUSE_S)


def wait_until_ready(client: Client) -> None:
    deadline = time.monotonic() + RECOVERY_S
    while True:
        with suppress(httpx.TransportError):
            ready = client.call("GET", "/health/ready").json()
            if ready["status"] == "ok":
                return
        assert time.monotonic() < deadline, "not ready after the last fault"
        time.sleep(_PAUSE_S)


def goes_on(players: Sequence[Player]) -> None:
    """Waits until something has happened at every table: none stands still longer than five seconds and its pace."""
    before = {player.game_id: len(player.client.events(player.game_id)) for player in players}
    deadline = time.monotonic() + 5 + PACE["turn_s"] + 2
    for game_id, client in {player.game_id: player.client for player in players}.items():
        while len(client.events(game_id)) == before[game_id] and client.view(game_id)["status"] == "playing":
            assert time.monotonic() < deadline, f"{game_id} stands still"
            time.sleep(_PAUSE_S)


def catch_up(players: Sequence[Player]) -> None:
    """Waits until every stream has told what the log has by now."""
    heads = {player.game_id: len(player.client.events(player.game_id)) for player in players}
    deadline = time.monotonic() + CATCH_UP_S
    while late := [player for player in players if len(player.told) < heads[player.game_id]]:
        assert time.monotonic() < deadline, f"streams are late: {[(len(p.told), heads[p.game_id]) for p in late]}"
        time.sleep(_PAUSE_S)


def settle(player: Player) -> None:
    """Sends everything once more in calm: what was accepted must be answered the same, the rest must now be settled."""
    for sent in player.sent:
        send(player, sent)


def faults_in(players: Sequence[Player]) -> list[str]:
    """Finds everything in which what was answered and told differs from the log."""
    faults = [f"{player.game_id} seat {player.seat}: {fault}" for player in players for fault in _faults(player)]
    for game_id in {player.game_id for player in players}:
        table = [player for player in players if player.game_id == game_id]
        faults += [f"{game_id}: {fault}" for fault in _faults_of_moves(table)]
    return faults


def _faults(player: Player) -> Iterator[str]:
    versions = [event["version"] for event in player.log]
    if versions != list(range(1, len(versions) + 1)):
        yield "the log has holes"
    if player.told != player.log[: len(player.told)]:
        first = next(
            (n for n, pair in enumerate(zip(player.told, player.log, strict=False)) if pair[0] != pair[1]), "end"
        )
        yield f"the stream told something else than the log, from event {first} on"
    yield from _faults_of_answers(player)
    try:
        replica = Replica(player.seat)
        for event in player.log:
            replica.record(event)
    except (AssertionError, ValueError, KeyError) as error:
        yield f"the log is no game: {error!r}"


def _faults_of_answers(player: Player) -> Iterator[str]:
    for sent in player.sent:
        if not sent.is_settled:
            yield f"key {sent.key} was never answered: {sent.answers[-1:]}"
        if any(answer != sent.accepted[0] for answer in sent.accepted):
            yield f"key {sent.key} was answered in different ways"
        refused_after = sent.accepted and sent.answers[-1] and sent.answers[-1][0] != httpx.codes.CREATED
        if refused_after:
            yield f"key {sent.key} was accepted and then refused: {sent.answers[-1]}"
        for answer in sent.accepted[:1]:
            first = answer["version"] - len(answer["events"])
            if answer["events"] != player.log[first : answer["version"]]:
                yield f"key {sent.key} was acknowledged with other events than the log has"


def _faults_of_moves(table: Sequence[Player]) -> Iterator[str]:
    """Compares the moves that were acknowledged at a table with its log; a pass is shown to its own seat only."""
    accepted = [sent.accepted[0]["move_id"] for player in table for sent in player.sent if sent.accepted]
    if len(accepted) > len(set(accepted)):
        yield "two keys have one move"
    stored = {event["move_id"] for player in table for event in player.log} - {None}
    if missing := set(accepted) - stored:
        yield f"acknowledged and not in the log: {sorted(missing)}"
    if unknown := stored - set(accepted):
        yield f"in the log and never acknowledged: {sorted(unknown)}"
    for player in table:
        moves = [event["move_id"] for event in player.log if event["move_id"] is not None]
        if len([move for move, _ in groupby(moves)]) > len(set(moves)):
            yield "a move is in the log twice"
    if any(
        [(event["version"], event["kind"]) for event in player.log[: len(table[0].log)]]
        != [(event["version"], event["kind"]) for event in table[0].log[: len(player.log)]]
        for player in table
    ):
        yield "two seats were shown different stories"
