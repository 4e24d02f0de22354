"""`tvfsql run --ui`: the page of EXPLAIN with the figures of the streams that run, served on loopback."""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from tvfsql.api.explain import html
from tvfsql.api.page import waiting_page
from tvfsql.api.page.drawing import operators_of
from tvfsql.api.program import Program, Stages
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.values.times import instant_text
from tvfsql.runtime.stream.progress.counts import watermark_text

if TYPE_CHECKING:
    from tvfsql.runtime.stream.progress.metrics import Metrics

LOOPBACK = "127.0.0.1"
WATCHED, LAST_LOOK, SENT = 3.0, 2.0, 0.1  # seconds: since a browser asked, until it asks again, until it has the answer
KEPT = 300  # micro-batches of a stream that the page draws
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass
class LivePage:
    """The queries that have started, and the metrics of each stream after its last micro-batches."""

    active: Callable[[], bool] = lambda: False  # whether a stream runs
    program_of: Callable[[str], Program | None] = lambda stream: None
    zone: Callable[[], str] = lambda: "UTC"  # `table.local-time-zone`
    queries: list[Stages] = field(default_factory=list)
    batches: dict[str, deque[dict[str, Any]]] = field(default_factory=dict)
    places: dict[str, dict[str, Any]] = field(default_factory=dict)
    script: str = ""  # what the run was started with
    checkpoint: str = ""
    started: float = field(default_factory=time.time)  # epoch seconds
    failure: str = ""
    _html: str = field(default_factory=waiting_page)
    _asked: float = 0.0  # when a browser last asked for figures
    _told: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, queries: Sequence[Stages]) -> None:
        """Show queries that start now."""
        if queries:
            self.queries += queries
            self._html = html(self.queries, live=True)

    def take(self, metrics: Metrics) -> None:
        """Keep the metrics of a stream after a micro-batch."""
        with self._lock:
            figures = metrics.values | {
                "clocks": _clocks(metrics, self.zone()),
                "operators": {name: _with_clocks(each) for name, each in metrics.operators.operators.items()},
                "tables": metrics.operators.tables,
                "result": metrics.rows_out,
                "phases": metrics.phases,
            }
            self.batches.setdefault(metrics.stream, deque(maxlen=KEPT)).append(figures)
            program = self.program_of(metrics.stream)
            if program is not None and metrics.stream not in self.places:
                self.places[metrics.stream] = places(program, self.queries) | names(program)

    @property
    def html(self) -> str:
        return self._html

    @property
    def figures(self) -> dict[str, Any]:
        """What the page asks for again and again; see live.js."""
        with self._lock:
            streams = [
                {"name": name, "batches": [*batches], **self.places.get(name, {})}
                for name, batches in self.batches.items()
            ]
        told = {"script": self.script, "checkpoint": self.checkpoint, "started": self.started, "failure": self.failure}
        return {"queries": len(self.queries), "active": self.active(), "now": time.time(), **told, "streams": streams}

    def answer(self) -> dict[str, Any]:
        """The figures for a browser that asks."""
        self._asked, figures = time.time(), self.figures
        self._told.set()
        return figures

    def close(self, failure: str = "") -> None:
        """The run is over: give browsers that look at the page the time to ask how it ended."""
        self.failure = failure
        if time.time() - self._asked < WATCHED:
            self._told.clear()
            self._told.wait(LAST_LOOK)
            time.sleep(SENT)


def _clocks(metrics: Metrics, zone: str) -> dict[str, str]:
    """The texts of the end of a micro-batch and of the lowest watermark."""
    found = {"time": instant_text(round(metrics.time * 1000), zone)}
    mark = metrics.latest.get("watermark")
    return found if mark is None else found | {"watermark": watermark_text(round(mark * 1000), metrics.zone)}


def _with_clocks(operator: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of an operator, with the texts of its watermark and of those of its channels (None without one)."""

    def with_clock(found: Mapping[str, Any]) -> dict[str, Any]:
        mark = found.get("watermark")
        clock = None if mark is None else watermark_text(round(mark * 1000), operator.get("zone", ""))
        return {**found, "clock": "end of input" if found.get("ended") else clock}

    return {**with_clock(operator), "channels": [with_clock(each) for each in operator.get("channels", ())]}


def places(program: Program, queries: Sequence[Stages]) -> dict[str, Any]:
    """Where the figures of a stream belong on the page: the number of a query and of an operator in its physical plan.

    `operators`: those with state, by the name of their metrics. `tables`: its tables in the order in which they are
    read. `result`: the operator that returns or writes all rows; None: the stream fills several tables.
    """
    numbers = [next((i for i, shown in enumerate(queries) if shown.ast is query.ast), -1) for query in program.queries]
    found = [
        (number, *each)
        for number, q in zip(numbers, program.queries, strict=True)
        for each in enumerate(operators_of(q.physical))
    ]
    operators: dict[str, tuple[int, int]] = {}
    for name, operator in program.observed.items():
        free = ((n, i) for n, i, node in found if node == operator and (n, i) not in operators.values())
        if (place := next(free, None)) is not None:
            operators[name] = place
    tables = [(n, i) for n, i, node in found if isinstance(node, TableSourceScan) and node.streaming]
    return {
        "operators": operators,
        "tables": tables,
        "result": (numbers[0], 0) if len(numbers) == 1 else None,
    }


def names(program: Program) -> dict[str, list[str]]:
    """The tables that a stream reads, and those that it fills; a SELECT fills none."""
    scans = (node for q in program.queries for node in q.physical.walk() if isinstance(node, TableSourceScan))
    sinks = [query.sink.name for query in program.queries if query.sink is not None]
    return {"sources": [*dict.fromkeys(node.source.name for node in scans)], "sinks": sinks or ["what runs it"]}


def serve(page: LivePage) -> str:
    """Serve the page on a free port of loopback until the process ends. Returns its address.

    The address has a token, without which nothing is answered: other users of the machine can reach the port.
    """
    token = secrets.token_urlsafe(16)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            given = parse_qs(asked.query).get("token", [""])[0]
            if not hmac.compare_digest(given.encode(), token.encode()) or self.headers.get("Host") != host:
                self._answer(403, "text/plain", "the address needs its token")
            elif asked.path == "/":
                self._answer(200, "text/html", page.html)
            elif asked.path == "/figures":
                self._answer(200, "application/json", json.dumps(page.answer()))
            else:
                self._answer(404, "text/plain", "there is no such page")

        def _answer(self, status: int, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Do not log requests."""

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    host = f"{LOOPBACK}:{server.server_port}"
    threading.Thread(target=server.serve_forever, name="tvfsql-ui", daemon=True).start()
    return f"http://{host}/?token={token}"
