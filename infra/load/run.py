"""A run from its plan to its report."""

import asyncio
import ipaddress
import socket
import time
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from infra.embedded import CannotRun
from infra.embedded.reaching import run_of
from infra.load import machine
from infra.load.measured import Measured
from infra.load.people import CannotLoad, Plan, play
from infra.load.report import Report, summed_up, write
from infra.open_files import allow_many_open_files

_FILES_BESIDE = 500  # connections for moves, one for each guest, and what Python has open


class NotYours(CannotRun):
    """The server may be somebody else's."""


def check_address(url: str) -> None:
    """Refuses every server but one of this machine. Errors: NotYours."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NotYours(f"{url} is no address of a server: http://127.0.0.1:8000")
    try:
        found = {info[4][0] for info in socket.getaddrinfo(parts.hostname, parts.port or parts.scheme)}
    except OSError as error:
        raise NotYours(f"{parts.hostname}: {error}") from error
    if not all(ipaddress.ip_address(str(address).partition("%")[0]).is_loopback for address in found):
        raise NotYours(f"{parts.hostname} is not this machine; --yes-this-is-mine says that it is yours all the same")


def run(plan: Plan, folder: Path, data: Path | None) -> Report:
    """Plays, and writes the report. data: the folder of a `shanghai up` whose processes are looked at too.

    Errors: CannotRun where the tables cannot be filled, or nothing runs on the folder.
    """
    if data:
        run_of(data)
    measured, allowed = Measured(), allow_many_open_files()
    needed = plan.games * plan.humans + _FILES_BESIDE
    if allowed < needed:
        raise CannotRun(f"{needed} connections are needed, and this process may have {allowed}: raise `ulimit -n`")
    try:
        report = asyncio.run(_run(plan, measured, data))
    except* CannotLoad as cannot:
        raise CannotRun(str(cannot.exceptions[0])) from None
    write(report, folder)
    return report


async def _run(plan: Plan, measured: Measured, data: Path | None) -> Report:
    before: list[machine.Machine] = []

    async def filled() -> None:
        if data:
            before.append(await machine.look(data))
        measured.restart()

    await play(plan, measured, Random(1), filled)
    seconds = time.monotonic() - measured.began
    after = await machine.look(data) if data else None
    return summed_up(plan, measured, seconds, before[0] if before else None, after)
