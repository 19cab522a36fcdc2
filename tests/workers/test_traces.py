"""A command's way through the processes as one trace, at a receiver that reads what is really sent."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from uuid import UUID

import httpx
import pytest
from msgspec.structs import replace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from infra.embedded.ports import free_port
from infra.settings import Settings, environment
from infra.watching.traces import Traces
from infra.watching.tracing import open_traces
from infra.wiring import open_services
from services.ids import new_uuid, public_id
from services.ports import Recorded
from tests.appends import append, new_game
from tests.engines import eventually
from tests.processes import ENOUGH, is_live, server

pytestmark = pytest.mark.xdist_group("processes")

SEATS = {"ruleset": "davis", "seats": [{"controller": "you"}, {"controller": "bot", "level": "easy"}]}


class Span:
    """A span as it was received. service: which process has sent it."""

    def __init__(self, service: str, sent: Any) -> None:
        self.service = service
        self.name: str = sent.name
        self.trace = UUID(bytes=sent.trace_id)
        self.id, self.parent = sent.span_id.hex(), sent.parent_span_id.hex()
        self.began, self.ended = sent.start_time_unix_nano, sent.end_time_unix_nano
        self.facts = {each.key: each.value.string_value or each.value.int_value for each in sent.attributes}
        self.links = [UUID(bytes=link.trace_id) for link in sent.links]


@contextmanager
def receiver() -> Iterator[tuple[str, list[Span]]]:
    """Takes in what comes over OTLP/HTTP; gives its address and the spans so far."""
    spans: list[Span] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = ExportTraceServiceRequest()
            request.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
            for resource in request.resource_spans:
                [service] = [
                    each.value.string_value for each in resource.resource.attributes if each.key == "service.name"
                ]
                spans.extend(Span(service, sent) for scope in resource.scope_spans for sent in scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}/v1/traces", spans
        finally:
            listening.shutdown()
            thread.join()


async def test_a_command_is_one_trace_from_the_request_over_the_relay_to_the_job(settings: Settings) -> None:
    with receiver() as (url, spans), ExitStack() as exits:
        own = replace(settings, port=free_port(), traces_url=url, traces_ratio=1.0)
        for process in ("api", "workers.relay", "workers"):
            exits.enter_context(server(process, own))
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{own.port}") as http:
            await eventually(lambda: is_live(http))
            token = (await http.post("/v1/players", json={"name": "Anna"})).json()["token"]
            http.headers.update({"authorization": f"Bearer {token}", "idempotency-key": "k"})
            game_id = (await http.post("/v1/games", json=SEATS)).json()["game_id"]
            await http.post(f"/v1/games/{game_id}/start", headers={"x-request-id": "mine"})

        def of_start() -> list[Span]:
            traces = {span.trace for span in spans if span.name == "POST /v1/games/{game_id}/start"}
            return [span for span in spans if span.trace in traces]

        async def have_come() -> bool:
            return len(of_start()) == 5

        await eventually(have_come)
    async with open_services(settings) as services:
        told = await services.log.read(game_id)
    first = next(span for span in of_start() if span.parent == "")
    assert first.trace in {recorded.command_id for recorded in told}
    assert (first.facts["http.response.status_code"], first.facts["shanghai.request_id"]) == (200, "mine")
    assert sorted((span.service, span.name) for span in of_start() if span.parent == first.id) == [
        ("shanghai api", "append"),
        ("shanghai relay", "relay"),
        ("shanghai worker", "append"),
        ("shanghai worker", "job"),
    ]
    relay, job = (next(span for span in of_start() if span.name == name) for name in ("relay", "job"))
    assert first.began <= relay.began <= relay.ended
    assert job.facts["game_id"] == game_id
    dealt = [span for span in spans if first.trace in span.links]
    assert [span.name for span in dealt] == ["command by table"]
    assert token not in str([span.facts for span in spans])


async def test_of_all_commands_the_wanted_share_is_traced() -> None:
    with receiver() as (url, spans):
        traces = Traces(url, 0.25, "test")
        for _ in range(2_000):
            traces.appended(append(new_game()), 1, 2)
            traces.requested("POST /v1/games", {}, 1, 2)
        traces.close()
    assert 300 < len({span.trace for span in spans}) < 700


async def test_a_job_without_anything_to_do_and_an_unknown_game_harm_nothing() -> None:
    with receiver() as (url, spans):
        traces = Traces(url, 1.0, "test")
        game, one = new_game(), append(new_game()).events[0]
        known = Recorded(game, 1, one.event, "player", 1, one.command_id, None)  # type: ignore[arg-type]
        traces.worked(game, [], 1, 2)
        traces.worked(game, [known], 1, 2)
        traces.close()
    assert [(span.name, span.trace) for span in spans] == [("job", one.command_id)]


def test_a_collector_that_is_away_holds_no_process_up() -> None:
    traces = Traces("http://127.0.0.1:1/v1/traces", 1.0, "test")
    traces.appended(append(public_id("gam", new_uuid())), 1, 2)
    traces.requested("POST /v1/games", {}, 1, 2)
    traces.close()


def test_without_an_address_nothing_is_imported_for_traces(settings: Settings) -> None:
    assert open_traces(settings, "test") is None
    program = (
        "import sys, api.app, workers.relay, workers.jobs; from infra.settings import read_settings\n"
        "from infra.watching.tracing import open_traces; assert open_traces(read_settings(), 'test') is None\n"
        "sys.exit(any(name.startswith('opentelemetry.exporter') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], env=environment(ENOUGH), check=False).returncode == 0
