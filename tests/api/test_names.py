"""What a player may be called: whatever can be seen and does no harm to the text around it, in one spelling."""

import pytest

from tests.api.problems import assert_problem
from tests.api.world import Player


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("  Anna ", "Anna"),
        ("Zoe\u0308", "Zo\u00eb"),  # two ways to write one letter
        ("\u1100\u1161\u11a8", "\uac01"),
        ("\u0645\u0631\u064a\u0645", "\u0645\u0631\u064a\u0645"),  # from right to left
        ("\u05d0\u05e0\u05d4 Anna", "\u05d0\u05e0\u05d4 Anna"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),  # one sign of three
        ("\U0001f1eb\U0001f1ee", "\U0001f1eb\U0001f1ee"),
        ("An\u200bna", "An\u200bna"),
        ("e\u0301" * 40, "\u00e9" * 40),  # counted as it is kept
        ("<b>Anna</b>", "<b>Anna</b>"),  # a text, for whoever shows it to escape
        ("'; DROP TABLE player; --", "'; DROP TABLE player; --"),
    ],
)
async def test_a_name_is_kept_in_its_normal_form(anna: Player, given: str, shown: str) -> None:
    assert (await anna.sent("PATCH", "/v1/me", {"name": given}))["name"] == shown
    assert (await anna.sent("POST", "/v1/players", {"name": given}))["name"] == shown


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "\u3000\u2003", "\u00a0", "\u200b\u200d\ufeff", "\u0301\u0302", "\u3164", "\u2800\u2800",
        "\u115f \uffa0", "An\tna", "An\rna", "An\x7fna", "An\u0085na", "An\u2028na", "An\u2029na", "\u202eannA",
        "An\u2066na", "An\ue000na", "An\uffffna", "\u0301" * 41, "a" * 41, "\U0001f469" * 41,
    ],
)  # fmt: skip
async def test_a_name_that_shows_nothing_or_disturbs_is_refused(anna: Player, name: str) -> None:
    problem = assert_problem(await anna.call("PATCH", "/v1/me", {"name": name}), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == ["/name"]
    assert (await anna.sent("GET", "/v1/me"))["name"] == "Anna"
