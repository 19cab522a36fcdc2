"""The document is a proper one, by the standard's own schema and by what the tools of strangers can take."""

from openapi_spec_validator import OpenAPIV31SpecValidator

from api.openapi import document


def test_the_document_keeps_to_openapi_3_1() -> None:
    assert [f"{list(fault.path)}: {fault.message}" for fault in OpenAPIV31SpecValidator(document()).iter_errors()] == []
