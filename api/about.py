"""What the server says about itself: its rulesets, bots, problems and bounds, and whether it is well."""

import asyncio
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple

from api import shapes
from api.calls import Answer, Call, NoQuery, OpenCall, Text
from api.faults import FAULTS
from api.house import House
from api.leaderboards import PLAYERS_AT_MOST
from api.player_shapes import MAX_NAME, MAX_TOKEN_S, MIN_TOKEN_S
from api.problems import KINDS, Failed
from api.reasons import REASONS
from api.reference_shapes import (
    BotLevel,
    BotList,
    FaultText,
    ProblemCatalogue,
    ProblemKind,
    ReasonText,
    RulesetList,
    RulesetRequest,
    RulesetSummary,
    Start,
)
from api.requests import MAX_BODY, MAX_DEPTH, MAX_KEY
from api.rules import ruleset_of
from api.webhook_shapes import DELIVERIES_AT_MOST, MAX_DESCRIPTION
from domain import bounds
from domain.presets import preset, preset_names
from domain.ruleset import Ruleset
from services.due import DESERTED_S, WAITING_MS
from services.games import SEATINGS_AT_MOST
from services.identity import TOKENS_AT_MOST
from services.invites import INVITES_AT_MOST
from services.lag import ALERT_S
from services.limits import Quotas
from services.ports import Unavailable
from services.stream_tickets import TICKETS_AT_MOST
from services.tickets import MAX_BOTS_AFTER_S, UNSEEN_S
from services.version import VERSION
from services.webhooks import URL_CHARACTERS, WEBHOOKS_AT_MOST


class Bounds(Struct, frozen=True):
    """Between which numbers a request has to stay. _s: seconds, _ms: milliseconds.

    correspondence_claim_window_s: instead of claim_window_s where a turn has correspondence_turn_s or more.
    waiting_game_s: after which a game that was not started is cancelled; deserted_game_s: after which one whose people
    are all away is, or after three turns if they are longer. unseen_ticket_s: after which a ticket expires that nobody
    has asked about.
    """

    name_characters: int = MAX_NAME
    body_bytes: int = MAX_BODY
    body_depth: int = MAX_DEPTH
    idempotency_key_characters: int = MAX_KEY
    claim_window_s: tuple[int, int] = (0, shapes.MAX_CLAIM_WINDOW_S)
    turn_s: tuple[int, int] = (shapes.MIN_TURN_S, shapes.MAX_TURN_S)
    bot_delay_ms: tuple[int, int] = (0, shapes.MAX_BOT_DELAY_MS)
    correspondence_turn_s: int = shapes.CORRESPONDENCE_TURN_S
    correspondence_claim_window_s: tuple[int, int] = (0, shapes.MAX_CORRESPONDENCE_WINDOW_S)
    spectator_delay_s: tuple[int, int] = (1, shapes.MAX_SPECTATOR_DELAY_S)
    waiting_game_s: int = WAITING_MS // 1000
    deserted_game_s: int = DESERTED_S
    bots_after_s: tuple[int, int] = (0, MAX_BOTS_AFTER_S)
    unseen_ticket_s: int = UNSEEN_S
    invite_s: tuple[int, int] = (shapes.MIN_INVITE_S, shapes.MAX_INVITE_S)
    invites_of_player_in_game: int = INVITES_AT_MOST
    players: int = bounds.MAX_PLAYERS
    packs: int = bounds.MAX_PACKS
    cards_dealt: int = bounds.MAX_DEAL
    wilds_in_deck: int = bounds.MAX_WILDS_IN_DECK
    contracts: int = bounds.MAX_CONTRACTS
    melds_in_contract: int = bounds.MAX_PARTS
    seatings_of_player_in_game: int = SEATINGS_AT_MOST
    tokens: int = TOKENS_AT_MOST
    token_s: tuple[int, int] = (MIN_TOKEN_S, MAX_TOKEN_S)
    token_label_characters: int = MAX_NAME
    stream_tickets_of_token: int = TICKETS_AT_MOST
    webhooks: int = WEBHOOKS_AT_MOST
    webhook_url_characters: int = URL_CHARACTERS
    webhook_description_characters: int = MAX_DESCRIPTION
    games_in_page: int = shapes.GAMES_AT_MOST
    players_in_page: int = PLAYERS_AT_MOST
    events_in_page: int = shapes.EVENTS_AT_MOST
    deliveries_in_page: int = DELIVERIES_AT_MOST


class Meta(Struct, frozen=True):
    """The server, its bounds and limits. heartbeat_s: how long a stream is silent at most."""

    name: str
    version: str
    bounds: Bounds
    limits: Quotas
    heartbeat_s: float


class Alive(Struct, frozen=True):
    """This process answers."""

    status: Literal["ok"] = "ok"


Health: TypeAlias = Literal["ok", "degraded", "unavailable"]


class Processes(Struct, frozen=True):
    """Which of the other processes have reported lately."""

    worker: bool
    relay: bool
    clock: bool
    projector: bool


class Readiness(Struct, frozen=True):
    """Whether the server can be used. relay_lag_s: how long the oldest event waits for the bus; null without database.

    degraded: games can be played, but streams, bots and lists may be late."""

    status: Health
    database: bool
    processes: Processes
    relay_lag_s: float | None


async def get_start(_: House, _call: OpenCall[NoQuery, None]) -> Answer[Start]:
    """Tells whoever finds this server where to begin: the page for people, the documents, the lists."""
    return Answer(Start())


async def list_rulesets(_: House, _call: OpenCall[NoQuery, None]) -> Answer[RulesetList]:
    """Lists the presets."""
    rules = [preset(name) for name in preset_names()]
    items = (RulesetSummary(each.name, each.source, each.players, len(each.contracts)) for each in rules)
    return Answer(RulesetList(tuple(items)))


async def get_ruleset(_: House, call: OpenCall[NoQuery, None]) -> Answer[Ruleset]:
    """Gives the whole ruleset of a preset, every knob included."""
    try:
        return Answer(preset(call.path["name"]))
    except KeyError:
        raise Failed("ruleset_not_found") from None


async def validate_ruleset(_: House, call: OpenCall[NoQuery, RulesetRequest]) -> Answer[Ruleset]:
    """Gives the whole ruleset that a preset and overrides make, or all their faults. Nothing is opened."""
    return Answer(ruleset_of(call.body.ruleset, call.body.overrides))


async def list_bots(_: House, _call: OpenCall[NoQuery, None]) -> Answer[BotList]:
    """Lists the strengths of bots."""
    return Answer(
        BotList(
            (
                BotLevel("easy", "Plays as `normal` does, but one card in five that it puts down is picked at random."),
                BotLevel("normal", "Collects for its contract, watches the table and goes out when it can."),
            )
        )
    )


async def list_problems(_: House, _call: OpenCall[NoQuery, None]) -> Answer[ProblemCatalogue]:
    """Lists every problem that an answer of this API can be, and what can be wrong with a move or a request."""
    items = (
        ProblemKind(f"/v1/problems#{code}", code, kind.status, kind.title, kind.meaning) for code, kind in KINDS.items()
    )
    reasons = (ReasonText(reason, detail) for reason, detail in REASONS.items())
    faults = (FaultText(code, detail) for code, detail in FAULTS.items())
    return Answer(ProblemCatalogue(tuple(items), tuple(reasons), tuple(faults)))


async def get_meta(house: House, _: OpenCall[NoQuery, None]) -> Answer[Meta]:
    """Tells the bounds of requests and the limits of this server."""
    return Answer(Meta("shanghai", VERSION, Bounds(), house.quotas, house.streams.heartbeat_s))


async def is_alive(_: House, _call: OpenCall[NoQuery, None]) -> Answer[Alive]:
    """Tells that this process answers, whatever may be away."""
    return Answer(Alive())


async def is_ready(house: House, _: OpenCall[NoQuery, None]) -> Answer[Readiness]:
    """Tells whether games can be played: 200 with `ok` or `degraded`, or 503 without the database.

    What the other processes report travels through Redis; without it none is known to be there.
    """
    reported, lag_s = await asyncio.gather(house.processes(), _relay_lag_s(house))
    processes = Processes(**{name: reported.get(name, False) for name in Processes.__struct_fields__})
    well = all(astuple(processes))
    if lag_s is None:
        return Answer(Readiness("unavailable", database=False, processes=processes, relay_lag_s=None), status=503)
    status: Health = "ok" if well and lag_s <= ALERT_S else "degraded"
    return Answer(Readiness(status, database=True, processes=processes, relay_lag_s=lag_s))


async def get_metrics(house: House, _call: Call[NoQuery, None]) -> Answer[Text]:
    """Gives this process's numbers in Prometheus's text format. An operator may serve them on a port of their own."""
    _, media_type, numbers = house.numbers()
    return Answer(Text(numbers, media_type))


async def _relay_lag_s(house: House) -> float | None:
    try:
        return max(0.0, (await house.relay_lag()).seconds)
    except Unavailable:
        return None
