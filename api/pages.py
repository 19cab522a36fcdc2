"""The documents that describe this API: for programs and for people."""

from functools import cache
from importlib.resources import files

from api.calls import Answer, NoQuery, OpenCall, Text
from api.house import House


async def get_openapi(_: House, _call: OpenCall[NoQuery, None]) -> Answer[Text]:
    """Gives the OpenAPI 3.1 document."""
    from api.openapi import document_text  # the table of operations holds this very function

    return Answer(Text(document_text().encode(), "application/json"))


async def get_asyncapi(_: House, _call: OpenCall[NoQuery, None]) -> Answer[Text]:
    """Gives the AsyncAPI 3.0 document of the streams."""
    from api.asyncapi import document_text

    return Answer(Text(document_text().encode(), "application/json"))


async def get_docs(_: House, _call: OpenCall[NoQuery, None]) -> Answer[Text]:
    """Shows the document as a page that can also send requests; it loads nothing from elsewhere."""
    return Answer(Text(_page(), "text/html; charset=utf-8"), {"content-security-policy": _ONLY_FROM_HERE})


_ONLY_FROM_HERE = (
    "default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@cache
def _page() -> bytes:
    """Puts the page together: styles and scripts stand in its one file."""
    folder = files("api") / "docs"
    page = (folder / "index.html").read_text("utf-8")
    for name in ("page.css", "schema.js", "trying.js", "page.js"):
        page = page.replace(f"/* {name} */", (folder / name).read_text("utf-8"))
    return page.encode()
