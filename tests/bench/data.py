"""The rows of the benchmark: made once, the same each time, kept in files under the temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

ROWS_PER_SECOND = 60
FIRST = 1_767_225_600_000_000  # 2026-01-01 00:00:00, in microseconds
ITEMS = 100
SEED = 20_260_101
FILES = 8  # of each set, so that also a small one keeps every core busy
FEW = 64
AS_CSV = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
END = datetime(2027, 1, 1)  # all windows of a stream's rows start before it, and those of its last row after it
LAST_ROW = END + timedelta(days=1)


@dataclass(frozen=True)
class Bids:
    """Rows in time order: ts (timestamp_ntz), k (the key), v (what is summed), item (what is counted once)."""

    rows: int
    keys: int

    def whole(self) -> str:
        """The folder of all rows, in Parquet files."""
        return self._folder("whole", lambda rows: rows)

    def part(self, keys: int) -> str:
        """The rows of the first `keys` keys: over the same times, and so in the same windows."""
        if keys >= self.keys:
            return self.whole()
        return self._folder(f"part-{keys}", lambda rows: rows.filter(pc.less(rows["k"], keys)))

    def few(self) -> str:
        """The first rows: what an engine takes for them is what it takes before it begins."""
        return self._folder("few", lambda rows: rows.slice(0, FEW))

    def _folder(self, name: str, choose: Callable[[pa.Table], pa.Table]) -> str:
        folder = Path(tempfile.gettempdir(), "tvfsql-bench", f"{SEED}-{self.rows}-{self.keys}-{name}")
        if not folder.exists():
            unfinished = folder.with_suffix(f".{os.getpid()}")  # so that an interrupted one is never taken for whole
            unfinished.mkdir(parents=True)
            self._write(choose(self.table()), unfinished)
            unfinished.rename(folder)
        return str(folder)

    def _write(self, rows: pa.Table, folder: Path) -> None:
        size = -(-len(rows) // FILES)
        for i in range(FILES):
            pq.write_table(rows.slice(i * size, size), folder / f"{i}.parquet")

    def table(self) -> pa.Table:
        """The rows, without the one that ends a stream."""
        draw = np.random.default_rng(SEED)
        ts = FIRST + np.arange(self.rows, dtype=np.int64) * 1_000_000 // ROWS_PER_SECOND
        return pa.table(
            {
                "ts": pa.array(ts).cast(pa.timestamp("us")),
                "k": pa.array(draw.integers(0, self.keys, self.rows, dtype=np.int32)),
                "v": pa.array(draw.integers(1, 1_000_000, self.rows, dtype=np.int64)),
                "item": pa.array(draw.integers(0, ITEMS, self.rows, dtype=np.int32)),
            }
        )


@dataclass(frozen=True)
class StreamOfBids(Bids):
    """The same rows for streams, as CSV or Parquet, in one file for each micro-batch.

    One more row of key 0 ends the last file, long after the others: so their windows have passed for an engine too
    that never ends a stream. Whoever adds answers up leaves out the windows that start after END.
    """

    micro_batches: int = 10
    format: str = "csv"

    def _folder(self, name: str, choose: Callable[[pa.Table], pa.Table]) -> str:
        parquet = "-parquet" if self.format == "parquet" else ""
        return super()._folder(f"{name}-in-{self.micro_batches}{parquet}", choose)

    def _write(self, rows: pa.Table, folder: Path) -> None:
        schema = rows.schema.set(0, pa.field("ts", pa.timestamp("ms")))
        last = pa.Table.from_pylist([{"ts": LAST_ROW, "k": 0, "v": 0, "item": 0}], schema)
        rows = pa.concat_tables([rows.cast(schema, safe=False), last])
        size = -(-len(rows) // self.micro_batches)
        for i in range(self.micro_batches):
            file = folder / f"{i:04}.{self.format}"
            self._write_file(rows.slice(i * size, size), file)
            os.utime(file, (i, i))  # file streams go by the time of the last change
        in_one_file(str(folder), self.format).parent.mkdir()
        self._write_file(rows, in_one_file(str(folder), self.format))

    def _write_file(self, rows: pa.Table, file: Path) -> None:
        if self.format == "csv":
            pyarrow.csv.write_csv(rows, file, AS_CSV)
        else:
            pq.write_table(rows, file)


def in_one_file(folder: str, format: str = "csv") -> Path:
    """The rows of a stream's folder once more in one file, where Spark does not look for them."""
    return Path(folder, "_whole", f"rows.{format}")
