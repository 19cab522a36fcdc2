"""What this server knows, and the documents that describe it."""

from api import about, pages
from api.operation import Operation

REFERENCE: tuple[Operation, ...] = (
    Operation(id="getStart", tag="Reference", method="GET", path="/", handler=about.get_start),
    Operation(
        id="listRulesets", tag="Reference", method="GET", path="/v1/rulesets", handler=about.list_rulesets,
    ),
    Operation(
        id="getRuleset", tag="Reference", method="GET", path="/v1/rulesets/{name}", handler=about.get_ruleset,
        problems=("ruleset_not_found",),
    ),
    Operation(
        id="validateRuleset", tag="Reference", method="POST", path="/v1/rulesets/validate",
        handler=about.validate_ruleset,
    ),
    Operation(id="listBots", tag="Reference", method="GET", path="/v1/bots", handler=about.list_bots),
    Operation(
        id="listProblems", tag="Reference", method="GET", path="/v1/problems", handler=about.list_problems,
    ),
    Operation(id="getMeta", tag="Reference", method="GET", path="/v1/meta", handler=about.get_meta),
    Operation(
        id="getOpenApi", tag="Reference", method="GET", path="/openapi.json", handler=pages.get_openapi,
        is_listed=False,
    ),
    Operation(
        id="getAsyncApi", tag="Reference", method="GET", path="/asyncapi.json", handler=pages.get_asyncapi,
        is_listed=False,
    ),
    Operation(
        id="getDocs", tag="Reference", method="GET", path="/docs", handler=pages.get_docs, is_listed=False,
    ),
)  # fmt: skip
