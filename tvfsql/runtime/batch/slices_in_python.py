"""Rows to slices in Python, before the shuffle: Python aggregates need this in batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.tables.internal_columns import SLICE_END
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.runtime.arrow.columns import Ints, normal
from tvfsql.runtime.frames.assigned_windows import local_time
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.frames.window_schema import merged_type
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.merge.slice_rows import SliceRows

CHUNK_ROWS = 200_000
CHUNK_BYTES = 128 << 20


def slice_rows(
    rows: DataFrame,
    window: Tumble | Hop | Cumulate,
    *,
    time: str,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    zone: str = "",
) -> DataFrame:
    """LocalWindowAggregate in Python: the rows of each partition, merged by key and slice.

    In: `keys`, `time` (timestamp_ntz, never NULL; with `zone` a timestamp, which is converted to the zone's wall clock)
    and for each entry of `merges` the partial of a single row, as in `stream.local_slices`.
    Out: keys, slice_end (timestamp_ntz) and merged partials: the input of `merge_slices`, with one row per partition.
    """
    partials = tuple(map(column_of, merges))
    clock = local_time(time, zone) if zone else column_of(time)
    # mapInArrow cannot find a column with a dot or a backtick in its name
    chosen = rows.select(*map(column_of, keys), clock, *partials)
    numbered = chosen.toDF(*map(str, range(len(chosen.columns))))
    of_keys = rows.select(*map(column_of, keys)).schema.fields
    of_rows = rows.select(*partials).schema
    merged = [T.StructField(name, merged_type(kind, of_rows[name].dataType)) for name, kind in merges.items()]
    schema = T.StructType([*of_keys, T.StructField(SLICE_END, T.TimestampNTZType()), *merged])
    kernel = RowKernel(window, SliceRows(len(keys), tuple(merges.items())), tuple(schema.names))
    return numbered.mapInArrow(kernel, schema)


@dataclass(frozen=True)
class RowKernel:
    """The function for `mapInArrow`. In, by position: keys, time, partials of single rows. Out: columns with these
    `names`."""

    window: Tumble | Hop | Cumulate
    layout: SliceRows
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            waiting.append(self._slices(batch))
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= CHUNK_ROWS or size >= CHUNK_BYTES:
                yield self._merged(waiting)
                waiting, rows, size = [], 0, 0
        if waiting:
            yield self._merged(waiting)

    def _slices(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Each row as a row of its slice."""
        keys = self.layout.keys
        micros: Ints = batch.column(keys).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        slices = (micros - self.window.offset * 1000) // (self.window.slice_size * 1000) + 1
        return self.layout.batch([normal(column) for column in batch.columns[:keys]], slices, batch.columns[keys + 1 :])

    def _merged(self, waiting: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        merged = self.layout.merged(waiting)
        at = self.layout.keys
        micros = (self.layout.slices(merged) * self.window.slice_size + self.window.offset) * 1000
        columns = [*merged.columns[:at], pa.array(micros).view(TIMESTAMP), *merged.columns[at + 1 :]]
        return pa.RecordBatch.from_arrays(columns, list(self.names))
