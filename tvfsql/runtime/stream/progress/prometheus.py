"""Metrics of streams for Prometheus to scrape, through its own client library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tvfsql.errors import DataError
from tvfsql.runtime.stream.progress.metrics import Metrics

LOOPBACK = "127.0.0.1"
TOLD = {
    "rows_in": "rows read",
    "rows_out": "rows written",
    "late_rows_dropped": "rows dropped as they were late for all their windows",
    "null_time_rows_dropped": "rows dropped as their time was NULL",
    "null_time_rows_skipped": "rows in no window as their time was NULL",
    "source_files_missing": "files deleted before they were read",
    "dead_letters": "rows and messages that could not be read",
    "micro_batches": "micro-batches completed",
    "micro_batch_seconds": "time that they took",
    "micro_batches_unreported": "micro-batches that a kill kept from being counted",
    "last_micro_batch_seconds": "time that the last one took",
    "open_slices": "slices that are open in the key group that has most of them",
    "state_rows": "rows in state",
    "state_bytes": "bytes in state",
    "watermark": "watermark of the operator that is furthest behind, as a Unix time",
    "watermark_lag_seconds": "how far that was behind the end of the last micro-batch",
}


def serve(port: int, known: Callable[[], Iterable[Metrics]]) -> int:
    """Serve the metrics of `known` on loopback until the process ends. Returns the port; 0 takes a free one. Raises
    DataError if prometheus-client is missing, or the port is taken."""
    try:
        from prometheus_client import CollectorRegistry, start_http_server
    except ImportError as error:
        raise DataError(
            "--metrics-port needs the package prometheus-client", hint="pip install 'tvfsql[metrics]'"
        ) from error
    registry = CollectorRegistry()
    registry.register(_Collector(known))
    try:
        server, _ = start_http_server(port, LOOPBACK, registry)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"port {port} cannot be opened: {reason}", hint="--metrics-port with another one") from error
    return int(server.server_port)


class _Collector:
    """What the registry asks at each scrape."""

    def __init__(self, known: Callable[[], Iterable[Metrics]]) -> None:
        self.known = known

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        every = [*self.known()]
        for name, help in TOLD.items():
            sums = [(one.stream, one.sums[name]) for one in every if name in one.sums]
            latest = [(one.stream, one.latest[name]) for one in every if name in one.latest]
            for kind, found in ((CounterMetricFamily, sums), (GaugeMetricFamily, latest)):
                if found:
                    family = kind(f"tvfsql_{name}", help, labels=["stream"])
                    for stream, value in found:
                        family.add_metric([stream], value)
                    yield family
