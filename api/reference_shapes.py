"""What is sent and answered about what this server knows: rulesets, bots, problems."""

from msgspec import Struct

from api.overrides import Overrides, Preset
from domain.commands import Level
from domain.ruleset import Players


class Start(Struct, frozen=True):
    """Where everything else is found: paths on this server."""

    name: str = "shanghai"
    docs: str = "/docs"
    openapi: str = "/openapi.json"
    asyncapi: str = "/asyncapi.json"
    problems: str = "/v1/problems"
    meta: str = "/v1/meta"
    rulesets: str = "/v1/rulesets"


class RulesetRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A preset and what differs from it."""

    ruleset: Preset
    overrides: Overrides = {}


class RulesetSummary(Struct, frozen=True):
    """A preset in short. rounds: how many contracts it has."""

    name: str
    source: str
    players: Players
    rounds: int


class RulesetList(Struct, frozen=True):
    """The presets, by name."""

    items: tuple[RulesetSummary, ...]


class BotLevel(Struct, frozen=True):
    """A strength of bots."""

    level: Level
    description: str


class BotList(Struct, frozen=True):
    """The bots that can sit at a table."""

    items: tuple[BotLevel, ...]


class ProblemKind(Struct, frozen=True):
    """A kind of problem that this API can answer."""

    type: str
    code: str
    status: int
    title: str
    detail: str


class ReasonText(Struct, frozen=True):
    """Why a move can be illegal."""

    reason: str
    detail: str


class FaultText(Struct, frozen=True):
    """What can be wrong with a part of a request."""

    code: str
    detail: str


class ProblemCatalogue(Struct, frozen=True):
    """Every problem code, every reason of `illegal_move`, and every code of a fault in `errors`."""

    items: tuple[ProblemKind, ...]
    reasons: tuple[ReasonText, ...]
    faults: tuple[FaultText, ...]
