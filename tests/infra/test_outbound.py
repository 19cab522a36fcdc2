"""The way out: nothing inside is reached by it, whatever the name says, and no answer takes long or much."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from infra.outbound import GuardedSender, Resolve
from services.addresses import is_global
from services.delivering import NotSent
from tests.infra.receiver import Answering, answering, certified, receiving

GLOBAL = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"]
NOT_GLOBAL = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",  # carrier-grade NAT
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",  # metadata of clouds
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",  # Teredo
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",  # 6to4
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "bots.example",
    "",
]


class Names:
    """A resolver whose answers follow one another; `asked` is what it was asked for."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, player_id: str, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self.answers.pop(0)


LOOPBACK = ["127.0.0.1"]
ANNA = "ply_anna"


async def fault(sender: GuardedSender, url: str) -> str:
    with pytest.raises(NotSent) as caught:
        await sender.post(ANNA, url, {}, b"{}")
    return caught.value.fault


def quick(resolve: Resolve | None = None) -> GuardedSender:
    """Is a sender that spends a moment on each name."""
    return GuardedSender(resolve=resolve, lookup_s=0.02)


@pytest.mark.parametrize("address", GLOBAL)
def test_an_address_of_the_public_internet_is_taken(address: str) -> None:
    assert is_global(address)


@pytest.mark.parametrize("address", NOT_GLOBAL)
def test_every_other_address_is_not(address: str) -> None:
    assert not is_global(address)


@pytest.mark.parametrize("bad", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:8.8.8.8", "fd00::1"])
@pytest.mark.parametrize("others", [[], ["93.184.216.34"], ["93.184.216.34", "2606:4700::1111"]])
async def test_one_bad_address_among_good_ones_is_enough(
    bad: str, others: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio, "open_connection", _nobody_connects)
    for addresses in ([bad, *others], [*others, bad]):
        assert await fault(quick(Names(addresses)), "https://bots.example/") == "no_public_address"


async def _nobody_connects(*_: object, **__: object) -> None:
    raise AssertionError("somebody was connected to")


@pytest.mark.parametrize(
    "url",
    ["http://bots.example/", "https://bots.example:8443/", "https://127.0.0.1/", "https://a@bots.example/", "file:///"],
)
async def test_an_address_that_was_allowed_once_is_refused_when_it_is_not_any_more(url: str) -> None:
    names = Names(GLOBAL)
    assert await fault(GuardedSender(resolve=names), url) == "address_refused"
    assert names.asked == []


async def test_odd_spellings_of_an_address_mean_what_the_system_makes_of_them() -> None:
    for host in ("2130706433", "0x7f.1", "127.1", "localhost"):
        assert await fault(quick(), f"https://{host}/") == "no_public_address"


async def test_the_connection_goes_to_the_very_address_that_was_looked_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A name that means something inside a moment later has no effect; the certificate is still that of the name."""
    server, client = certified("bots.example", tmp_path)
    really = asyncio.open_connection
    connected: list[object] = []
    async with receiving(tls=server) as receiver:

        async def connect(host: str, port: int, **how: object) -> object:
            connected.append((host, port, how["server_hostname"]))
            return await really("127.0.0.1", receiver.port, **how)  # type: ignore[arg-type]

        monkeypatch.setattr(asyncio, "open_connection", connect)
        names = Names(["93.184.216.34"], LOOPBACK)
        sender = GuardedSender(resolve=names, tls=client, lookup_s=0.02)
        assert await sender.post(ANNA, "https://bots.example/there?a=b", {"webhook-id": "msg_1"}, b"{}") == 200
        assert names.asked == [("bots.example", 443)]
        assert connected == [("93.184.216.34", 443, "bots.example")]
        [request] = receiver.requests
        assert request.line == "POST /there?a=b HTTP/1.1"
        assert (request.headers["host"], request.headers["webhook-id"]) == ("bots.example", "msg_1")
        assert (request.headers["content-type"], request.body) == ("application/json", b"{}")
        assert await fault(sender, "https://bots.example/") == "no_public_address"
    assert len(connected) == 1


@pytest.mark.parametrize("named", ["other.example", "bots.example"])
async def test_a_certificate_of_another_name_or_of_nobody_known_is_refused(named: str, tmp_path: Path) -> None:
    server, believing = certified(named, tmp_path)
    async with receiving(tls=server) as receiver:
        url = f"https://bots.example:{receiver.port}/"
        tls = believing if named == "other.example" else None
        assert await fault(GuardedSender(is_anywhere=True, resolve=Names(LOOPBACK), tls=tls), url) == "tls"
        assert receiver.requests == []


async def test_a_redirect_is_an_answer_and_not_followed() -> None:
    async with receiving() as inside, receiving(answering("307 There", "Location: http://127.0.0.1/")) as receiver:
        receiver.answer = answering("307 There", f"Location: http://127.0.0.1:{inside.port}/")
        sender = GuardedSender(is_anywhere=True)
        assert await sender.post(ANNA, f"http://127.0.0.1:{receiver.port}/", {}, b"{}") == 307
        assert (len(receiver.requests), inside.requests) == (1, [])


async def _silence(_: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def _drop_by_drop(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 ")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _endless_header(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 103 Early Hints\r\n")
    while True:
        writer.write(b"A: " + b"b" * 60_000)
        await writer.drain()


async def _endless_body(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 204 Fine\r\n\r\n")
    while True:
        writer.write(b"b" * 60_000)
        await writer.drain()


async def _endless_hints(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0)


async def _endless_hint(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 103 Early Hints\r\n")
    while True:
        writer.write(b"Link: a\r\n" * 100)
        await writer.drain()
        await asyncio.sleep(0)


async def _after_hints(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 202 Fine\r\n\r\n")


async def _hangs_up(_: asyncio.StreamWriter) -> None:
    """Says nothing."""


async def _is_no_http(writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.9\r\n")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (_silence, "timeout"),
        (_drop_by_drop, "timeout"),
        (_endless_header, "bad_answer"),
        (_endless_hints, "bad_answer"),
        (_endless_hint, "bad_answer"),
        (_endless_body, 204),
        (_after_hints, 202),
        (_hangs_up, "bad_answer"),
        (_is_no_http, "bad_answer"),
        (answering("500 Oh", body=b"no"), 500),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
async def test_an_answer_takes_neither_long_nor_much(answer: Answering, expected: str | int) -> None:
    async with receiving(answer) as receiver:
        limit_s = 0.3 if expected == "timeout" else 30.0  # what is too much ends by itself
        sender, url = GuardedSender(is_anywhere=True, limit_s=limit_s), f"http://127.0.0.1:{receiver.port}/"
        began = time.monotonic()
        found = await fault(sender, url) if isinstance(expected, str) else await sender.post(ANNA, url, {}, b"{}")
        assert found == expected
        assert time.monotonic() - began < 20


async def test_a_port_that_nobody_listens_on_is_told() -> None:
    async with receiving() as receiver:
        gone = receiver.port
    assert await fault(GuardedSender(is_anywhere=True), f"http://127.0.0.1:{gone}/") == "unreachable"


async def test_a_host_that_takes_no_connection_in_time_is_not_reached() -> None:
    async with receiving(_silence) as receiver:  # says nothing to TLS
        sender = GuardedSender(is_anywhere=True, limit_s=0.3)
        assert await fault(sender, f"https://127.0.0.1:{receiver.port}/") == "unreachable"


async def _unknown(*_: object) -> Sequence[str]:
    raise OSError


async def _unspeakable(*_: object) -> Sequence[str]:
    raise UnicodeError


async def _silent(*_: object) -> Sequence[str]:
    await asyncio.Event().wait()
    return []


@pytest.mark.parametrize(
    "resolve",
    [_unknown, _unspeakable, _silent, Names([]), Names(LOOPBACK), Names(["93.184.216.34", "10.0.0.1"])],
    ids=["unknown", "unspeakable", "silent", "empty", "inside", "mixed"],
)
async def test_nobody_is_told_which_names_there_are_inside_nor_by_the_time_it_takes(
    resolve: Resolve, caplog: pytest.LogCaptureFixture
) -> None:
    clock = asyncio.get_running_loop().time
    sender = GuardedSender(resolve=resolve, lookup_s=0.5)
    began = clock()  # the sender is there already: its certificates take as long as a name
    assert await fault(sender, "https://bots.example/a-secret") == "no_public_address"
    assert 0.5 <= clock() - began < 20
    [line] = caplog.messages  # the operator's
    assert "bots.example" in line
    assert "a-secret" not in line


async def test_so_many_addresses_are_tried_and_no_more() -> None:
    async with receiving() as receiver:
        url = f"http://bots.example:{receiver.port}/"
        down = [f"127.0.0.{last}" for last in range(2, 8)]
        sixth, seventh = (
            GuardedSender(is_anywhere=True, resolve=Names([*those, *LOOPBACK])) for those in (down[1:], down)
        )
        assert await sixth.post(ANNA, url, {}, b"{}") == 200
        assert await fault(seventh, url) == "unreachable"
        assert len(receiver.requests) == 1


async def test_the_next_address_is_tried_where_one_is_down() -> None:
    async with receiving() as receiver:
        sender = GuardedSender(is_anywhere=True, resolve=Names(["127.0.0.2", "127.0.0.1"]))
        assert await sender.post(ANNA, f"http://bots.example:{receiver.port}/", {}, b"{}") == 200
