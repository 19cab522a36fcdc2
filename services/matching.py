"""The matcher: finds those who want the same, and opens and starts their games.

A table is made in three steps, each of which can be repeated: the tickets are given places at a game whose id is new,
in one statement, all or none; the game is opened and started, in one append; its players are told. Whoever dies in
between leaves a table that the next one finishes, and two at once do each other no harm.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import TypeAlias
from uuid import UUID, uuid5

from domain.commands import OpenGame, SeatPlan, StartGame
from domain.luck import link
from domain.presets import preset, preset_names
from domain.refusals import Refused
from services.ids import new_uuid, public_id, uuid_of
from services.ports import Accounts, Secrets
from services.tables import Draft, Tables
from services.tickets import UNSEEN_S, SeatedTable, Ticket, Tickets

PAUSE_S = 0.5
WAITING_AT_MOST = 1_000  # tickets that are looked at in one step, the oldest
FOR_MORE_S = 15  # a table that might be larger waits so long for others
CLOSE = 4.0  # so far apart may the ratings be at once; a beginner's is uncertain by twice as much
WIDER_PER_S = 0.1
LEFT_S = 10.0  # nobody still opens a table that was found so long ago: an append takes five seconds at most

Company: TypeAlias = tuple[tuple[Ticket, ...], int]
"""Tickets that fit together, and how many seats their table has."""


async def match(tickets: Tickets, tables: Tables, secrets: Secrets, accounts: Accounts) -> None:
    """Does one step: finishes what was left, ends tickets of who is gone, seats whoever fits. Errors: Unavailable."""
    for table in await tickets.seated():
        await _open(tickets, tables, secrets, table)
    waiting = await tickets.waiting(WAITING_AT_MOST)
    living = await accounts.living([each.wanted.token_id for each in waiting]) if waiting else set()
    still = [each for each in waiting if _waits_still(each, living)]
    if over := {each.ticket_id for each in waiting} - {each.ticket_id for each in still}:
        await tickets.expire(sorted(over))
    for company, seats in companies(still):
        game_id = public_id("gam", new_uuid())
        if await tickets.seat(game_id, [each.ticket_id for each in company], seats):
            await _open(tickets, tables, secrets, SeatedTable(game_id, company, seats))


def _waits_still(ticket: Ticket, living: set[str]) -> bool:
    return ticket.unseen_s < UNSEEN_S and ticket.wanted.token_id in living and _is_playable(ticket)


def _is_playable(ticket: Ticket) -> bool:
    """Tells whether this version of the program still plays what was asked for."""
    wanted = ticket.wanted
    if wanted.ruleset not in preset_names():
        return False
    players = preset(wanted.ruleset).players
    return players.min <= wanted.players.min and wanted.players.max <= players.max


async def _open(tickets: Tickets, tables: Tables, secrets: Secrets, table: SeatedTable) -> None:
    """Opens and starts a table's game, unless that is done, and tells its players.

    Where a player of it was forgotten meanwhile, the others wait again, unless all of them take bots.
    """
    game = uuid_of("gam", table.game_id)
    assert game is not None
    if await tables.log.command_range(table.game_id, game) is None:
        if not all(map(_is_playable, table.tickets)):
            await tickets.expire([each.ticket_id for each in table.tickets])
            return
        if len(table.tickets) < table.seats and not all(map(_takes_bots, table.tickets)):
            await tickets.release(table.game_id, LEFT_S)  # somebody was forgotten, and nobody has asked for a bot
            return
        await secrets.keep(table.game_id, os.urandom(32))
        seed = await secrets.seed(table.game_id)
        with suppress(Refused):  # another one has opened it in the meantime
            await tables.carry_out(table.game_id, lambda draft: _start(draft, table, game, seed))
    await tickets.tell(table.game_id)


def _start(draft: Draft, table: SeatedTable, game: UUID, seed: bytes) -> None:
    wanted = table.tickets[0].wanted
    people = [SeatPlan("human", each.wanted.player_id) for each in table.tickets]
    bots = [SeatPlan("bot", level="normal")] * (table.seats - len(people))
    opening = OpenGame(
        game_id=table.game_id,
        rules=preset(wanted.ruleset),
        pace=wanted.pace,
        seats=(*people, *bots),
        commitment=link(seed, 0).hex(),
        hints=False,
    )
    draft.carry_out(opening, "table", game)
    draft.carry_out(StartGame(), "table", uuid5(game, "start"))


def companies(waiting: Sequence[Ticket]) -> list[Company]:
    """Finds who plays with whom: the oldest first, each with the next oldest that fit.

    A table is as large as can be filled at once; where it might become larger, its oldest ticket has waited a moment
    for others. Bots fill up for those only whose time for bots has come. Ratings are close: closer than `CLOSE`, and
    the longer the oldest has waited the less so. Cost: the square of those who want the same and find nobody.
    """
    found: list[Company] = []
    for _, alike in groupby(sorted(waiting, key=_kind), _kind):
        free = list(alike)
        while free:
            company = _company(free[0], free)
            if company is not None:
                found.append(company)
            taken = company[0] if company else free[:1]
            free = [each for each in free if each not in taken]
    return found


def _kind(ticket: Ticket) -> tuple[str, int, int, int, str]:
    pace = ticket.wanted.pace
    return ticket.wanted.ruleset, pace.claim_window_s, pace.turn_s, pace.bot_delay_ms, pace.claims


def _company(oldest: Ticket, free: Sequence[Ticket]) -> Company | None:
    apart = CLOSE + WIDER_PER_S * oldest.waited_s
    near = [each for each in free if abs(each.wanted.rating - oldest.wanted.rating) <= apart]
    sizes = range(oldest.wanted.players.min, oldest.wanted.players.max + 1)
    for size in reversed(sizes):
        fit = _who_take(size, near)
        is_full = len(fit) == size and (
            oldest.waited_s >= FOR_MORE_S or size == min(each.wanted.players.max for each in fit)
        )
        if is_full:
            return fit, size
    if not _takes_bots(oldest):
        return None
    ready = [each for each in near if _takes_bots(each)]
    return max(((_who_take(size, ready), size) for size in sizes), key=lambda company: (len(company[0]), -company[1]))


def _who_take(size: int, tickets: Iterable[Ticket]) -> tuple[Ticket, ...]:
    """Chooses the first that want to sit at a table of this size, at most as many as it has seats."""
    fit = [each for each in tickets if each.wanted.players.min <= size <= each.wanted.players.max]
    return tuple(fit[:size])


def _takes_bots(ticket: Ticket) -> bool:
    after_s = ticket.wanted.bots_after_s
    return after_s is not None and ticket.waited_s >= after_s
