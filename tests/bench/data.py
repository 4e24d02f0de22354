"""The rows of the benchmark: made once, the same each time, kept as Parquet under the temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS_PER_SECOND = 60
FIRST = 1_767_225_600_000_000  # 2026-01-01 00:00:00, in microseconds
ITEMS = 100
SEED = 20_260_101
FILES = 8  # of each set, so that also a small one keeps every core busy
FEW = 64


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
            rows = choose(self._table())
            size = -(-len(rows) // FILES)
            for i in range(FILES):
                pq.write_table(rows.slice(i * size, size), unfinished / f"{i}.parquet")
            unfinished.rename(folder)
        return str(folder)

    def _table(self) -> pa.Table:
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
