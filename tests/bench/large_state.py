"""Large state on streams: what a micro-batch costs by the number of keys that it changes, the memory of a worker by the
number of key groups, and a restart. Flink with RocksDB runs over the same rows."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.csv
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

import tvfsql
from tests.bench import report, stream_engines
from tests.bench.data import AS_CSV, FIRST
from tests.bench.processes import PeakMemory
from tvfsql.options.known import KEY_GROUPS

WINDOWS = {
    "state-tumble": ("TUMBLE 1 h", "TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' HOUR)", 3_600),
    "state-hop": ("HOP 1 min/1 h", "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)", 60),
}
GROUPS = ("-1", "32")  # the usual number, and more, of which a task has one at a time in memory
FILLS = 10  # micro-batches that bring all keys
CHANGED = (1_000, 10_000, 100_000, 1_000_000)  # keys of a micro-batch after them
TIMES = 3  # micro-batches with so many
COLUMNS = "ts TIMESTAMP(3), k INT, v BIGINT, WATERMARK FOR ts AS ts"
KEYS = 10_000_000


class Reports(StreamingQueryListener):
    """The rows that micro-batches read, and how long they took, in ms."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int]] = []

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        progress = event.progress
        self.found.append((progress.numInputRows, progress.durationMs.get("triggerExecution", 0)))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        pass


@dataclass
class Rows:
    """Files of rows, one for each micro-batch, whose times go on from file to file within the first 55 seconds."""

    folder: Path
    keys: int
    files: list[Path] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def fill(self) -> None:
        """All keys, in an order of their own."""
        every = np.random.default_rng(1).permutation(self.keys)
        for part in np.array_split(every, FILLS):
            self.write(part)

    def change(self, keys: int) -> None:
        """A row of each of so many keys."""
        self.write(np.random.default_rng(len(self.files)).choice(self.keys, keys, replace=False))

    def write(self, keys: np.ndarray[tuple[int], np.dtype[np.int64]], second: int | None = None) -> None:
        number = next(self.numbers)
        at = FIRST + (number if second is None else second) * 1_000_000
        rows = pa.table(
            {
                "ts": pa.array(np.full(len(keys), at)).cast(pa.timestamp("us")).cast(pa.timestamp("ms")),
                "k": pa.array(keys, pa.int32()),
                "v": pa.array(keys % 1_000, pa.int64()),
            }
        )
        file = self.folder / f"{number:04}.csv"
        pyarrow.csv.write_csv(rows, self.folder / f".{number:04}", AS_CSV)
        (self.folder / f".{number:04}").rename(file)
        self.files.append(file)

    def together(self) -> Path:
        """The rows of all files in one."""
        made = self.folder.parent / "rows.csv"
        with made.open("wb") as whole:
            for file in self.files:
                whole.write(file.read_bytes())
        return made


def run(names: Collection[str], keys: int = KEYS) -> None:
    """Print what was found."""
    with stream_engines.flink() as peers:
        for name, (title, window, slide) in WINDOWS.items():
            if name in names:
                report.say(f"\nLarge state: {title}, {keys:,} keys; SUM, COUNT and MAX, from CSV, each run once")
                for groups in GROUPS:
                    _measure(window, slide, keys, groups)
                for peer in peers[1:]:
                    _flink(peer, window, slide, keys)


def _measure(window: str, slide: int, keys: int, groups: str) -> None:
    with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as scratch:
        rows, checkpoint = _rows(Path(scratch), keys), Path(scratch, "checkpoint")
        seconds, reports, peak = _run(rows, checkpoint, window, groups)
        fills, changes = reports[:FILLS], reports[FILLS:]
        report.say(
            f"  key groups {'as usual' if groups == '-1' else groups}: {seconds:.1f} s, checkpoint"
            f" {_size(checkpoint) >> 20:,} MiB, largest worker {peak >> 20:,} MiB"
        )
        report.say(f"    {keys // FILLS:,} new keys: {', '.join(f'{ms:,}' for _, ms in fills)} ms")
        for i, changed in enumerate(CHANGED):
            told = ", ".join(f"{ms:,}" for _, ms in changes[i * TIMES : (i + 1) * TIMES])
            report.say(f"    {changed:,} changed keys: {told} ms")
        rows.change(CHANGED[0])
        seconds, reports, _ = _run(rows, checkpoint, window, groups)
        first = reports[0][1] if reports else 0
        report.say(f"    restart with {CHANGED[0]:,} changed keys: {first:,} ms, {seconds:.1f} s with Spark's start")
        rows.write(np.array([0]), slide + 30)
        seconds, reports, peak = _run(rows, checkpoint, window, groups)
        longest = max((ms for _, ms in reports), default=0)
        report.say(f"    a window of all keys fires: {longest:,} ms, largest worker {peak >> 20:,} MiB")


def _rows(folder: Path, keys: int) -> Rows:
    (folder / "bid").mkdir()
    rows = Rows(folder / "bid", keys)
    rows.fill()
    for changed in CHANGED:
        for _ in range(TIMES):
            rows.change(min(changed, keys))
    return rows


def _run(rows: Rows, checkpoint: Path, window: str, groups: str) -> tuple[float, list[tuple[int, int]], int]:
    """Read all files that there are in a new Spark. Returns seconds, the reports of micro-batches with rows, and the
    bytes of the largest worker."""
    clock, reports = time.perf_counter(), Reports()
    session = tvfsql.Session(mode="streaming", checkpoint=checkpoint, options={KEY_GROUPS.key: groups})
    session.spark.streams.addListener(reports)
    with PeakMemory() as memory:
        session.execute(_script(str(rows.folder), window, ", 'maxFilesPerTrigger' = '1'"))
    seconds = time.perf_counter() - clock
    time.sleep(1)  # for the last report
    session.spark.stop()
    return seconds, [each for each in reports.found if each[0] > 1], memory.largest


def _flink(peer: stream_engines.Flink, window: str, slide: int, keys: int) -> None:
    with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as scratch:
        rows = _rows(Path(scratch), keys)
        rows.write(np.array([0]), slide + 30)
        clock = time.perf_counter()
        peer.execute(_script(str(rows.together()), window, "").split(";"))
        report.say(f"  {peer.name}: {time.perf_counter() - clock:.1f} s for all rows and windows")


def _script(path: str, window: str, options: str) -> str:
    return (
        f"CREATE TABLE bid ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv'{options});"
        "CREATE TABLE nothing (window_start TIMESTAMP(3), window_end TIMESTAMP(3), k INT, total BIGINT, n BIGINT,"
        " top BIGINT) WITH ('connector' = 'blackhole');"
        "INSERT INTO nothing SELECT window_start, window_end, k, SUM(v), COUNT(*), MAX(v)"
        f" FROM TABLE({window}) GROUP BY window_start, window_end, k"
    )


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
