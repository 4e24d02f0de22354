"""What streams have done so far, added up from the progress reports of their micro-batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.runtime.stream.control import END_OF_INPUT

OBSERVED = "tvfsql"  # how the names begin under which operators tell what they did
ADDED = (
    "rowsOut",
    "numLateRecordsDropped",
    "numNullRowTimeRecordsDropped",
    "numNullRowTimeRecordsSkipped",
)
LATEST = ("watermark", "newestWindow", "openSlices", "stateRows", "stateBytes", "due")


_given: dict[tuple[str, int], int] = {}  # rows that went to several tables, by control folder and micro-batch


def counted_out(rows: DataFrame) -> DataFrame:
    """The rows, unchanged; how many a stream gives out is in its progress as rowsOut."""
    return rows.observe(f"{OBSERVED}_out", F.count(F.lit(1)).alias("rowsOut"))


def count_given(control: str, number: int, rows: int) -> None:
    """The same of a micro-batch whose rows go to several tables, which its progress does not tell."""
    _given[control, number] = rows


class Counts:
    """The counters of one stream. What operators hold is as of the last micro-batch, per operator."""

    def __init__(self) -> None:
        self.added = dict.fromkeys(("rowsIn", *ADDED), 0)
        self.latest: dict[str, dict[str, int]] = {}

    def take(self, progress: Mapping[str, Any], control: Path) -> None:
        """Add the report of one micro-batch. `control` is the stream's channel, whose rows are none of the source."""
        self.added["rowsIn"] += sum(source["numInputRows"] for source in of_tables(progress, control))
        for operator, metrics in (progress["observedMetrics"] or {}).items():
            if operator.startswith(OBSERVED):
                known = {name: value for name, value in metrics.asDict().items() if value is not None}
                for name in ADDED:
                    self.added[name] += int(known.get(name, 0))
                held = {name: int(known[name]) for name in LATEST if name in known}
                if held:
                    self.latest[operator] = held
        self.added["rowsOut"] += _given.pop((str(control.absolute()), progress.get("batchId", -1)), 0)


def of_tables(progress: Mapping[str, Any], control: Path) -> list[Any]:
    """What a report says of the sources that are tables, in the order in which the query reads them."""
    return [source for source in progress["sources"] if not source["description"].endswith(f"{control.absolute()}]")]


def totals(counts: Iterable[Counts]) -> dict[str, int]:
    """The counters of several streams as one: rowsIn, those of ADDED, watermark, stateRows, stateBytes.

    `watermark` (epoch ms) is that of the window operator that is furthest behind; it and the state's size
    are left out where there is no window operator. Source: semantics.md (e).
    """
    every = list(counts)
    found = {name: sum(each.added[name] for each in every) for name in ("rowsIn", *ADDED)}
    for name, merge in (("watermark", min), ("stateRows", sum), ("stateBytes", sum)):
        held = _held(every, name)
        if held:
            found[name] = merge(held)
    return found


def newest_window(counts: Iterable[Counts]) -> int | None:
    """The end (epoch ms) of the newest window that is open; None if none is."""
    return max(_held(counts, "newestWindow"), default=None)


def due(counts: Iterable[Counts]) -> int | None:
    """The first time (epoch ms) at which an operator wants to be called though no rows come; None if none does."""
    return min(_held(counts, "due"), default=None)


def open_slices(counts: Iterable[Counts]) -> int:
    """How many slices are open, of all window operators."""
    return sum(_held(counts, "openSlices"))


def time_text(ms: int) -> str:
    """A watermark as people write it: `2020-04-15 08:20:00.000`."""
    if ms >= END_OF_INPUT:
        return "end of input"
    return datetime.fromtimestamp(ms / 1000, UTC).replace(tzinfo=None).isoformat(" ", "milliseconds")


def _held(counts: Iterable[Counts], name: str) -> list[int]:
    return [held[name] for each in counts for held in list(each.latest.values()) if name in held]
