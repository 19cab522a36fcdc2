"""The Celery worker: its settings, its two tasks, and how it reports that it is alive.

Messages are acknowledged before the job runs: the sweep repeats what is lost, sooner than a redelivery would come.
"""

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import celery.worker.request
import redis
from celery import Celery, bootsteps, signals
from celery.utils.log import get_multiprocessing_logger
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown

from infra.jobs import DELIVER, TEND, celery_client
from infra.presence import BELIEVED_MS, EVERY_S, key_of
from infra.roll import KEYS, SCRIPT, Caller
from infra.settings import Settings
from infra.watching.logs import told
from infra.watching.vital import Vital
from services.outcomes import Busy
from services.ports import Unavailable
from workers.at_hand import put_down
from workers.delivering import Sending
from workers.jobs import Desk, die_with

_RECONNECT_S = 0.2
_RECONNECT_AT_MOST_S = 1.0
_PREFETCHED = 4  # messages that wait in the worker for each of its pool processes

_log = logging.getLogger(__name__)


def worker_app(settings: Settings, vital: Vital, let_go_of_port: Callable[[], None] = lambda: None) -> Celery:
    """Is the application with `shanghai.tend(game_id)`, `shanghai.deliver(webhook_id)` and what its worker needs.

    vital: is told when the worker can work; let_go_of_port: called in each pool process.
    """
    app = celery_client(settings.broker_url)
    app.conf.update(
        task_acks_late=False,
        worker_prefetch_multiplier=_PREFETCHED,
        worker_enable_prefetch_count_reduction=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_consumer="workers.celery_app:ReconnectingConsumer",
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # Redis is not told what lies in a worker, since the sweep repeats that sooner: four of five commands of a job.
        broker_transport_options={**app.conf.broker_transport_options, "ack_emulation": False},
    )
    app.steps["consumer"].add(Heartbeat)
    app.conf.presence_url = settings.limits_url
    app.conf.vital = vital
    _serve(app, settings, let_go_of_port)
    return app


class ReconnectingConsumer(Consumer):  # type: ignore[misc]
    """Looks for a vanished broker every second at least; Celery would look every half minute.

    What lay in the worker then is left to the sweep; Celery would try to give it back, and write it to a file.
    """

    def on_connection_error_after_connected(self, error: Exception) -> None:
        """Is called when the broker is lost."""
        if self.task_consumer is not None:
            self.task_consumer.channel.do_restore = False
        super().on_connection_error_after_connected(error)

    def ensure_connected(self, connection: Any) -> Any:
        def tell(error: BaseException, _interval: float) -> None:
            _log.warning("the broker is away: %s", told(error))
            self.app.conf.vital.turned()

        return connection.ensure_connection(
            tell,
            interval_start=_RECONNECT_S,
            interval_step=_RECONNECT_S,
            interval_max=_RECONNECT_AT_MOST_S,
            callback=maybe_shutdown,
        )


class Request(celery.worker.request.Request):  # type: ignore[misc]
    """Takes a failed acknowledgement for what it is, a lost broker.

    Celery would log it and go on, with the message counted as under way for ever: after `_PREFETCHED` of them the
    worker takes no more, nor does it notice that the broker is gone.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{**options, "connection_errors": ()})


class Heartbeat(bootsteps.StartStopStep):  # type: ignore[misc]
    """Reports the worker alive, and on the roll, as long as its event loop turns and it is connected to the broker.

    Alive to the API only where it serves games: one that serves webhooks alone is not what the bots wait for.
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Consumer, **options: Any) -> None:
        super().__init__(consumer, **options)
        url = consumer.app.conf.presence_url
        self._vital: Vital = consumer.app.conf.vital
        self._bus = redis.Redis.from_url(url, socket_connect_timeout=0.5, socket_timeout=0.5, retry=None)
        self._caller = Caller("worker", lambda: self._vital.role)
        self._timer: Any = None
        self._serves_games = TEND.queue in consumer.app.amqp.queues.consume_from

    def start(self, consumer: Consumer) -> None:
        """Is called with each connection to the broker."""
        self._beat()
        self._timer = consumer.timer.call_repeatedly(EVERY_S, self._beat)

    def stop(self, _consumer: Consumer) -> None:
        """Is called when the connection is lost, too."""
        self._vital.lost()
        with suppress(redis.RedisError):
            self._bus.eval(SCRIPT, len(KEYS), *self._caller.ended())
        if self._timer is not None:
            self._timer.cancel()

    def _beat(self) -> None:
        self._vital.turned()
        self._vital.works()
        try:
            if self._serves_games:
                self._bus.set(key_of("worker"), 1, px=BELIEVED_MS)
            self._bus.eval(SCRIPT, len(KEYS), *self._caller.alive())
        except redis.RedisError as lost:
            _log.debug("the bus is away: %s", told(lost))


def _serve(app: Celery, settings: Settings, let_go_of_port: Callable[[], None]) -> None:
    """Registers the tasks; each pool process opens its desk when the first job comes."""
    desk: Desk | None = None
    sending = Sending(settings)
    main_process = os.getpid()

    def tend(game_id: str) -> None:
        nonlocal desk
        desk = desk or Desk(settings)
        try:
            desk.tend(game_id)
        except (Busy, Unavailable) as error:
            _log.warning("game %s is left to the sweep: %s", game_id, told(error))

    def deliver(webhook_id: str) -> None:
        sending.take(webhook_id)

    def begin(**_: Any) -> None:
        die_with(main_process)
        let_go_of_port()

    def end(**_: Any) -> None:
        sending.close()
        if desk is not None:
            desk.close()

    app.task(tend, name=TEND.name, Request="workers.celery_app:Request")
    app.task(deliver, name=DELIVER.name, Request="workers.celery_app:Request")
    signals.setup_logging.connect(_leave_logging_alone, weak=False)
    signals.task_postrun.connect(put_down, weak=False)
    signals.worker_process_init.connect(begin, weak=False)
    signals.worker_process_shutdown.connect(end, weak=False)


def _leave_logging_alone(**_: Any) -> None:
    """Is asked by Celery before it would set up lines of its own; those of its pool go where all others go."""
    get_multiprocessing_logger().propagate = True
