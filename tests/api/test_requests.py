"""What the document says of requests is what the server takes; tools that read it have found each of these."""

from typing import Any

import pytest

from api.patterns import KEY, ONE_LINE, RANK, SHOWN, URL, id_pattern
from api.requests import MAX_KEY
from domain.presets import preset_names
from tests.api.problems import assert_problem
from tests.api.scopes import allow
from tests.api.world import DAVIS, Player, World, dealt_game
from tests.described import shape_faults

NEW_GAME = {"$ref": "#/components/schemas/NewGame"}


async def test_a_number_without_a_fraction_is_an_integer(anna: Player) -> None:
    body = b'{"ruleset":"davis","seats":[{"controller":"you"},{"controller":"open"}],"pace":{"turn_s":9e1},'
    body += b'"overrides":{"max_rounds":2.0}}'
    game = await anna.sent("POST", "/v1/games", body)
    assert (game["pace"]["turn_s"], game["rules"]["max_rounds"]) == (90, 2)


@pytest.mark.parametrize("number", ["60.5", "1e300", "1e400", "-0.1"])
async def test_another_number_is_none(anna: Player, number: str) -> None:
    body = f'{{"scopes":["watch"],"valid_s":{number}}}'.encode()
    problem = assert_problem(await anna.call("POST", "/v1/me/tokens", body), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == ["/valid_s"]


@pytest.mark.parametrize("letter", ["%00", "%0A", "%C2%84", "%E2%80%AE"])
async def test_a_query_has_no_control_characters(anna: Player, letter: str) -> None:
    problem = assert_problem(await anna.call("GET", f"/v1/games?ruleset=a{letter}"), 422, "invalid_request")
    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [("ruleset", "invalid_value")]


@pytest.mark.parametrize("what", ["players/{player_id}/suspension", "games/{game_id}/end"])
async def test_an_operators_reason_can_be_shown_and_kept(world: World, anna: Player, boris: Player, what: str) -> None:
    game_id = (await anna.open_game())["game_id"]
    await allow(world, boris, ("operate",))
    path = what.format(player_id=anna.player_id, game_id=game_id)
    method = "PUT" if "suspension" in what else "POST"
    refused = await boris.call(method, f"/v1/admin/{path}", {"reason": "a\0b"}, idempotency_key="k")
    problem = assert_problem(refused, 422, "invalid_request")
    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [("/reason", "cannot_be_shown")]


@pytest.mark.parametrize("key", [" ", '"', '""', '" "'])
async def test_a_key_is_more_than_spaces_and_quotes(anna: Player, key: str) -> None:
    assert_problem(await anna.call("POST", "/v1/games", DAVIS, idempotency_key=key), 400, "idempotency_key_required")


@pytest.mark.parametrize(
    ("path", "body", "fault"),
    [
        ("/v1/games", DAVIS | {"pace": {"claim_window_s": 121}}, ("/pace/claim_window_s", "window_too_long")),
        ("/v1/games", DAVIS | {"ruleset": "hearts"}, ("/ruleset", "unknown_ruleset")),
        ("/v1/me/webhooks", {"url": "https://10.0.0.1/"}, ("/url", "address_refused")),
        ("/v1/me/webhooks", {"url": "https://[1b]/"}, ("/url", "address_refused")),
        ("/v1/me/webhooks", {"url": "http://bots.example/"}, ("/url", "invalid_value")),
        ("/v1/players", {"name": "\u0958" * 40}, ("/name", "text_too_long")),
        ("/v1/players", {"name": "\u3164"}, ("/name", "cannot_be_shown")),
    ],
)
async def test_a_refusal_names_the_field_and_why(
    anna: Player, path: str, body: dict[str, Any], fault: tuple[str, str]
) -> None:
    problem = assert_problem(await anna.call("POST", path, body, idempotency_key="k"), 422, "invalid_request")
    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [fault]


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/v1/games", DAVIS | {"spectators": "some"}, "Invalid enum value 'some'; known are delayed, none, public."),
        ("/v1/games", DAVIS | {"pace": {"claims": "late"}}, "Invalid enum value 'late'; known are early, full."),
        (
            "/v1/games",
            DAVIS | {"seats": [{"controller": "me"}, {"controller": "bot"}]},
            "Invalid value 'me'; known are you, bot, open.",
        ),
        (
            "/v1/games",
            DAVIS | {"seats": [{"controller": "you"}, {"controller": "bot", "level": "hard"}]},
            "Invalid enum value 'hard'; known are easy, normal.",
        ),
        (
            "/v1/games",
            DAVIS | {"overrides": {"ace": "middle"}},
            "Invalid enum value 'middle'; known are low, high, both, corner",
        ),
        ("/v1/me/tokens", {"scopes": ["all"]}, "Invalid enum value 'all'; known are bot, operate, play, watch."),
    ],
)
async def test_a_refusal_lists_the_words_that_are_known(
    anna: Player, path: str, body: dict[str, Any], words: str
) -> None:
    problem = assert_problem(await anna.call("POST", path, body, idempotency_key="k"), 422, "invalid_request")
    assert [error["detail"] for error in problem["errors"]] == [words]


async def test_a_query_that_is_refused_tells_what_is_known(anna: Player) -> None:
    problem = assert_problem(await anna.call("GET", "/v1/games?status=over"), 422, "invalid_request")
    assert problem["detail"] == "Invalid enum value 'over'; known are cancelled, finished, playing, waiting."
    problem = assert_problem(await anna.call("GET", "/v1/games?state=waiting"), 422, "invalid_request")
    assert problem["detail"] == "There is no parameter `state` here."


@pytest.mark.parametrize("headers", [{}, {"content_type": "application/json"}, {"content_type": "text/plain"}])
async def test_a_body_that_was_forgotten_is_called_so(anna: Player, headers: dict[str, str]) -> None:
    problem = assert_problem(await anna.call("PATCH", "/v1/me", **headers), 422, "invalid_request")
    assert problem["detail"] == "This request needs a body, sent as application/json."
    assert [(error["in"], error["pointer"], error["code"]) for error in problem["errors"]] == [("body", "", "missing")]


async def test_no_cache_keeps_what_a_player_was_shown(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    for path in (f"/v1/games/{game_id}", f"/v1/games/{game_id}/view"):
        shown = await anna.call("GET", path)
        same = await boris.call("GET", path, if_none_match=f'"v1", W/{shown.headers["etag"]}')
        assert (shown.status_code, same.status_code) == (200, 304)
        for answer in (shown, same):
            assert answer.headers["cache-control"] == "no-store"  # the tag is the same for who sees other cards


@pytest.mark.parametrize("name", preset_names())
async def test_every_preset_may_be_sent_whole_as_the_overrides_of_a_game(anna: Player, name: str) -> None:
    rules = await anna.sent("GET", f"/v1/rulesets/{name}")
    overrides = {knob: value for knob, value in rules.items() if knob not in ("name", "source")}
    assert shape_faults({"ruleset": name, "seats": DAVIS["seats"], "overrides": overrides}, NEW_GAME) == []
    assert (await anna.sent("POST", "/v1/rulesets/validate", {"ruleset": name, "overrides": overrides})) == rules


@pytest.mark.parametrize(
    "overrides",
    [
        {"spice": True},
        {"name": "mine"},
        {"ace": "middle"},
        {"buy": None},
        {"deck": {"sizes": {"9": {"packs": 2}}}},
        {"deck": {"sizes": {"4": {"packs": 7}}}},
        {"deal": {"cards": []}},
        {"contracts": [[{"kind": "set"}]]},
        {"points": {"cards": {"7": 1_001}}},
        {"never_taken": ["7"]},
        {"idle_laps": {"no_draw": 0}},
    ],
)
async def test_what_the_schema_of_overrides_refuses_the_server_refuses(anna: Player, overrides: dict[str, Any]) -> None:
    assert shape_faults(DAVIS | {"overrides": overrides}, NEW_GAME)
    refused = await anna.call("POST", "/v1/rulesets/validate", {"ruleset": "davis", "overrides": overrides})
    problem = assert_problem(refused, 422, "invalid_request")
    assert all(error["pointer"].startswith("/overrides/") for error in problem["errors"])


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        (KEY, ["k", '"k"', "a b", "k" * MAX_KEY], ["", " ", '""', "ä", "a\tb"]),
        (ONE_LINE, ["", "Anna", "Ω 7"], ["a\nb", "\x7f", "\u202e"]),
        (SHOWN, ["Anna", " A ", "😀"], ["", "  ", "\u00a0", "a\0"]),
        (URL, ["https://a.example", "https://a:443/b?c", "https://1.2.3.4/"], ["http://a/", "https://a:80/", "https:"]),
        (id_pattern("gam"), ["gam_01k9zz00000000000000000000"], ["gam_81k9zz00000000000000000000", "gam_1", "tok_"]),
        (RANK, ["-1.5e-05~ply_01k9zz00000000000000000000", "25.0~ply_" + "0" * 26], ["nan~ply_"]),
    ],
)
def test_patterns_fit_what_they_should(pattern: str, fits: list[str], does_not: list[str]) -> None:
    schema = {"type": "string", "pattern": pattern}
    assert [text for text in fits if shape_faults(text, schema)] == []
    assert [text for text in does_not if not shape_faults(text, schema)] == []
