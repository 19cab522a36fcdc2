"""The composition root: the ports, wired to their engines."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from msgspec import Struct

from infra.attendance import RedisAttendance
from infra.jobs import open_jobs
from infra.postgres.accounts import PostgresAccounts, PostgresReservations
from infra.postgres.database import Database
from infra.postgres.invites import PostgresInvites
from infra.postgres.lane import Lane
from infra.postgres.lobby import PostgresLobby
from infra.postgres.operating import PostgresDesk
from infra.postgres.order import PostgresOrder
from infra.postgres.own_games import PostgresOwnGames
from infra.postgres.poke import Poke
from infra.postgres.relay import generation, lag
from infra.postgres.secrets import PostgresSecrets
from infra.postgres.stream_tickets import PostgresStreamTickets
from infra.postgres.webhooks import PostgresWebhooks
from infra.postgres.work import PostgresWork
from infra.presence import Presence
from infra.settings import Settings
from infra.watching.counted import CountedJobs, CountedLog, CountedReader, CountedTickets
from infra.watching.tracing import Tracing, open_traces
from services.attendance import Attendance
from services.delivering import Deliveries
from services.invites import Invites
from services.lag import Lag
from services.lobby import Lobby
from services.operating import OperatorDesk
from services.order import LogOrder
from services.own_games import OwnGames
from services.ports import Accounts, BusReader, GameLog, Jobs, Reservations, Secrets, WorkList
from services.stream_tickets import StreamTickets
from services.tickets import Tickets
from services.webhooks import Webhooks


class Services(Struct, frozen=True, kw_only=True):
    """What a process of the roof works with.

    processes: tells which of the other processes are alive; relay_lag: how far the relay is behind. settle:
    returns when no append or poke is under way; a loop that is about to stand still calls it. lane_depth: how many
    appends wait; traces: what is told of commands on their way, where that is wanted.
    """

    log: GameLog
    secrets: Secrets
    accounts: Accounts
    reservations: Reservations
    invites: Invites
    webhooks: Webhooks
    deliveries: Deliveries
    work: WorkList
    lobby: Lobby
    tickets: Tickets
    desk: OperatorDesk
    order: LogOrder
    own_games: OwnGames
    attendance: Attendance
    stream_tickets: StreamTickets
    jobs: Jobs
    bus: BusReader
    processes: Callable[[], Awaitable[dict[str, bool]]]
    relay_lag: Callable[[], Awaitable[Lag]]
    settle: Callable[[], Awaitable[None]]
    lane_depth: Callable[[], int]
    traces: Tracing | None


@asynccontextmanager
async def open_services(settings: Settings, *, name: str = "shanghai", connections: int = 8) -> AsyncIterator[Services]:
    """Is the wired ports for one event loop; no engine need be there yet, each is reached when it is used first.

    name: how Postgres shows the connections. On leaving, appends and pokes under way are brought to their end.
    """
    database = Database(settings.database_url, size=connections, name=name)
    poke = Poke(settings.database_url)
    lane = Lane(settings.database_url, name=f"{name} append", committed=poke)
    jobs = CountedJobs(open_jobs(settings.broker_url))
    presence, attendance = Presence(settings.limits_url), RedisAttendance(settings.limits_url)
    traces = open_traces(settings, name)
    webhooks = PostgresWebhooks(database, settings.secret_key)

    async def settle() -> None:
        await lane.settle()
        await poke.settle()

    async with AsyncExitStack() as exits:
        for close in (database.close, lane.close, poke.close, settle, jobs.close, presence.close, attendance.close):
            exits.push_async_callback(close)
        if traces is not None:
            exits.callback(traces.close)
        yield Services(
            log=CountedLog(database, lane, traces),
            secrets=PostgresSecrets(database, settings.secret_key),
            accounts=PostgresAccounts(database),
            reservations=PostgresReservations(database),
            invites=PostgresInvites(database),
            webhooks=webhooks,
            deliveries=webhooks,
            work=PostgresWork(database),
            lobby=PostgresLobby(database),
            tickets=CountedTickets(database),
            desk=PostgresDesk(database),
            order=PostgresOrder(database, partial(generation, database.fetch)),
            own_games=PostgresOwnGames(database),
            attendance=attendance,
            stream_tickets=PostgresStreamTickets(database),
            jobs=jobs,
            bus=CountedReader(
                settings.bus_url, shards=settings.bus_shards, generation=partial(generation, database.fetch)
            ),
            processes=presence.processes,
            relay_lag=partial(lag, database.fetch),
            settle=settle,
            lane_depth=lambda: lane.depth,
            traces=traces,
        )
