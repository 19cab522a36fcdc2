"""For those who run the server."""

from api import about
from api.operation import Operation

HEALTH: tuple[Operation, ...] = (
    Operation(id="isAlive", tag="Health", method="GET", path="/health/live", handler=about.is_alive),
    Operation(id="isReady", tag="Health", method="GET", path="/health/ready", handler=about.is_ready, also=(503,)),
    Operation(
        id="getMetrics", tag="Health", method="GET", path="/metrics", handler=about.get_metrics, scope="operate",
        media_types=("text/plain",),
    ),
)  # fmt: skip
