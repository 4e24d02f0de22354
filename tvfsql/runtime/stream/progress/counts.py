"""What streams have done so far, added up from the progress reports of their micro-batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

OBSERVED = "tvfsql"  # how the names begin under which operators tell what they did
ADDED = (
    "rowsOut",
    "numLateRecordsDropped",
    "numNullRowTimeRecordsDropped",
    "numNullRowTimeRecordsSkipped",
)
MISSING, DEAD_LETTERS = "numSourceFilesMissing", "numDeadLetters"
LATEST = ("watermark", "newestWindow", "openSlices", "stateRows", "stateBytes", "due")

Sent = dict[int, int]  # by micro-batch the rows that went to several tables, which its progress report does not tell
_sent: ContextVar[Sent | None] = ContextVar("sent", default=None)


@contextmanager
def counting(sent: Sent) -> Iterator[None]:
    """What is built in here counts in `sent`."""
    before = _sent.set(sent)
    try:
        yield
    finally:
        _sent.reset(before)


def counter() -> Sent | None:
    """Where the query that is being built counts; None: nobody asks."""
    return _sent.get()


def counted_out(rows: DataFrame) -> DataFrame:
    """The rows, unchanged. Their number is in the progress of the stream as rowsOut."""
    return rows.observe(f"{OBSERVED}_out", F.count(F.lit(1)).alias("rowsOut"))


class StreamCounts:
    """The counters of one stream; those of LATEST are as of the last micro-batch, per operator."""

    def __init__(self) -> None:
        self.added = dict.fromkeys(("rowsIn", *ADDED, MISSING, DEAD_LETTERS), 0)
        self.latest: dict[str, dict[str, int]] = {}
        self.sent: Sent = {}

    def take(self, progress: Mapping[str, Any], control: Path) -> None:
        """Add the report of one micro-batch. `control` is the stream's channel, whose rows are none of the source."""
        self.added["rowsIn"] += sum(source["numInputRows"] for source in table_reports(progress, control))
        for operator, metrics in (progress["observedMetrics"] or {}).items():
            if operator.startswith(OBSERVED):
                known = {name: value for name, value in metrics.asDict().items() if value is not None}
                for name in (*ADDED, DEAD_LETTERS):
                    self.added[name] += int(known.get(name, 0))
                latest = {name: int(known[name]) for name in LATEST if name in known}
                if latest:
                    self.latest[operator] = latest
        self.added["rowsOut"] += self.sent.pop(progress.get("batchId", -1), 0)


def table_reports(progress: Mapping[str, Any], control: Path) -> list[Any]:
    """What a report says of the sources that are tables, in the order in which the query reads them."""
    return [source for source in progress["sources"] if not source["description"].endswith(f"{control.absolute()}]")]


def totals(counts: Iterable[StreamCounts]) -> dict[str, int]:
    """The counters of several streams as one: rowsIn, those of ADDED, watermark, stateRows, stateBytes, and
    numSourceFilesMissing and numDeadLetters if there are some.

    `watermark` (epoch ms) is that of the window operator that is furthest behind; it and the state's size
    are left out where there is no window operator. Source: semantics.md#counters.
    """
    every = list(counts)
    found = {name: sum(each.added[name] for each in every) for name in ("rowsIn", *ADDED)}
    for name in (MISSING, DEAD_LETTERS):
        if count := sum(each.added[name] for each in every):
            found[name] = count
    for name, merge in (("watermark", min), ("stateRows", sum), ("stateBytes", sum)):
        latest = _latest(every, name)
        if latest:
            found[name] = merge(latest)
    return found


def newest_window(counts: Iterable[StreamCounts]) -> int | None:
    """The end (epoch ms) of the newest window that is open; None if none is."""
    return max(_latest(counts, "newestWindow"), default=None)


def due(counts: Iterable[StreamCounts]) -> int | None:
    """The first time (epoch ms) at which an operator wants to be called though no rows come; None if none does."""
    return min(_latest(counts, "due"), default=None)


def open_slices(counts: Iterable[StreamCounts]) -> int:
    """How many slices are open, of all window operators."""
    return sum(_latest(counts, "openSlices"))


def time_text(ms: int) -> str:
    """A watermark as people write it: `2020-04-15 08:20:00.000`."""
    if ms >= END_OF_INPUT:
        return "end of input"
    return datetime.fromtimestamp(ms / 1000, UTC).replace(tzinfo=None).isoformat(" ", "milliseconds")


def _latest(counts: Iterable[StreamCounts], name: str) -> list[int]:
    return [of[name] for each in counts for of in list(each.latest.values()) if name in of]
