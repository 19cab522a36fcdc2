"""A whole game, every byte of which that leaves for each kind of viewer is kept and looked through.

It is played with one pack and no wilds, so that a card has one face and a face one card: a face that reaches
somebody who cannot know it is a leak, wherever it stands. So is a secret of a round that is not over, and a token.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import httpx

from domain.luck import CHAIN_LENGTH, link
from tests.api.listening import guests
from tests.api.world import Player, World, serving, until

DEALT = 12
SIZES = {str(number): {"packs": 1, "jokers": 0} for number in (2, 3, 4)}
RULES = {
    "deck": {"sizes": SIZES | {"5": {"packs": 2, "jokers": 0}}, "wilds": []},
    "deal": {"cards": [DEALT]},
    "contracts": [[{"kind": "set", "size": 3}]] * 2,
    "last_round": "normal",
    "stock_out": {"max_renewals": 0, "both_empty": "end_round"},
}
SECRET = re.compile(rb"[0-9a-f]{64}")
FACE = re.compile(rb'"([2-9TJQKA][CDHS])"|(10|[2-9JQKA])(\xe2\x99[\xa3\xa6\xa5\xa0])')
SUITS = {"♣": "C", "♦": "D", "♥": "H", "♠": "S"}


class Viewer:
    """Somebody, the bytes that they were sent, and the cards of this round that they can know."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.sent = bytearray()
        self.known: set[str] = set()
        self.known_before: set[str] = set()  # of the round before, as long as something may still tell of it
        self.own_token = player.http.headers["authorization"].removeprefix("Bearer ").encode()
        player.http.event_hooks["response"].append(self.keep)

    async def keep(self, response: httpx.Response) -> None:
        """Keeps a whole answer, head and body."""
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            self.sent += repr(response.headers.raw).encode() + await response.aread()

    @asynccontextmanager
    async def listening(self, path: str) -> AsyncIterator[bytearray]:
        """Keeps all that a stream says, and gives it as it comes."""
        told = bytearray()

        async def listen() -> None:
            async with self.player.http.stream("GET", path, timeout=60) as response:
                async for chunk in response.aiter_raw():
                    told.extend(chunk)
                    self.sent.extend(chunk)

        listener = asyncio.create_task(listen())
        try:
            yield told
        finally:
            listener.cancel()
            await asyncio.wait([listener])


def faces(told: bytes) -> set[str]:
    """Finds the faces of cards in what was sent, also in an account for people."""
    found = FACE.findall(told)
    return {
        exact.decode() or f"{'T' if rank == b'10' else rank.decode()}{SUITS[suit.decode()]}"
        for exact, rank, suit in found
    }


class Truth:
    """What lies where, as the log tells it, who can know it, and what nobody may be sent yet."""

    def __init__(self, world: World, game_id: str, viewers: list[Viewer]) -> None:
        self.world, self.game_id, self.viewers = world, game_id, viewers
        seed = world.secrets.seeds[game_id]
        self.chain = [link(seed, number).hex().encode() for number in range(CHAIN_LENGTH + 1)]
        self.round, self.version = 0, 0
        self.secrets: set[bytes] = set()

    async def look(self) -> None:
        """Learns what everybody can know now."""
        game = (await self.world.house.tables.fresh(self.game_id)).game
        table = game.round
        assert table is not None
        shown = {each.card for each in table.pile} | {placed.card for meld in table.melds for placed in meld.cards}
        if table.step == "scoring":
            shown.update(*(seat.hand for seat in game.seats))
        for viewer in self.viewers:
            viewer.known_before = viewer.known if table.number != self.round else set()
            held = (seat.hand for seat in game.seats if seat.player_id == viewer.player.player_id)
            viewer.known = (viewer.known - viewer.known_before).union(shown, *held)
        self.round, self.version = table.number, game.version
        self.secrets = set(self.chain[table.number + (table.step == "scoring") :])

    def leaks(self) -> list[str]:
        """Lists what was sent since the last time and may not have been; forgets what was sent."""
        found: list[str] = []
        tokens = {viewer.own_token for viewer in self.viewers}
        for viewer in self.viewers:
            told = bytes(viewer.sent)
            viewer.sent.clear()
            found += sorted(faces(told) - viewer.known - viewer.known_before)
            found += ["a secret" for each in SECRET.findall(told) if each in self.secrets]
            found += ["a token" for token in tokens if token in told]
        return found


async def read_all(viewer: Viewer, truth: Truth, after: int) -> None:
    """Asks for all that shows the table as it is, and in the first round for all that was."""
    looks = ["", "/view", "/decisions", "/hint", "/rounds", "/scores", f"/events?after={after}&limit=500", "/replay"]
    looks += ["/export", "/export?format=text", "/view?at_version=9"] if truth.round == 1 else []
    for look in looks:
        await viewer.player.call("GET", f"/v1/games/{truth.game_id}{look}")
    await viewer.player.call("GET", "/v1/games")


async def answered(truth: Truth, seated: list[Player], random: Random) -> bool:
    """Has somebody who is asked answer, as a bot would or by chance; tells whether anybody was asked."""
    path = f"/v1/games/{truth.game_id}"
    for player in random.sample(seated, len(seated)):
        hints = (await player.call("GET", f"{path}/hint")).json().get("items")
        if hints:
            decision, options = hints[0]["decision_id"], [hints[0]["move"]]
            if random.random() < 0.2:
                listed = (await player.call("GET", f"{path}/decisions")).json()["items"][0]["options"]
                options = [move for move in listed if not move.get("rest_of_round")]
            headers = {"prefer": "return=representation"} if random.random() < 0.5 else {}
            sent = await player.move(truth.game_id, decision, random.choice(options), **headers)
            assert sent.status_code == 201, sent.text
            return True
    return False


async def test_no_card_secret_or_token_reaches_anybody_who_cannot_know_it_through_a_whole_game(world: World) -> None:
    random = Random(7)
    names = ("Anna", "Boris", "Clara", "Dora", "Emil")
    async with serving(world) as (_, url), guests(url, *names) as those, AsyncExitStack() as stack:
        anna, boris, clara, opener, emil = those
        game = await opener.open_game(seats=[{"controller": "open"}] * 3, overrides=RULES)
        game_id, seated = game["game_id"], [anna, boris, clara]
        for seat, player in enumerate(seated):
            await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}")
        await opener.sent("POST", f"/v1/games/{game_id}/start")
        await world.tend(game_id)
        viewers = [Viewer(player) for player in those]
        truth = Truth(world, game_id, viewers)
        told = [
            await stack.enter_async_context(viewer.listening(path))
            for viewer in viewers
            for path in (f"/v1/games/{game_id}/stream?view=1", "/v1/me/stream")
        ][::2]
        await truth.look()
        await anna.view(game_id)
        viewers[3].sent += viewers[0].sent
        assert len(truth.leaks()) >= DEALT  # what Anna may know is none of the opener's business
        moves, rounds = 0, set()
        while True:
            after = truth.version
            await truth.look()
            rounds.add(truth.round)
            view = b'event: view\ndata: {"game_id":"%s","version":%d,' % (game_id.encode(), truth.version)
            await until(lambda view=view: all(view in stream for stream in told), 20)  # type: ignore[misc]
            await read_all(random.choice(viewers), truth, after)
            assert truth.leaks() == [], f"after version {truth.version}"
            moves += 1
            if moves == 20:
                await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": emil.player_id})
                seated[1] = emil
            elif not await answered(truth, seated, random):
                await world.tend(game_id)
            if (await world.house.tables.fresh(game_id)).game.status == "finished":
                break
        assert rounds == {1, 2}
        await truth.look()
        await read_all(viewers[3], truth, truth.version - 20)
        assert truth.leaks() == []
