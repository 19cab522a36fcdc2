"""Problems as every operation answers them."""

from typing import Any

import httpx

PROBLEM = {
    "type", "title", "status", "code", "detail", "instance", "request_id", "reason", "errors", "current_version",
}  # fmt: skip
NOBODY = "gam_" + "0" * 26


def assert_problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Checks the form of a problem and gives it."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    problem: dict[str, Any] = response.json()
    assert (response.status_code, problem["code"], problem["status"]) == (status, code, status)
    assert set(problem) - {"readings"} == PROBLEM
    assert problem["type"] == f"/v1/problems#{code}"
    assert problem["instance"] == response.request.url.path
    assert problem["request_id"] == response.headers["x-request-id"]
    return problem
