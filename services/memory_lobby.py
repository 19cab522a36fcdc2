"""The twins in memory of what the lobby is served from."""

from services.listings import ListedGame, PlayerResult, Standing
from services.lobby import GameFilter, Page, Rated, is_wanted
from services.memory import MemoryLog
from services.ports import Recorded
from services.projections import Follower
from services.ratings import Rating, Subject, rate


class MemoryLobby:
    """A Lobby that has projected every event of a MemoryLog as soon as it is appended."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self._follower = Follower()
        self._ratings: dict[Subject, Rating] = {}
        self._games: dict[str, ListedGame] = {}
        self._results: dict[tuple[str, str], PlayerResult] = {}
        log.listeners.append(self._project)

    async def page(self, player_id: str, wanted: GameFilter, before: str | None, limit: int) -> Page:
        found = [
            game
            for game_id, game in sorted(self._games.items(), reverse=True)
            if (before is None or game_id < before) and is_wanted(game, player_id, wanted, self._log.now())
        ]
        return Page(tuple(found[:limit]), (), found[limit - 1].game_id if len(found) > limit else None)

    async def standings(self, player_id: str) -> list[Standing]:
        results = await self.results(player_id, len(self._results))
        return [
            Standing(ruleset, len(those), sum(each.is_won for each in those), sum(each.score for each in those))
            for ruleset in sorted({each.ruleset for each in results})
            for those in ([each for each in results if each.ruleset == ruleset],)
        ]

    async def results(self, player_id: str, limit: int) -> list[PlayerResult]:
        now = self._log.now()
        told = [each for _, each in sorted(self._results.items(), reverse=True) if (each.told_at or now) <= now]
        return [result for result in told if result.player_id == player_id][:limit]

    async def ratings(self, player_id: str) -> list[Rated]:
        rated = [Rated(*subject, rating) for subject, rating in sorted(self._ratings.items())]
        return [each for each in rated if each.player_id == player_id]

    async def leaderboard(self, ruleset: str, below: tuple[float, str] | None, limit: int) -> list[Rated]:
        places = {
            (rating.ordinal, player): rating for (player, name), rating in self._ratings.items() if name == ruleset
        }
        chosen = sorted((place for place in places if below is None or place < below), reverse=True)[:limit]
        return [Rated(place[1], ruleset, places[place]) for place in chosen]

    def _project(self, recorded: list[Recorded]) -> None:
        changes = self._follower.follow(recorded)
        self._games |= {game.game_id: game for game in changes.games}
        self._results |= {(result.game_id, result.player_id): result for result in changes.results}
        self._ratings = rate(changes.rated, self._ratings)
