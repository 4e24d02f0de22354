"""The metrics of a stream: what it has done since its checkpoint was made, as of each micro-batch.

Sums are kept in the checkpoint, so they continue over restarts. A repeated micro-batch counts once, because only
completed ones report. Source: docs/streams.md#metrics.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from errno import ENOSPC
from typing import Any

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.progress.counts import (
    ADJUSTED,
    DEAD_LETTERS,
    LATE_VERSIONS,
    LATE_WRITTEN,
    MISSING,
    Progress,
    StreamCounts,
    lowest_watermark,
    open_slices,
    totals,
)
from tvfsql.runtime.stream.progress.kept_metrics import FILE, Point, sums_in, with_point
from tvfsql.runtime.stream.progress.operators import OperatorCounts
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

SUMS = {
    "rowsIn": "rows_in",
    "rowsOut": "rows_out",
    "numLateRecordsDropped": "late_rows_dropped",
    LATE_WRITTEN: "late_rows_written",
    ADJUSTED: "late_rows_adjusted",
    LATE_VERSIONS: "late_versions",
    "numNullRowTimeRecordsDropped": "null_time_rows_dropped",
    "numNullRowTimeRecordsSkipped": "null_time_rows_skipped",
    MISSING: "source_files_missing",
    DEAD_LETTERS: "dead_letters",
}
Report = Callable[["Metrics"], None]


@dataclass(frozen=True)
class Metrics:
    """The metrics of `stream` as of micro-batch `micro_batch`, which ended at `time` (epoch seconds).

    `sums` count from when the checkpoint was made: rows and files (SUMS), micro_batches, micro_batch_seconds, and
    micro_batches_unreported, those that were not counted because of a kill. `latest`: open_slices, state_rows,
    state_bytes, last_micro_batch_seconds. Until the input ends, streams with a watermark also have watermark (epoch
    seconds) and watermark_lag_seconds, the distance from the watermark to `time`. Once a window has fired at its end,
    window_delay_seconds is the time from that end to the end of the micro-batch: of the oldest one in the last
    micro-batch with such windows. `channels`: for each partition of each table, or for a whole table, its table,
    partition, watermark, watermark_lag_seconds and status (`ChannelState`). `operators` counts for each operator of
    this run; it is not a part of `values`.
    """

    stream: str
    micro_batch: int
    time: float
    sums: Mapping[str, float]
    latest: Mapping[str, float]
    operators: OperatorCounts = field(default_factory=OperatorCounts)
    rows_out: int = 0  # of this run
    channels: Sequence[Mapping[str, Any]] = ()
    phases: Mapping[str, int] = field(default_factory=dict)  # what Spark's driver did in it, in ms
    zone: str = ""  # of the windows that have the watermark; "": their times have none

    @property
    def values(self) -> dict[str, object]:
        told: dict[str, object] = {"micro_batch": self.micro_batch, "time": self.time, **self.sums, **self.latest}
        return told | {"channels": [dict(channel) for channel in self.channels]} if self.channels else told

    @property
    def line(self) -> str:
        """The metrics as a line of JSON."""
        at = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="milliseconds")
        return json.dumps({"stream": self.stream, **self.values, "time": at}) + "\n"


@dataclass
class StreamMetrics:
    """Keeps the sums of a stream in its checkpoint `folder`, if it has one."""

    stream: str
    folder: Place | None = None
    sums: dict[str, float] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)  # this run's counters as of the last `take`
    last: Metrics | None = None
    seen: int | None = None
    recent: list[Point] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = (*SUMS.values(), "micro_batches", "micro_batch_seconds", "micro_batches_unreported")
        self.sums = dict.fromkeys(names, 0)
        kept = sums_in(self.folder / FILE) if self.folder is not None else None
        if kept is not None:
            self.seen = int(kept.pop("micro_batch"))
            self.recent = kept.get("recent", [])
            self.sums |= {name: value for name, value in kept.items() if name in self.sums}

    def take(self, progress: Progress, counts: StreamCounts) -> Metrics:
        """The metrics after a micro-batch, whose report `counts` has already taken."""
        number, seconds = progress["batchId"], progress["durationMs"].get("triggerExecution", 0) / 1000
        for of, name in SUMS.items():
            self.sums[name] += counts.added[of] - self.counted.get(of, 0)
        self.counted = dict(counts.added)
        self.sums["micro_batches"] += 1
        self.sums["micro_batch_seconds"] = round(self.sums["micro_batch_seconds"] + seconds, 3)
        self.sums["micro_batches_unreported"] += max(0, number - (-1 if self.seen is None else self.seen) - 1)
        self.seen = number
        ended = datetime.fromisoformat(progress["timestamp"]).timestamp() + seconds
        latest, operators = _latest(counts, ended, seconds), counts.operators.copy()
        _, zone = lowest_watermark([counts]) or (None, "")
        made = Metrics(self.stream, number, ended, dict(self.sums), latest, operators, counts.added["rowsOut"])
        self.last = replace(made, zone=zone, phases=dict(progress["durationMs"]))
        if self.folder is not None:
            self.recent = with_point(self.recent, (round(ended, 3), self.sums["rows_in"]))
            now = {"watermark": latest.get("watermark"), "recent": self.recent}
            _keep(self.folder / FILE, {"micro_batch": number, **self.sums, **now})
        return self.last


def _latest(counts: StreamCounts, now: float, seconds: float) -> dict[str, float]:
    found = totals([counts])
    latest: dict[str, float] = {"last_micro_batch_seconds": seconds}
    if "stateRows" in found:
        latest |= {"open_slices": open_slices([counts])}
        latest |= {"state_rows": found["stateRows"], "state_bytes": found["stateBytes"]}
    if (watermark := found.get("watermark")) is not None and watermark < END_OF_INPUT:
        latest |= {"watermark": watermark / 1000, "watermark_lag_seconds": round(now - watermark / 1000, 3)}
    return latest


def without_gap(stream: Place, number: int) -> None:
    """Take micro-batch `number`, which read no rows, as reported. `stream` is the folder of the stream."""
    file = stream / FILE
    kept = sums_in(file)
    if kept is not None and kept["micro_batch"] == number - 1:
        _keep(file, kept | {"micro_batch": number})


def _keep(file: Place, sums: Mapping[str, Any]) -> None:
    with warned(file):
        file.write(json.dumps(sums), durable=False)


def to_file(path: str) -> Report:
    """Returns a function that appends metrics to a file, one line of JSON each. Raises OSError if it cannot be opened.
    A line that cannot be written later is left out, with a warning: metrics are not the result.
    """
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)  # stays open as long as the process

    def report(metrics: Metrics) -> None:
        with warned(path):
            line = metrics.line.encode()
            written = os.write(file, line)
            if written < len(line):  # the disk is full: take back the part of a line
                with suppress(OSError):
                    os.ftruncate(file, os.fstat(file).st_size - written)
                raise OSError(ENOSPC, os.strerror(ENOSPC))

    return report


_warned: set[str] = set()


@contextmanager
def warned(file: object) -> Iterator[None]:
    """Print a warning, once for each file, if this block cannot write it. Observing a stream does not end it."""
    try:
        yield
    except (OSError, DataError) as error:
        reason = error.message if isinstance(error, DataError) else error.strerror
        if str(file) not in _warned:
            _warned.add(str(file))
            print(f"warning: metrics cannot be written to {file}: {reason}", file=sys.stderr)
