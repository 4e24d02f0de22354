"""Nexmark's three tables in CSV files: made once, the same each time, kept under the temporary folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from tvfsql.plan.synthetic.nexmark import EPOCH, PROPORTIONS, TABLES, Nexmark
from tvfsql.runtime.synthetic.nexmark import events

SEED = 20_260_101
RATE = 10_000  # events per second of event time
DISORDER = 4_000  # ms; watermarks are this far behind, so no row is late
START = 1_767_225_600_000  # 2026-01-01 00:00:00
LAST_ROW = datetime(2027, 1, 1)
FILES = 10  # of each table, one a micro-batch
AT_ONCE = 1_000_000
SQL = {"bigint": "BIGINT", "string": "STRING", "timestamp_ntz": "TIMESTAMP(3)"}
AS_CSV = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")


@dataclass(frozen=True)
class NexmarkFiles:
    """So many events of all three tables.

    Three layouts: `rows` has a file for each micro-batch. `last` has one more row, a year later: it closes the windows
    of an engine that never ends a stream. `whole` has the rows of `rows` in one file, for an engine that reads the
    files of a folder in no order.
    """

    events: int

    def count(self, table: str) -> int:
        return self.events // EPOCH * PROPORTIONS[table]

    def rows(self, table: str) -> str:
        return str(self._folder() / table / "rows")

    def rows_and_last(self, table: str) -> str:
        return str(self._folder() / table / "{rows,last}")

    def whole(self, table: str) -> str:
        return str(self._folder() / table / "whole" / "rows.csv")

    def _folder(self) -> Path:
        folder = Path(tempfile.gettempdir(), "tvfsql-bench", f"nexmark-{SEED}-{self.events}")
        if not folder.exists():
            unfinished = folder.with_suffix(f".{os.getpid()}")  # so that an interrupted one is never taken for whole
            for table in PROPORTIONS:
                write(table, self.count(table), unfinished / table)
            unfinished.rename(folder)
        return folder


def columns(table: str) -> str:
    """The columns of a table, for CREATE TABLE."""
    return ", ".join(f"`{field.name}` {SQL[field.type.spark]}" for field in TABLES[table])


def write(table: str, count: int, folder: Path) -> None:
    """All three layouts of the first `count` rows of a table."""
    for name in ("rows", "last", "whole"):
        (folder / name).mkdir(parents=True)
    size = -(-count // FILES)
    with (folder / "whole" / "rows.csv").open("wb") as whole:
        for number, first in enumerate(range(0, count, size)):
            file = folder / "rows" / f"{number:04}.csv"
            with file.open("wb") as out:
                for part in _parts(table, first, min(first + size, count)):
                    pyarrow.csv.write_csv(part, out, AS_CSV)
            os.utime(file, (number, number))  # file streams go by the time of the last change
            with file.open("rb") as again:
                shutil.copyfileobj(again, whole)
    last = {field.name: [None] for field in TABLES[table]} | {"dateTime": [LAST_ROW]}
    pyarrow.csv.write_csv(pa.table(last, schema=_schema(table, "ms")), folder / "last" / "9999.csv", AS_CSV)
    os.utime(folder / "last" / "9999.csv", (FILES, FILES))


def _parts(table: str, first: int, end: int) -> Iterator[pa.Table]:
    spec, schema = Nexmark(table, RATE, START, DISORDER), _schema(table)
    for at in range(first, end, AT_ONCE):
        made = events(spec, SEED, np.arange(at, min(at + AT_ONCE, end), dtype=np.int64))
        rows = pa.table([made.column(field.name, field.type) for field in schema], schema=schema)
        yield rows.cast(_schema(table, "ms"))


def _schema(table: str, unit: str = "us") -> pa.Schema:
    """The generator makes microseconds; milliseconds are what all engines read."""
    kinds = {"bigint": pa.int64(), "string": pa.string(), "timestamp_ntz": pa.timestamp(unit)}
    return pa.schema([(field.name, kinds[field.type.spark]) for field in TABLES[table]])
