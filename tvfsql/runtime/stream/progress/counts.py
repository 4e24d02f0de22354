"""The counters of streams, added up from the progress reports of their micro-batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, takewhile
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from tvfsql.plan.values.times import instant_text
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.backfill import FOLDER as HISTORY
from tvfsql.runtime.stream.progress.operators import OperatorCounts
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.execution import REPORTS

Progress = Mapping[str, Any]  # what Spark reports of a micro-batch
TableReport = Mapping[str, Any]  # what the task of a source reports: `operator.messages`

OF_FILES = "FileStreamSource"  # how Spark's reports describe files
OBSERVED = "tvfsql"  # prefix of the names of our observed metrics
ADDED = (
    "rowsOut",
    "numLateRecordsDropped",
    "numNullRowTimeRecordsDropped",
    "numNullRowTimeRecordsSkipped",
)
MISSING, DEAD_LETTERS, ADJUSTED = "numSourceFilesMissing", "numDeadLetters", "numLateRecordsAdjusted"
LATE, LATE_WRITTEN = "numLateRecordsDropped", "numLateRecordsWritten"
LATE_RIGHT, LATE_VERSIONS = "numLateRecordsDroppedRight", "numLateVersions"
IF_ANY = (
    MISSING,
    DEAD_LETTERS,
    ADJUSTED,
    LATE_WRITTEN,
    LATE_RIGHT,
    LATE_VERSIONS,
)  # counters that are left out if they are 0
LATEST = ("watermark", "nextWindow", "newestWindow", "openSlices", "openWindows", "stateRows", "stateBytes", "due")

Sent = dict[int, int]  # rows written to several tables by micro-batch, since the progress report lacks their number
_sent: ContextVar[Sent | None] = ContextVar("sent", default=None)


@contextmanager
def counting(sent: Sent) -> Iterator[None]:
    """Queries that are built inside this block count their rows in `sent`."""
    before = _sent.set(sent)
    try:
        yield
    finally:
        _sent.reset(before)


def counter() -> Sent | None:
    """Where the query that is being built counts its rows; None: outside `counting`."""
    return _sent.get()


def counted_out(rows: DataFrame) -> DataFrame:
    """The same rows. The stream's progress reports their number as rowsOut, for sinks that do not count them."""
    return rows.observe(f"{OBSERVED}_out", F.count(F.lit(1)).alias("rowsOut"))


class StreamCounts:
    """The counters of one stream. Those in LATEST are kept per operator, as of the last micro-batch. With `keeps_late`
    late rows go into tables and are not dropped. `of_files`: how many micro-batches read files."""

    def __init__(self, *, keeps_late: bool = False) -> None:
        self.keeps_late, self.of_files = keeps_late, 0
        self.added = dict.fromkeys(("rowsIn", *ADDED, *IF_ANY), 0)
        self.latest: dict[str, dict[str, int]] = {}
        self.zones: dict[str, str] = {}  # of the windows of each operator; "": their times have none
        self.operators = OperatorCounts()
        self.sent: Sent = {}

    def take(self, progress: Progress, control: Place, again: int = 0) -> None:
        """Add the report of one micro-batch. The rows of the control channel, whose folder is `control`, are not
        counted, nor are `again`: rows that were reported twice."""
        reports = table_reports(progress, control)
        tables = [source["numInputRows"] for source in reports]
        self.of_files += any(each["numInputRows"] and each["description"].startswith(OF_FILES) for each in reports)
        self.added["rowsIn"] += sum(tables) - again
        self.operators.take_table_rows(tables)
        for operator, metrics in (progress["observedMetrics"] or {}).items():
            if operator.startswith(OBSERVED):
                known = {name: value for name, value in _by_name(metrics).items() if value is not None}
                known |= operator_counters(known.pop(REPORTS, ()))
                self.operators.take(operator, known)
                if self.keeps_late:
                    known |= {LATE: 0, LATE_RIGHT: 0, LATE_WRITTEN: known.get(LATE, 0)}
                for name in (*ADDED, *IF_ANY):
                    self.added[name] += int(known.get(name, 0))
                latest = {name: int(known[name]) for name in LATEST if name in known}
                if latest:
                    self.latest[operator] = latest
                    self.zones[operator] = str(known.get("zone", ""))
        self.added["rowsOut"] += self.sent.pop(progress.get("batchId", -1), 0) + _counted_by_sink(progress)

    def latest_in(self, progress: Progress) -> dict[str, dict[str, int]]:
        """The counters in LATEST of the operators that a micro-batch, the last one taken, has called."""
        observed = progress["observedMetrics"] or {}
        return {operator: known for operator, known in self.latest.items() if operator in observed}


def _counted_by_sink(progress: Progress) -> int:
    """The rows that a sink of Spark has counted; 0 for sinks that do not count, whose rows are observed."""
    observed = f"{OBSERVED}_out" in (progress["observedMetrics"] or {})
    return 0 if observed else max(0, progress["sink"]["numOutputRows"])


def _by_name(metrics: Row) -> dict[str, Any]:
    """The values of observed metrics by name. Spark Connect has them in two fields, `values` and `schema`."""
    found = metrics.asDict()
    if found.keys() != {"values", "schema"}:
        return found
    return dict(zip((field["name"] for field in found["schema"]["fields"]), found["values"], strict=True))


def new_reports(query: StreamingQuery, seen: int | None) -> list[StreamingQueryProgress]:
    """The reports of the micro-batches after `seen`, without reports of triggers that found nothing to do."""
    last = query.lastProgress
    if last is None:
        return []
    newest = last["batchId"] if _ran(last) else last["batchId"] - 1
    if newest == seen:
        return []
    if _ran(last) and newest - 1 == seen:
        return [last]
    return [each for each in _since(query, seen) if _ran(each)]


def _since(query: StreamingQuery, seen: int | None) -> list[StreamingQueryProgress]:
    """The reports after that of micro-batch `seen`. Spark keeps 100 or more of them, and to take one out of Java costs
    milliseconds: if all were, the next micro-batches would have ended meanwhile, and all would be taken again.
    """
    if (java := getattr(query, "_jsq", None)) is None:  # Spark Connect
        return [each for each in query.recentProgress if seen is None or each["batchId"] > seen]
    kept = java.recentProgress()
    new = takewhile(lambda each: seen is None or each.batchId() > seen, (kept[-i] for i in range(1, len(kept) + 1)))
    return [StreamingQueryProgress.fromJson(json.loads(each.json())) for each in new][::-1]


def _ran(progress: StreamingQueryProgress) -> bool:
    return "addBatch" in progress["durationMs"]


def table_reports(progress: Progress, control: Place) -> list[TableReport]:
    """The reports of the sources that are tables, in the order in which the query reads them."""
    return [source for source in progress["sources"] if not is_own(source["description"], control)]


def is_own(source: str, control: Place) -> bool:
    """Whether Spark describes so a source within the checkpoint: the control channel, or a history that was read
    before.
    """
    return source.endswith(f"{control}]") or f"{control.parent / HISTORY}/" in source


def totals(counts: Iterable[StreamCounts]) -> dict[str, int]:
    """The combined counters of several streams.

    These are rowsIn, those in ADDED, watermark, stateRows, stateBytes, and those in IF_ANY that are not 0. `watermark`
    (epoch ms) is the lowest of all window operators. Without window operators, it and the size of the state are left
    out. Source: semantics.md#counters.
    """
    every = list(counts)
    found = {name: sum(each.added[name] for each in every) for name in ("rowsIn", *ADDED)}
    for name in IF_ANY:
        if count := sum(each.added[name] for each in every):
            found[name] = count
    for name, merge in (("watermark", min), ("stateRows", sum), ("stateBytes", sum)):
        latest = _latest(every, name)
        if latest:
            found[name] = merge(latest)
    return found


def newest_window(counts: Iterable[StreamCounts]) -> int | None:
    """The end (epoch ms) of the last open window; None: no window is open."""
    return max(_latest(counts, "newestWindow"), default=None)


def waits_until(counts: Iterable[StreamCounts]) -> int | None:
    """The time (epoch ms) at which no operator waits for a time any more; None: none waits."""
    return max((*_latest(counts := [*counts], "newestWindow"), *_latest(counts, "due")), default=None)


def due(counts: Iterable[StreamCounts]) -> int | None:
    """The first time (epoch ms) at which an operator must be called even without rows; None: no operator waits for a
    time."""
    return min(_latest(counts, "due"), default=None)


def open_windows(counts: Iterable[StreamCounts]) -> int:
    """The number of open windows of all operators whose windows are those of all keys, as far as they are told
    apart."""
    return sum(_latest(counts, "openWindows"))


def open_slices(counts: Iterable[StreamCounts]) -> int:
    """The number of open slices of all window operators."""
    return sum(_latest(counts, "openSlices"))


def lowest_watermark(counts: Iterable[StreamCounts]) -> tuple[int, str] | None:
    """The lowest watermark of all window operators (epoch ms), and the zone of its windows; "": their times have none.
    None: there is no window operator."""
    found = (
        (of["watermark"], each.zones.get(name, ""))
        for each in counts
        for name, of in [*each.latest.items()]
        if "watermark" in of
    )
    return min(found, default=None)


def watermark_text(ms: int, zone: str) -> str:
    """A watermark for people, on the clock of its windows: `2020-04-15 08:20:00.000`, or `end of input`. `zone` is that
    of the windows; "": their times have none."""
    return "end of input" if ms >= END_OF_INPUT else instant_text(ms, zone or "UTC")


def _latest(counts: Iterable[StreamCounts], name: str) -> list[int]:
    return [of[name] for each in counts for of in list(each.latest.values()) if name in of]


# The counters of a stateful operator in a micro-batch, from what its key groups report.


_SUMS = {
    "rowsIn": "rows_in",
    "windowsOut": "rows_out",
    "numLateRecordsDropped": "late",
    "numLateRecordsDroppedRight": "late_right",
    "numLateRecordsAdjusted": "adjusted",
    "numLateVersions": "late_versions",
    "stateRows": "state_rows",
    "stateBytes": "state_bytes",
}
_MAXIMA = {
    "watermark": "watermark",
    "newestWindow": "newest_end",
    "openSlices": "open_slices",
    "channels": "channels",
    "zone": "zone",
}
_MINIMA = {"due": "due", "firedEnd": "fired_end", "nextWindow": "next_end"}
_NUMBERS = {"openWindows": "open_ends"}
MERGES: tuple[tuple[Mapping[str, str], Callable[[list[Any]], Any]], ...] = (
    (_SUMS, sum),
    (_MAXIMA, max),
    (_MINIMA, min),
    (_NUMBERS, lambda values: len({*chain(*values)})),
)


def operator_counters(reports: Iterable[str]) -> dict[str, Any]:
    """The counters of all key groups together. Those that no key group reports are left out.

    `reports` are JSON objects with the fields of `operator.messages.Report`.

    rowsIn, numLateRecordsDropped, numLateRecordsDroppedRight (of the second input), numLateVersions,
    numLateRecordsAdjusted. windowsOut: the rows that were emitted. stateRows, stateBytes. watermark. newestWindow: the
    end of the last open window. nextWindow: that of the next one to fire. openWindows: the open windows, as far as they
    are told apart. openSlices: the largest number in one key group. due: when the operator must be called even without
    rows. firedEnd: the end of the oldest window that fired at its end. channels: the same in all key groups, as JSON;
    zone: that of its windows. Times are epoch ms.
    """
    groups = [json.loads(report) for report in reports]
    found: dict[str, Any] = {}
    for names, merge in MERGES:
        for name, of in names.items():
            values = [group[of] for group in groups if group.get(of) is not None]
            if values:
                found[name] = merge(values)
    return found
