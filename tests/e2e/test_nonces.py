"""Two people add their own luck, play some moves, and one of them checks the deals from a download."""

import secrets
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from infra.cli import main
from tests.e2e.client import Client, any_option, follow

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]

ASKING = ("turn_began", "card_drawn", "discard_opened", "melds_laid", "cards_laid_off", "shanghai_called")


def test_a_game_with_nonces_is_played_and_verified(anna: Client, boris: Client, tmp_path: Path) -> None:
    nonces = [secrets.token_hex(16), secrets.token_hex(16)]
    annas, borises = (sha256(bytes.fromhex(nonce)).hexdigest() for nonce in nonces)
    seats = [
        {"controller": "you", "nonce_commitment": annas},
        {"controller": "open"},
        {"controller": "bot"},
        {"controller": "bot"},
    ]
    game_id = anna.sent("POST", "/v1/games", {"ruleset": "ten-phases", "seats": seats})["game_id"]
    boris.sent("PUT", f"/v1/games/{game_id}/seats/1", {"nonce_commitment": borises})
    assert anna.sent("POST", f"/v1/games/{game_id}/start")["status"] == "waiting"

    players, choose, moves, answered = [anna, boris], any_option(3), 0, set[str]()
    for kind, data in follow(anna, game_id):
        if kind == "nonces_asked":
            assert data["data"]["commitments"] == [annas, borises, None, None]
            for seat, player in enumerate(players):
                player.sent("POST", f"/v1/games/{game_id}/seats/{seat}/nonce", {"nonce": nonces[seat]})
        elif kind == "game_started":
            assert data["data"]["nonces"] == [*nonces, None, None]
        for player in players if kind in ASKING else ():
            for decision in player.view(game_id)["decisions"]:
                if decision["decision_id"] not in answered:
                    answered.add(decision["decision_id"])
                    moves += player.move(game_id, decision, choose(decision)).status_code == 201
        if kind == "round_scored":
            break
    assert moves > 0

    for player in players:
        export = tmp_path / "game.ndjson"
        export.write_bytes(player.call("GET", f"/v1/games/{game_id}/export").content)
        result = CliRunner().invoke(main, ["verify", str(export)])
        assert result.exit_code == 0, result.output
        assert "dealt again from the revealed secrets" in result.output
        assert "mixed with the nonces of 2 of 4 seats" in result.output
