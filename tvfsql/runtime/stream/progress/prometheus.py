"""Metrics of streams for Prometheus to scrape, served by its own client library."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from socketserver import ThreadingMixIn
from typing import Any
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from tvfsql.errors import DataError
from tvfsql.runtime.stream.progress.metrics import Metrics

LOOPBACK = "127.0.0.1"
HOSTS = (LOOPBACK, "localhost", "::1")
HELP = {
    "rows_in": "rows read",
    "rows_out": "rows written",
    "late_rows_dropped": "rows dropped because they were late for all their windows",
    "null_time_rows_dropped": "rows dropped because their time was NULL",
    "null_time_rows_skipped": "rows in no window because their time was NULL",
    "source_files_missing": "files deleted before they were read",
    "dead_letters": "rows and messages that could not be read",
    "micro_batches": "micro-batches completed",
    "micro_batch_seconds": "time that completed micro-batches took",
    "micro_batches_unreported": "micro-batches that were not counted because of a kill",
    "last_micro_batch_seconds": "time that the last micro-batch took",
    "open_slices": "open slices in the key group with most of them",
    "state_rows": "rows in state",
    "state_bytes": "bytes in state",
    "watermark": "lowest watermark of all operators, as a Unix time",
    "watermark_lag_seconds": "time from that watermark to the end of the last micro-batch",
    "window_delay_seconds": "time from the end of the oldest window that fired last to the end of its micro-batch",
}
OF_CHANNELS = {
    "watermark": "watermark of a table or of one of its partitions, as a Unix time",
    "watermark_lag_seconds": "time from that watermark to the end of the last micro-batch",
}


def serve(port: int, known: Callable[[], Iterable[Metrics]]) -> int:
    """Serve the metrics that `known` returns on loopback until the process ends. Returns the port.

    Port 0 picks a free one. Raises DataError if prometheus-client is missing, or if the port is taken.
    """
    try:
        from prometheus_client import CollectorRegistry, make_wsgi_app
    except ImportError as error:
        raise DataError(
            "--metrics-port needs the package prometheus-client", hint="pip install 'tvfsql[metrics]'"
        ) from error
    registry = CollectorRegistry()
    registry.register(_Collector(known))
    try:
        server = make_server(LOOPBACK, port, _of_this_machine(make_wsgi_app(registry)), _Server, _Quiet)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"port {port} cannot be opened: {reason}", hint="--metrics-port 0 picks a free one") from error
    threading.Thread(target=server.serve_forever, name="tvfsql-metrics", daemon=True).start()
    return int(server.server_port)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Do not log requests."""


def _of_this_machine(answer: WSGIApplication) -> WSGIApplication:
    """The application for requests that name this machine as their host. A page of another site, whose name was made to
    resolve to this machine, names that site."""

    def checked(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if urlsplit(f"//{environ.get('HTTP_HOST', '')}").hostname in HOSTS:
            return answer(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "text/plain")])
        return [b"the host of the request is not this machine"]

    return checked


class _Collector:
    """Collects the metrics at each scrape."""

    def __init__(self, known: Callable[[], Iterable[Metrics]]) -> None:
        self.known = known

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        every = [*self.known()]
        for name, help in HELP.items():
            sums = [(one.stream, one.sums[name]) for one in every if name in one.sums]
            latest = [(one.stream, one.latest[name]) for one in every if name in one.latest]
            for kind, found in ((CounterMetricFamily, sums), (GaugeMetricFamily, latest)):
                if found:
                    family = kind(f"tvfsql_{name}", help, labels=["stream"])
                    for stream, value in found:
                        family.add_metric([stream], value)
                    yield family
        for name, help in OF_CHANNELS.items():
            family = GaugeMetricFamily(f"tvfsql_channel_{name}", help, labels=["stream", "table", "partition"])
            for one in every:
                for channel in one.channels:
                    if name in channel:
                        labels = [one.stream, channel["table"], channel["partition"] or ""]
                        family.add_metric(labels, channel[name])
            if family.samples:
                yield family
