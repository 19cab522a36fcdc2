"""The way to the Celery workers: tasks whose only argument is the id of a game, or of a webhook."""

import asyncio
import base64
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import msgspec
from celery import Celery
from kombu import entity
from kombu.exceptions import OperationalError
from redis.exceptions import ResponseError

from infra.bus.on_demand import LastingWire
from infra.bus.wire import Wire, words
from services.ports import Jobs, Unavailable


class Task(NamedTuple):
    """A kind of job and the queue that it waits in."""

    name: str
    queue: str


QUEUE = "shanghai"
TEND = Task("shanghai.tend", QUEUE)
DELIVER = Task("shanghai.deliver", "shanghai.webhooks")
QUEUES = {"games": TEND.queue, "webhooks": DELIVER.queue}
"""What a worker may be asked to serve."""
QUEUED_AT_MOST = 10_000  # without workers the sweep would fill the broker; what is dropped, it repeats
_CONNECT_S = 1.0
_NO_QUEUE = "404"  # nobody has handed out or asked for a job yet
_queue: Any = entity.Queue  # kombu has no types


class ClosableJobs(Jobs, Protocol):
    """Jobs with a connection to the broker."""

    async def close(self) -> None:
        """Closes the connection."""
        ...


def open_jobs(broker_url: str, task: Task = TEND) -> ClosableJobs:
    """Picks the way to the broker; it is connected when it is used first."""
    return RedisJobs(broker_url, task) if "redis" in urlsplit(broker_url).scheme else CeleryJobs(broker_url, task)


def celery_client(broker_url: str) -> Celery:
    """Is the Celery application as both sides know it. It keeps no results; nothing waits long for the broker."""
    app = Celery("shanghai", broker=broker_url, set_as_current=False)
    app.conf.update(
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_default_queue=QUEUE,
        task_queues=[
            _queue(name, routing_key=name, queue_arguments={"x-max-length": QUEUED_AT_MOST}) for name in QUEUES.values()
        ],
        broker_connection_timeout=_CONNECT_S,
        broker_transport_options={"socket_connect_timeout": _CONNECT_S, "socket_keepalive": True},
    )
    return app


class CeleryJobs:
    """Jobs through Celery's own client, for any broker that Celery knows; it blocks, so a thread does it."""

    def __init__(self, broker_url: str, task: Task = TEND) -> None:
        self._task = task
        self._app = celery_client(broker_url)
        self._connection = self._app.connection_for_write()  # connects when it is used first
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="broker")

    async def hand_out(self, *subject_ids: str) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._send, subject_ids)

    async def length(self) -> int:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._length)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown()
        self._app.close()

    def _send(self, subject_ids: Iterable[str]) -> None:
        with self._lost_is_unavailable():
            for subject_id in subject_ids:
                self._app.send_task(
                    self._task.name,
                    (subject_id,),
                    queue=self._task.queue,
                    connection=self._connection,
                    retry=False,
                    ignore_result=True,
                )

    def _length(self) -> int:
        with self._lost_is_unavailable():
            try:
                return int(self._connection.default_channel.queue_declare(self._task.queue, passive=True).message_count)
            except self._connection.channel_errors as error:
                if str(getattr(error, "reply_code", "")) != _NO_QUEUE:
                    raise
                self._connection.close()  # the broker has closed the channel; the next call opens another
                return 0

    @contextmanager
    def _lost_is_unavailable(self) -> Iterator[None]:
        lost = (OperationalError, *self._connection.connection_errors, *self._connection.channel_errors)
        try:
            yield
        except lost as error:
            self._connection.close()
            self._connection = self._app.connection_for_write()
            raise Unavailable(words(error)) from error


class RedisJobs:
    """Jobs through one LPUSH for all that are handed out together.

    They are written as Celery's client writes them, forty times cheaper than by asking it.
    """

    def __init__(self, broker_url: str, task: Task = TEND) -> None:
        self._queue = task.queue
        self._wire = LastingWire(redis_url(broker_url))
        self._message = _message_writer(task, f"{os.getpid()}@shanghai")

    async def hand_out(self, *subject_ids: str) -> None:
        messages = [self._message(subject_id) for subject_id in subject_ids]
        await self._wire.use(lambda wire: self._push(wire, messages))

    async def length(self) -> int:
        return await self._wire.use(self._count)

    async def close(self) -> None:
        await self._wire.close()

    async def _count(self, wire: Wire) -> int:
        try:
            return int(await wire.call("LLEN", self._queue))
        except ResponseError as error:
            raise Unavailable(words(error)) from error

    async def _push(self, wire: Wire, messages: Iterable[bytes]) -> None:
        try:
            if await wire.call("LPUSH", self._queue, *messages) > QUEUED_AT_MOST:
                await wire.call("LTRIM", self._queue, 0, QUEUED_AT_MOST - 1)
        except ResponseError as full:
            raise Unavailable(words(full)) from full


def _message_writer(task: Task, origin: str) -> Callable[[str], bytes]:
    """Gives a function from an id to a message in Celery's protocol 2, as kombu lays it into a Redis list."""

    def write(subject_id: str) -> bytes:
        task_id, body = str(uuid4()), [[subject_id], {}, {}]
        headers: dict[str, Any] = {"lang": "py", "task": task.name, "id": task_id, "root_id": task_id, "origin": origin}
        properties = {
            "correlation_id": task_id,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": task.queue},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": str(uuid4()),
        }
        return msgspec.json.encode(
            {
                "body": base64.b64encode(msgspec.json.encode(body)).decode(),
                "content-encoding": "utf-8",
                "content-type": "application/json",
                "headers": headers,
                "properties": properties,
            }
        )

    return write


async def ping_broker(broker_url: str) -> None:
    """Connects to any broker that Celery knows, and leaves. Errors: Unavailable."""
    app = celery_client(broker_url)

    def connect() -> None:
        with app.connection_for_write() as connection:
            try:
                connection.ensure_connection(max_retries=1, timeout=_CONNECT_S)
            except (OperationalError, *connection.connection_errors) as error:
                raise Unavailable(str(error)) from error

    try:
        await asyncio.to_thread(connect)
    finally:
        app.close()


def redis_url(broker_url: str) -> str:
    """Spells Celery's unix socket as redis-py does."""
    parts = urlsplit(broker_url)
    if parts.scheme != "redis+socket":
        return broker_url
    number = parse_qs(parts.query).get("virtual_host", ["0"])[0]
    return f"unix://{parts.netloc}{parts.path}?db={number}"
