"""The drill: people and bots play, backups are made, the machine is lost, and a moment comes back on another one."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import redis

from tests.e2e.client import Client, any_option, follow
from tests.stack_watching import command, crash, descendants, eventually, shanghai, up
from tests.standby import ask

ONE_ROUND = {"contracts": [[{"kind": "set", "size": 3}, {"kind": "set", "size": 3}]]}
UNTOLD = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn < pg_current_wal_flush_lsn()"

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("stack")]


@pytest.fixture
def until_the_end() -> Iterator[ExitStack]:
    with ExitStack() as exits:
        yield exits


def test_a_moment_comes_back_whole_with_nothing_later_and_the_game_goes_on(
    tmp_path: Path, until_the_end: ExitStack
) -> None:
    lost, backups, found = tmp_path / "lost", tmp_path / "backups", tmp_path / "found"
    with up(lost) as (server, base_url):
        anna = until_the_end.enter_context(Client(base_url))
        with command("-m", "infra.cli", "backup", "--log", "--to", backups, "--data", lost) as keeping:
            keeping.line("keeping the log")
            over = anna.open_game("davis", "easy", "easy", overrides=ONE_ROUND)
            going_on = anna.open_game("davis", "you", "easy")
            play(anna, going_on, moves=2)
            assert shanghai("backup", "--to", backups, "--data", lost).startswith("backup ")
            list(follow(anna, over))
            play(anna, going_on, moves=3)
            acknowledged = {game: anna.events(game) for game in (over, going_on)}
            moment = datetime.now(UTC)
            too_late = play(anna, going_on, moves=3)
            opened_late = anna.open_game("davis", "you", "easy")
            postgres = f"postgresql://postgres@/postgres?host={lost / 'run'}"
            eventually(lambda: ask(postgres, UNTOLD) == "0", what="the log is kept")
            for pid in (server.process.pid, *descendants(server.process.pid)):
                crash(pid)

    assert "has no copy from before" in shanghai("recover", backups, "--into", found, "--at", "2026-01-01T00:00:00Z")
    tomorrow = (moment + timedelta(days=1)).isoformat()
    assert "the log ends before" in shanghai("recover", backups, "--into", found, "--at", tomorrow)
    assert not (found / "postgres").exists()
    assert "recovered 2 games" in shanghai("recover", backups, "--into", found, "--at", moment.isoformat())
    assert "is there already" in shanghai("recover", backups, "--into", found)
    (lost / "secret.key").rename(found / "secret.key")

    with up(found) as (_, base_url):
        anna.http.base_url = httpx.URL(base_url)
        for game, events in acknowledged.items():
            assert anna.events(game)[: len(events)] == events
        assert not {event["move_id"] for event in anna.events(going_on)} & too_late
        assert anna.call("GET", f"/v1/games/{opened_late}").status_code == httpx.codes.NOT_FOUND
        (tmp_path / "over.ndjson").write_bytes(anna.call("GET", f"/v1/games/{over}/export?format=ndjson").content)
        assert "\nverified\n" in shanghai("verify", tmp_path / "over.ndjson")
        last = acknowledged[going_on][-1]["version"]
        with anna.stream(going_on, after=last) as stream:
            moved = play(anna, going_on, moves=1)
            assert any(data.get("move_id") in moved for _, data in stream)
        assert timelines(found) == ["00000002"]


def play(client: Client, game_id: str, moves: int) -> set[str]:
    """Answers so many of the client's decisions by any option; gives the moves."""
    choose, made = any_option(1), set[str]()
    while len(made) < moves:
        for decision in client.view(game_id)["decisions"]:
            answer = client.move(game_id, decision, choose(decision))
            if answer.status_code == httpx.codes.CREATED:
                made.add(answer.json()["move_id"])
    return made


def timelines(data: Path) -> list[str]:
    """Gives the timeline of every generation of the bus."""
    with redis.Redis(unix_socket_path=str(data / "run" / "redis.sock")) as client:
        return [key.decode().split(":")[1].split("-")[1] for key in client.keys("es:*")]
