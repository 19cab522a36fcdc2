"""Before the first deal: opening a game, sitting down, starting."""

from hashlib import sha256

from domain import events as e
from domain.commands import CancelGame, DropNonces, LeaveSeat, OpenGame, RevealNonce, SeatBot, StartGame, TakeSeat
from domain.events import Event
from domain.faults import Fault, FaultyRuleset, faults
from domain.refusals import (
    AlreadyStarted,
    NonceNotAsked,
    Outdated,
    Refused,
    SeatNotFound,
    SeatsOpen,
    SeatTaken,
    WrongNonce,
)
from domain.state import Game

NONCE_BYTES = 16


def open_game(command: OpenGame) -> list[Event]:
    """Opens a game with its seats; raises FaultyRuleset where the rules cannot be played, or not by so many."""
    if found := faults(command.rules):
        raise FaultyRuleset(found)
    players = command.rules.players
    if not players.min <= len(command.seats) <= players.max:
        detail = f"{command.rules.name} is for {players.min} to {players.max} players, not {len(command.seats)}"
        raise FaultyRuleset((Fault("bad_player_number", "/seats", detail),))
    opened = e.GameOpened(
        game_id=command.game_id,
        rules=command.rules,
        pace=command.pace,
        commitment=command.commitment,
        seat_count=len(command.seats),
        opened_by=command.opened_by,
        visibility=command.visibility,
        spectators=command.spectators,
        hints=command.hints,
        rematch_of=command.rematch_of,
        invited=command.invited,
        spectator_delay_s=command.spectator_delay_s,
    )
    seats = [
        e.SeatChanged(seat, plan.controller, plan.player_id, plan.level, "opened", plan.nonce_commitment)
        for seat, plan in enumerate(command.seats)
    ]
    return [opened, *seats]


def take_seat(game: Game, command: TakeSeat) -> list[Event]:
    """Seats a person; sitting down where one already sits changes nothing but, while the game waits, the commitment."""
    if not 0 <= command.seat < len(game.seats):
        raise Refused(SeatNotFound(command.seat))
    seat = game.seats[command.seat]
    is_own = seat.player_id == command.player_id and seat.controller == "human"
    if is_own and command.nonce_commitment in (None, seat.nonce_commitment):
        return []
    if game.status != "waiting" or game.nonces_asked_at is not None:
        raise Refused(AlreadyStarted())
    if not is_own and (seat.controller != "open" or any(other.player_id == command.player_id for other in game.seats)):
        raise Refused(SeatTaken(command.seat))
    return [e.SeatChanged(command.seat, "human", command.player_id, None, "taken", command.nonce_commitment)]


def leave_seat(game: Game, command: LeaveSeat) -> list[Event]:
    """Opens a seat again that somebody has taken; an open one stays as it is."""
    _refuse_unless_gathering(game, command.seat)
    if game.seats[command.seat].controller == "open":
        return []
    return [e.SeatChanged(command.seat, "open", None, None, "left")]


def seat_bot(game: Game, command: SeatBot) -> list[Event]:
    """Seats a bot where no person sits."""
    _refuse_unless_gathering(game, command.seat)
    seat = game.seats[command.seat]
    if seat.controller == "human":
        raise Refused(SeatTaken(command.seat))
    if seat.level == command.level:
        return []
    return [e.SeatChanged(command.seat, "bot", None, command.level, "taken")]


def cancel_game(game: Game, command: CancelGame) -> list[Event]:
    """Cancels a waiting game, or one that all its people have deserted for too long; doing it again changes nothing."""
    if game.status == "cancelled":
        return []
    is_given_up = command.reason == "expired" and game.status == "playing" and game.deserted_at is not None
    if game.status != "waiting" and not is_given_up:
        raise Refused(AlreadyStarted())
    return [e.GameCancelled(command.reason)]


def _refuse_unless_gathering(game: Game, seat: int) -> None:
    if not 0 <= seat < len(game.seats):
        raise Refused(SeatNotFound(seat))
    if game.status != "waiting" or game.nonces_asked_at is not None:
        raise Refused(AlreadyStarted())


def start_game(game: Game, _: StartGame) -> list[Event]:
    """Starts a game whose seats are all taken; with commitments the nonces behind them are asked for first."""
    if game.status != "waiting" or game.nonces_asked_at is not None:
        raise Refused(AlreadyStarted())
    free = tuple(number for number, seat in enumerate(game.seats) if seat.controller == "open")
    if free:
        raise Refused(SeatsOpen(free))
    commitments = tuple(seat.nonce_commitment for seat in game.seats)
    if any(commitments):
        return [e.NoncesAsked(commitments)]
    return [e.GameStarted((None,) * len(game.seats))]


def reveal_nonce(game: Game, command: RevealNonce) -> list[Event]:
    """Takes the bytes behind a commitment; with the last of them the game starts and all are shown.

    Revealing them again changes nothing.
    """
    if not 0 <= command.seat < len(game.seats):
        raise Refused(SeatNotFound(command.seat))
    seat = game.seats[command.seat]
    if seat.nonce is not None and seat.nonce == command.nonce:
        return []
    if game.nonces_asked_at is None or seat.nonce_commitment is None or seat.nonce is not None:
        raise Refused(NonceNotAsked(command.seat))
    if _commitment(command.nonce) != seat.nonce_commitment:
        raise Refused(WrongNonce(command.seat))
    nonces = tuple(command.nonce if number == command.seat else other.nonce for number, other in enumerate(game.seats))
    revealed = e.NonceRevealed(command.seat, command.nonce)
    committed = (number for number, other in enumerate(game.seats) if other.nonce_commitment is not None)
    if any(nonces[number] is None for number in committed):
        return [revealed]
    return [revealed, e.GameStarted(nonces)]


def _commitment(nonce: str) -> str | None:
    """Gives the commitment to 16 bytes in lower-case hex, or None for anything else."""
    try:
        raw = bytes.fromhex(nonce)
    except ValueError:
        return None
    return sha256(raw).hexdigest() if raw.hex() == nonce and len(raw) == NONCE_BYTES else None


def drop_nonces(game: Game, command: DropNonces) -> list[Event]:
    """Empties the seats that have not revealed in time; all commitments are thrown away."""
    if game.nonces_asked_at != command.asked_at_version:
        raise Refused(Outdated())
    late = tuple(
        number for number, seat in enumerate(game.seats) if seat.nonce_commitment is not None and seat.nonce is None
    )
    return [e.NoncesDropped(late)]
