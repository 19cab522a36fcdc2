"""Ratings: how well people play a preset, from their finished public games against each other.

A game counts where it was played by a preset as it stands, publicly and not delayed (a rating that moves would tell the
end before its time), and at least two people sat down to it. Each is rated for the seat that they held when it was
started, by its place among the others at the end. Who does not hold that seat any more then, whatever has become of it,
has the last place: leaving saves no rating. Bots have no rating.

Source: openskill, Plackett-Luce, its own constants (mean 25, deviation 25/3).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from openskill.models import PlackettLuce

from domain.presets import preset, preset_names
from domain.state import Game

PROVISIONAL_BELOW = 10  # games, until which a rating says little

_model = PlackettLuce()


class Rating(Struct, frozen=True):
    """What is known of a player's strength in one ruleset: a mean, a deviation, and after how many games."""

    mu: float = _model.mu
    sigma: float = _model.sigma
    games: int = 0

    @property
    def ordinal(self) -> float:
        """The number that is shown: the strength that the player has almost surely, 0 for who has never played."""
        return self.mu - 3 * self.sigma

    @property
    def is_provisional(self) -> bool:
        """Tells whether too few games stand behind it."""
        return self.games < PROVISIONAL_BELOW


class RatedGame(Struct, frozen=True):
    """A finished game that counts. version: of its end; ranks: from 1, by player, equal ones share a place."""

    game_id: str
    version: int
    ruleset: str
    players: tuple[str, ...]
    ranks: tuple[int, ...]


Subject: TypeAlias = tuple[str, str]
"""A player and a ruleset."""


def rated_game(game: Game, starters: Sequence[tuple[int, str]]) -> RatedGame | None:
    """Gives what a finished game counts for those who held a seat at its start; None where it does not count."""
    if game.result is None or game.visibility != "public" or game.spectators == "delayed":
        return None
    if game.rules.name not in preset_names() or game.rules != preset(game.rules.name):
        return None
    places = [_place(game, seat, player) for seat, player in starters]
    if len(places) < 2 or all(place == _LAST for place in places):
        return None
    ranks = tuple(1 + sum(other < place for other in places) for place in places)
    return RatedGame(game.game_id, game.version, game.rules.name, tuple(player for _, player in starters), ranks)


_LAST = (True, True, 0)


def _place(game: Game, seat: int, player: str) -> tuple[bool, bool, int]:
    """Gives what a seat's holder is ranked by: having stayed, having won, the points, of which fewer are better."""
    held = game.seats[seat]
    if held.controller != "human" or held.player_id != player:
        return _LAST
    assert game.result is not None
    return (False, seat not in game.result.winners, game.result.totals[seat])


def subjects_of(games: Iterable[RatedGame]) -> set[Subject]:
    """Names the ratings that these games change."""
    return {(player, game.ruleset) for game in games for player in game.players}


def rate(games: Iterable[RatedGame], known: Mapping[Subject, Rating]) -> dict[Subject, Rating]:
    """Gives the ratings after these games, one after the other; who is not known has never played."""
    ratings = dict(known)
    for game in games:
        subjects = [(player, game.ruleset) for player in game.players]
        before = [ratings.get(subject, Rating()) for subject in subjects]
        teams = [[_model.rating(mu=each.mu, sigma=each.sigma)] for each in before]
        rated = _model.rate(teams, ranks=[float(rank) for rank in game.ranks])
        for subject, old, [new] in zip(subjects, before, rated, strict=True):
            ratings[subject] = Rating(new.mu, new.sigma, old.games + 1)
    return ratings
