"""Names that are looked up slowly: they cost their own player time, and nobody else."""

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from msgspec import Struct, field

from infra import lookups
from infra.lookups import SHARE, Resolver, TooManyLookups
from infra.outbound import GuardedSender
from services.delivering import NotSent
from tests.engines import eventually
from tests.infra.receiver import receiving

ANNA, BORIS = "ply_anna", "ply_boris"
HANGS_S = 20.0


class Nameserver(Struct):
    """Leads every name to loopback (`inside`: of another kind), those of `slow` when it is told to. asked: in order."""

    opened: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if "slow" in host:
            self.opened.wait(HANGS_S)
        if "nobody" in host or ("once" in host and self.asked.count(host) > 1):
            raise socket.gaierror
        if "inside" in host:
            return ["::1"]
        return ["127.0.0.1"]


@pytest.fixture
def nameserver() -> Iterator[Nameserver]:
    nameserver = Nameserver()
    yield nameserver
    nameserver.opened.set()


async def test_a_player_whose_names_hang_holds_up_nobody_else(nameserver: Nameserver) -> None:
    resolver = Resolver(nameserver)
    sender, patient = (GuardedSender(is_anywhere=True, resolve=resolver, lookup_s=each) for each in (1.0, HANGS_S / 2))
    async with receiving() as receiver:

        async def fault(player_id: str, host: str) -> str:
            with pytest.raises(NotSent) as refused:
                await sender.post(player_id, f"http://{host}:{receiver.port}/", {}, b"{}")
            return refused.value.fault

        hang = [fault(ANNA, f"slow-{number}.example") for number in range(40)]
        slow = asyncio.gather(*hang, *(fault(f"ply_{number}", "slow.example") for number in range(40)))
        await asyncio.sleep(0)
        assert await patient.post(BORIS, f"http://bots.example:{receiver.port}/", {}, b"{}") == 200
        assert Counter(await slow) == {"no_public_address": 80}
        assert Counter(host == "slow.example" for host in nameserver.asked if "slow" in host) == {False: SHARE, True: 1}
        assert await fault(ANNA, "bots.example") == "no_public_address"  # her threads hang still
        nameserver.opened.set()
        assert await patient.post(ANNA, f"http://other.example:{receiver.port}/", {}, b"{}") == 200


async def test_a_name_is_asked_for_once_by_all_who_want_it_at_once(nameserver: Nameserver) -> None:
    resolver = Resolver(nameserver)
    wanted = [
        resolver(f"ply_{number % 3}", host, 443) for number in range(30) for host in ("slow.example", "SLOW.example")
    ]
    waiting = asyncio.gather(*wanted)
    await eventually(lambda: bool(nameserver.asked))
    nameserver.opened.set()
    assert await waiting == [["127.0.0.1"]] * 60
    assert nameserver.asked == ["slow.example"]
    await resolver(ANNA, "slow.example", 443)
    assert len(nameserver.asked) == 2  # nothing is remembered


async def test_whose_names_hang_still_learns_what_another_one_has_asked_for(nameserver: Nameserver) -> None:
    resolver = Resolver(nameserver)
    opened = threading.Event()
    hanging = [asyncio.create_task(resolver(ANNA, f"slow-{number}.example", 443)) for number in range(SHARE)]
    await eventually(lambda: len(nameserver.asked) == SHARE)
    nameserver.opened, first = opened, nameserver.opened
    of_boris = asyncio.create_task(resolver(BORIS, "slow.example", 443))
    await eventually(lambda: len(nameserver.asked) == SHARE + 1)
    of_anna = asyncio.create_task(resolver(ANNA, "slow.example", 443))
    await asyncio.sleep(0)
    opened.set()
    async with asyncio.timeout(5):
        assert await of_anna == await of_boris == ["127.0.0.1"]
    assert not any(each.done() for each in hanging)
    first.set()
    await asyncio.gather(*hanging)


async def test_what_is_wrong_with_a_name_is_told_to_all_who_wait(nameserver: Nameserver) -> None:
    resolver = Resolver(nameserver)
    wanted = (resolver(f"ply_{number}", "slow-nobody.example", 443) for number in range(4))
    waiting = asyncio.gather(*wanted, return_exceptions=True)
    await eventually(lambda: bool(nameserver.asked))
    nameserver.opened.set()
    assert [type(each) for each in await waiting] == [socket.gaierror] * 4


async def test_where_all_threads_hang_the_webhook_is_not_to_blame(nameserver: Nameserver) -> None:
    resolver = Resolver(nameserver, at_once=3)
    hanging = [asyncio.create_task(resolver(f"ply_{number}", f"slow-{number}.example", 443)) for number in range(3)]
    await eventually(lambda: len(nameserver.asked) == 3)
    with pytest.raises(TooManyLookups):
        await resolver(BORIS, "bots.example", 443)
    with pytest.raises(NotSent) as refused:
        await GuardedSender(resolve=resolver, lookup_s=0.02).post(BORIS, "https://bots.example/", {}, b"{}")
    assert refused.value.fault == "internal_error"
    nameserver.opened.set()
    await asyncio.gather(*hanging)
    assert await resolver(BORIS, "bots.example", 443) == ["127.0.0.1"]


async def test_while_all_threads_hang_a_name_leads_where_it_led_last(
    nameserver: Nameserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "REMEMBERED", 2)
    resolver = Resolver(nameserver, at_once=3, leads_out=lambda addresses: "::1" not in addresses)
    for host in ("old.example", "bots.example", "inside.example", "other.example"):
        await resolver(BORIS, host, 443)
    hanging = [asyncio.create_task(resolver(f"ply_{number}", f"slow-{number}.example", 443)) for number in range(3)]
    await eventually(lambda: len(nameserver.asked) == 7)
    for host in ("bots.example", "OTHER.example"):
        assert await resolver(BORIS, host, 443) == ["127.0.0.1"]
    for host in ("old.example", "inside.example", "new.example"):  # forgotten; led nowhere; never asked for
        with pytest.raises(TooManyLookups):
            await resolver(BORIS, host, 443)
    assert len(nameserver.asked) == 7
    nameserver.opened.set()
    await asyncio.gather(*hanging)


async def test_a_name_that_leads_nowhere_any_more_has_led_nowhere(nameserver: Nameserver) -> None:
    resolver = Resolver(nameserver, at_once=1)
    await resolver(BORIS, "once.example", 443)
    with pytest.raises(socket.gaierror):
        await resolver(BORIS, "once.example", 443)
    hanging = asyncio.create_task(resolver(ANNA, "slow.example", 443))
    await eventually(lambda: len(nameserver.asked) == 3)
    with pytest.raises(TooManyLookups):
        await resolver(BORIS, "once.example", 443)
    nameserver.opened.set()
    await hanging


async def test_how_soon_a_name_is_answered_is_not_told_by_how_soon_the_next_one_is_asked_for(
    nameserver: Nameserver,
) -> None:
    resolver = Resolver(nameserver, leads_out=lambda _: False, hold_s=0.3)
    clock = asyncio.get_running_loop().time
    began = clock()
    hosts = ("nobody.example", "inside.example", "bots.example")
    await asyncio.gather(*(resolver(ANNA, host, 443) for host in hosts), return_exceptions=True)
    assert clock() - began >= 0.3
    began = clock()
    out = Resolver(nameserver, hold_s=60)
    await asyncio.gather(*(out(BORIS, f"{number}.example", 443) for number in range(10)))
    assert clock() - began < 30  # nothing is held for names that lead somewhere


def test_a_name_that_hangs_does_not_keep_a_process_from_its_end(nameserver: Nameserver) -> None:
    async def hang() -> None:
        resolving = asyncio.create_task(Resolver(nameserver)(ANNA, "slow.example", 443))
        await eventually(lambda: len(nameserver.asked) == 1)
        resolving.cancel()

    asyncio.run(hang())
    [thread] = [each for each in threading.enumerate() if each.name == "lookup"]
    assert thread.daemon
    nameserver.opened.set()
    thread.join()  # an error in it would be a warning


async def test_the_system_is_asked_for_all_addresses() -> None:
    assert set(await Resolver()(ANNA, "localhost", 443)) <= {"127.0.0.1", "::1"}


async def test_where_the_system_gives_no_thread_the_share_stays_whole(
    nameserver: Nameserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = Resolver(nameserver)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    hanging = [asyncio.create_task(resolve(ANNA, f"slow-{number}.example", 443)) for number in range(SHARE - 1)]
    await eventually(lambda: len(nameserver.asked) == SHARE - 1)
    async with asyncio.timeout(5):
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refuse)
            for _ in range(SHARE):
                with pytest.raises(TooManyLookups):
                    await resolve(ANNA, "bots.example", 443)
        assert await resolve(ANNA, "bots.example", 443) == ["127.0.0.1"]
    nameserver.opened.set()
    await asyncio.gather(*hanging)
