"""What each field of the API's types means, for the documents: a table in `meanings.json`."""

import json
from importlib.resources import files

MEANINGS: dict[str, str] = json.loads(files("api").joinpath("meanings.json").read_text("utf-8"))
"""By `Type.field` where a word has a meaning of its own there, else by `field`."""


def meaning_of(owner: str, field: str) -> str:
    """Gives the words for a field of a component. Errors: LookupError, where the table has none."""
    words = MEANINGS.get(f"{owner}.{field}") or MEANINGS.get(field)
    if words is None:
        raise LookupError(f"api/meanings.json does not say what {owner}.{field} is")
    return words
