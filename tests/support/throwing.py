"""A source that throws once: at a row, in a worker of Spark, when a stream reads it for the first time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.readwriter import DataStreamReader

from tvfsql.errors import DataError

SAYS = "thrown once, on purpose"


def throw_once(patch: pytest.MonkeyPatch, row: int, marker: Path, *, only: str = "") -> None:
    """Let streams that read files of `only` (all, without it) a file a micro-batch fail when they have read so many
    rows, unless `marker` is there, which the failure leaves."""
    load = DataStreamReader.load

    def loaded(self: DataStreamReader, path: str | None = None, *given: Any, **options: Any) -> Any:
        if path is None or only not in path or path.endswith("/control"):
            return load(self, path, *given, **options)
        rows = load(self.option("maxFilesPerTrigger", 1), path, *given, **options)
        rows = rows.select("*", "_metadata")  # what reads the name of a file finds it

        def passed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                read = marker.with_suffix(".rows")
                before = int(read.read_text()) if read.exists() else 0
                read.write_text(str(before + batch.num_rows))
                if before + batch.num_rows > row and not marker.exists():
                    marker.touch()
                    yield batch.slice(0, row - before)
                    raise DataError(SAYS)
                yield batch

        return rows.mapInArrow(passed, rows.schema)

    patch.setattr(DataStreamReader, "load", loaded)
