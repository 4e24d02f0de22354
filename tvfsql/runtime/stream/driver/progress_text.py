"""The progress of running streams as one line of text."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence

from tvfsql.plan.values.times import clock_of
from tvfsql.runtime.host.amounts import duration_text, size_text
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.operator.protocol import MOST_OPEN
from tvfsql.runtime.stream.progress.counts import (
    LATE,
    StreamCounts,
    lowest_watermark,
    open_slices,
    open_windows,
    totals,
    waits_until,
    watermark_text,
)
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

SPAN = 10.0  # seconds over which rates are averaged


class ProgressText:
    """Makes the progress line, each time from the current counts. `zone` is `table.local-time-zone`: times without a
    zone are taken as those of its clock. `clock` returns epoch seconds."""

    def __init__(self, zone: str, clock: Callable[[], float] = time.time) -> None:
        self.zone, self.clock = zone, clock
        self.samples: deque[tuple[float, int, int]] = deque()

    def text(self, running: Running) -> str | None:
        """`in 45,210/s  out 1,203/s  watermark 2020-04-15 08:20:00.000  12 slices open  state 10,000 rows 3.2 MiB`

        Late rows follow if there are any. The lag of the watermark is shown for streams without an end. None before the
        first micro-batch.
        """
        found = totals(running.counts)
        into, out = self.rates(time.monotonic(), found["rowsIn"], found["rowsOut"])
        parts = ["stopping after this micro-batch"] if running.stopping.is_set() else []
        if not any(found.values()):
            return parts[0] if parts else None
        parts.append(f"in {into:,}/s  out {out:,}/s")
        if (lowest := lowest_watermark(running.counts)) is not None:
            watermark, zone = lowest
            endless = any(driver.stream.endless for driver in running.drivers) and watermark < END_OF_INPUT
            lag = f" (lag {duration_text(self.now(zone) - watermark)})" if endless else ""
            parts.append(f"watermark {watermark_text(watermark, zone)}{lag}")
            slices = open_slices(running.counts)
            parts.append(f"{slices:,} slice{'s' if slices != 1 else ''} open")
            parts.append(f"state {found['stateRows']:,} rows {size_text(found['stateBytes'])}")
        if late := found["numLateRecordsDropped"]:
            parts.append(f"{late:,} late rows dropped")
        return "  ".join(parts)

    def now(self, zone: str) -> int:
        """The time with which watermarks of windows in `zone` compare, in epoch ms."""
        micros = round(self.clock() * 1e6)
        return (micros if zone else micros + clock_of(self.zone)(micros)) // 1000

    def rates(self, now: float, rows_in: int, rows_out: int) -> tuple[int, int]:
        """Rows per second (in, out) since the oldest sample of the last SPAN seconds."""
        self.samples.append((now, rows_in, rows_out))
        while len(self.samples) > 2 and self.samples[1][0] <= now - SPAN:
            self.samples.popleft()
        then, before_in, before_out = self.samples[0]
        seconds = max(now - then, 1.0)
        return round((rows_in - before_in) / seconds), round((rows_out - before_out) / seconds)


def open_lines(running: Running) -> list[str]:
    """What ended runs have left open in their checkpoints, a line per stream."""
    lines = []
    for driver in running.drivers:
        zone = max(driver.counts.zones.values(), default="")
        until, rows = waits_until([driver.counts]), totals([driver.counts]).get("stateRows", 0)
        if driver.stream.leaves_open and until is not None and rows:
            number = open_windows([driver.counts])
            stay = f"{_windows(number)} of {driver.stream.checkpoint} stay{'s' if number == 1 else ''} open"
            lines.append(
                f"open: {stay} until {watermark_text(until, zone)}, with {rows:,} row{'' if rows == 1 else 's'} in "
                "state; the next run goes on, --final emits them"
            )
    return lines


def _windows(number: int) -> str:
    """So many open windows in words; 0: they cannot be counted, such as sessions, which belong to their keys."""
    if number > MOST_OPEN:
        return f"more than {MOST_OPEN} windows"
    return "the windows" if not number else "1 window" if number == 1 else f"{number} windows"


def warn_of_late_rows(running: Running) -> None:
    """Print a warning to stderr for each stream that has dropped late rows."""
    for driver in running.drivers:
        stream = driver.stream
        if stream.beside or not driver.counts.added[LATE]:
            continue
        warning = late_warning(
            driver.counts,
            [source.table for source in stream.sources],
            idle_timeout=stream.endless and any(source.timeout for source in stream.sources),
            idle_advance=stream.idle_advance,
        )
        erased = "\r\x1b[K" if sys.stderr.isatty() else ""  # a progress line
        print(f"{erased}warning: {warning}", file=sys.stderr)


def counter_lines(counts: Sequence[StreamCounts]) -> list[str]:
    """The final counters of streams, one per line: `rowsIn: 45210`."""
    found: dict[str, object] = {**totals(counts)}
    if (lowest := lowest_watermark(counts)) is not None:
        found["watermark"] = watermark_text(*lowest)
    return [f"{name}: {count}" for name, count in found.items()]


# The warning of the late rows that a run has dropped. Source: semantics.md#late-rows.


HINT = "a longer delay in WATERMARK waits for them; 'tvfsql.late-output' = 'TABLE' keeps them"


def late_warning(
    counts: StreamCounts, tables: Sequence[str], *, idle_timeout: bool = False, idle_advance: bool = False
) -> str:
    """How many rows a stream of these tables has dropped because they were late, why that may be, and what helps.

    `idle_timeout`: a table may become idle. `idle_advance`: windows fire then, if all are.
    """
    late, rows = counts.added[LATE], counts.added["rowsIn"]
    share = f" of {rows:,} ({_percent(late / rows)})" if 0 < late <= rows else ""
    of = f" of {' and '.join(dict.fromkeys(tables))}" if tables else ""
    one = late == 1 and not share
    dropped = f"{late:,}{share} row{'' if one else 's'}{of} {'was' if one else 'were'} late and dropped"
    return f"{dropped}: {_cause(counts, idle_timeout, idle_advance)}\nhint: {HINT}"


def _cause(counts: StreamCounts, idle_timeout: bool, idle_advance: bool) -> str:
    """The likely cause."""
    if idle_timeout and idle_advance:
        return "windows fired while all tables were idle ('tvfsql.source.lossy-idle-advance')"
    if counts.of_files > 1:
        return (
            "files are read in order of modification time, then of name, unless 'source.file-order' says otherwise: is "
            "this the order of their rows?"
        )
    if idle_timeout:
        return "they came after windows had stopped waiting for an idle table, or later than the delay of WATERMARK"
    return "they came later than the delay of WATERMARK allows"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.2%}"
