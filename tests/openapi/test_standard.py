"""The document is a proper one, by the standard's own schema and by what the tools of strangers can take."""

import re
from collections.abc import Iterator

from openapi_spec_validator import OpenAPIV31SpecValidator

from api.openapi import document


def test_the_document_keeps_to_openapi_3_1() -> None:
    assert [f"{list(fault.path)}: {fault.message}" for fault in OpenAPIV31SpecValidator(document()).iter_errors()] == []


def test_patterns_escape_only_what_ecmascript_lets_them() -> None:
    """With the flag `u`, as its readers of JSON Schema set it, any other escaped letter is a fault."""
    found = set(patterns(document()))
    assert len(found) > 10
    assert [each for each in found if re.search(r"\\(?![\^$\\.*+?()\[\]{}|/]|u[0-9a-f]{4})", each)] == []


def patterns(part: object) -> Iterator[str]:
    """Gives every pattern below a part of the document."""
    if isinstance(part, dict):
        if isinstance(pattern := part.get("pattern"), str):
            yield pattern
        part = list(part.values())
    if isinstance(part, list | tuple):
        for each in part:
            yield from patterns(each)
