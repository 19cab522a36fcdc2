"""nginx with the very lines of the README, in front of a real API."""

import re
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

import httpx
import pytest

from infra.embedded.engines import embedded_services
from infra.embedded.ports import free_port
from infra.migrations import migrate
from tests.deploy.images import ROOT, build_engine
from tests.deploy.podman import Podman
from tests.e2e.client import Client, messages
from tests.e2e.roof import roof
from tests.engines import UNSAFE, run, settings_of
from tests.stack_watching import eventually
from tests.tls import Papers, papers

EVERYBODY = ("relay", "clock", "projector", "worker", "api")
NAME = "nginx"
GUESTS = 3  # a minute and address
BIGGEST = 64 * 1024
AROUND = "daemon off; error_log stderr; pid /tmp/nginx.pid; events {{}} http {{ access_log off; {lines} }}"

pytestmark = pytest.mark.deploy


@dataclass(frozen=True)
class Front:
    """An API, and the proxy in front of it."""

    api: str
    proxy: str
    papers: Papers

    def guest(self, url: str, *, at: str, claims: str) -> int:
        """Asks for a player from a loopback address, which says to speak for another one; gives the status."""
        trust = ssl.create_default_context(cafile=self.papers.authority)
        with httpx.Client(transport=httpx.HTTPTransport(local_address=at, verify=trust), timeout=30) as client:
            asked = client.post(f"{url}/v1/players", json={"name": "Anna"}, headers={"X-Forwarded-For": claims})
        return asked.status_code


@pytest.fixture(scope="module")
def front(podman: Podman, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """Trusts the proxy's address alone; the tests come from others."""
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    made = papers(folder / "papers")
    with embedded_services(UNSAFE) as engines:
        run(migrate(engines.postgres.url))
        settings = settings_of(engines, engines.postgres.url)
        with roof(settings, EVERYBODY, trusted_proxies="127.0.0.1", guests_per_minute=GUESTS) as running:
            [api] = running.base_urls
            (folder / "nginx.conf").write_text(AROUND.format(lines=lines_of_readme(api, port)))
            podman.run(
                "run", "--detach", f"--name={NAME}", "--network=host", "--user=root", f"--volume={folder}:/front:ro",
                build_engine(podman), "nginx", "-c", "/front/nginx.conf",
            )  # fmt: skip
            try:
                eventually(lambda: answers(port), within_s=120, what="nginx and the API behind it")
                yield Front(api, f"https://localhost:{port}", made)
            finally:
                podman.run("rm", "--force", "--time=0", NAME)


@pytest.fixture
def anna(front: Front) -> Iterator[Client]:
    with Client(front.api, "Anna") as client:
        yield client


def lines_of_readme(api: str, port: int) -> str:
    """Is the README's lines with ports and papers of this test."""
    [lines] = re.findall(r"```nginx\n(.*?)```", (ROOT / "infra/README.md").read_text(), re.DOTALL)
    for written, here in (
        ("127.0.0.1:8000", api.removeprefix("http://")),
        ("listen 443 ", f"listen 127.0.0.1:{port} "),
        ("ssl_certificate …", "ssl_certificate /front/papers/server.pem"),
        ("ssl_certificate_key …", "ssl_certificate_key /front/papers/server.key"),
    ):
        assert lines.count(written) == 1
        lines = lines.replace(written, here)
    return str(lines)


def test_an_address_is_believed_of_the_proxy_and_of_nobody_else(front: Front) -> None:
    assert_has_a_quota(front, front.proxy, at="127.0.0.2")
    assert front.guest(front.proxy, at="127.0.0.3", claims="127.0.0.2") == 201
    assert_has_a_quota(front, front.api, at="127.0.0.4")


def assert_has_a_quota(front: Front, url: str, *, at: str) -> None:
    """Asks as many at once from one address, and then on: a Redis that is held up for a moment lets everybody pass."""
    numbers = count(1)

    def answer() -> int:
        return front.guest(url, at=at, claims=f"192.0.2.{next(numbers)}")

    assert [answer() for _ in range(GUESTS)] == [201] * GUESTS
    eventually(lambda: answer() == 429, within_s=30, what=f"{at} has used up its quota")


def test_what_is_too_big_does_not_come_through(front: Front) -> None:
    trust = ssl.create_default_context(cafile=front.papers.authority)
    json = {"Content-Type": "application/json"}
    with httpx.Client(base_url=front.proxy, verify=trust, headers=json) as client:
        refused = client.post("/v1/players", content=b" " * (BIGGEST + 1))
        passed = client.post("/v1/players", content=b" " * BIGGEST)
    assert (refused.status_code, refused.headers["content-type"]) == (413, "text/html")
    assert (passed.status_code, passed.json()["code"]) == (400, "malformed_json")


def test_a_stream_comes_through_http_2_event_by_event(podman: Podman, front: Front, anna: Client) -> None:
    game_id = anna.open_game("davis", "you", "open", visibility="public", spectators="public")
    command = [
        "podman", "exec", NAME, "curl", "--http2", "--no-buffer", "--silent", "--show-error", "--include",
        "--cacert", "/front/papers/ca.pem", "--header", f"Authorization: {anna.http.headers['authorization']}",
        f"{front.proxy}/v1/games/{game_id}/stream",
    ]  # fmt: skip
    with subprocess.Popen(command, env=podman.variables, stdout=subprocess.PIPE, text=True) as curl:
        lines = iter(curl.stdout or ())
        assert next(lines).startswith("HTTP/2 200")
        told = messages(line.rstrip("\r\n") for line in lines)
        for level in ("normal", "easy", "normal"):
            anna.sent("PUT", f"/v1/games/{game_id}/seats/1/bot", {"level": level})
            head = anna.sent("GET", f"/v1/games/{game_id}")["version"]
            assert any(data.get("version") == head for _, data in told)  # each before the next one happens
        curl.terminate()


def answers(port: int) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"https://localhost:{port}/health/live", verify=False).is_success
    return False
