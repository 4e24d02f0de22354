"""Timers as Arrow rows: the contents of a timer queue, and the result of setting and deleting timers.

A batch has the key columns (`$0`, `$1`, ...), `$namespace` and `$time` (both int64). Together they identify a timer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask

NAMESPACE, TIME = "$namespace", "$time"

Key = tuple[object, ...]
Values = pa.Array | pa.ChunkedArray | Ints | Sequence[object]  # a column with a value for each timer


class Timer(NamedTuple):
    """One timer: the values of its key columns, its namespace (the end of a window, for example), its time in epoch
    ms."""

    key: Key
    namespace: int
    time: int


@dataclass(frozen=True)
class TimerRows:
    """Makes batches of timers. `keys` are the Arrow types of the key columns."""

    keys: tuple[pa.DataType, ...]

    @property
    def schema(self) -> pa.Schema:
        columns = [(f"${at}", kind) for at, kind in enumerate(self.keys)]
        return pa.schema([*columns, (NAMESPACE, pa.int64()), (TIME, pa.int64())])

    def batch(self, keys: Sequence[Values], namespaces: Values, times: Values) -> pa.RecordBatch:
        """A batch from Arrow columns, numpy arrays or lists with a value for each timer."""
        schema = self.schema
        columns = zip((*keys, namespaces, times), schema.types, strict=True)
        return pa.RecordBatch.from_arrays([_column(values, kind) for values, kind in columns], schema=schema)

    def of(self, timers: Sequence[Timer]) -> pa.RecordBatch:
        keys = [[timer.key[at] for timer in timers] for at in range(len(self.keys))]
        return self.batch(keys, [timer.namespace for timer in timers], [timer.time for timer in timers])

    def key(self, values: Sequence[object]) -> Key:
        """A key in the form that `each` returns, whatever the values were before (numpy numbers, decimals of another
        scale)."""
        return tuple(pa.scalar(value, kind).as_py() for value, kind in zip(values, self.keys, strict=True))

    def joined(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        return joined(batches) if batches else self.batch([[]] * len(self.keys), [], [])


def each(timers: pa.RecordBatch) -> Iterator[Timer]:
    """The timers of a batch, one by one."""
    *keys, namespaces, times = (column.to_pylist() for column in timers.columns)
    of_rows = zip(*keys, strict=True) if keys else [()] * len(times)
    return map(Timer, of_rows, namespaces, times)


def times_of(timers: pa.RecordBatch) -> Ints:
    times: Ints = timers.column(TIME).to_numpy()
    return times


def by_time(timers: pa.RecordBatch) -> tuple[pa.RecordBatch, Ints]:
    """The timers in order of time, and their previous positions. The sort is stable."""
    order = sort_order([times_of(timers)])
    return timers.take(pa.array(order)), order


def still_set(timers: pa.RecordBatch, deletes: Mask) -> pa.RecordBatch:
    """The timers that are left after each row, in order, has set its timer or, with `deletes`, deleted it.

    A timer keeps the position where it was set. Setting it again has no effect unless it was deleted in between.
    """
    codes = key_codes(timers.columns, timers.num_rows)
    order = sort_order([codes])
    first, gone = changes_in(codes[order]), deletes[order]
    set_anew = ~gone & (first | np.append(True, gone[:-1]))
    deleted = np.cumsum(gone)
    lengths = np.diff(np.append(np.flatnonzero(first), len(order)))
    in_the_end = np.repeat(deleted[np.cumsum(lengths) - 1], lengths)
    return timers.take(pa.array(np.sort(order[set_anew & (deleted == in_the_end)])))


def pieces(timers: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """Timers in order of time, split into pieces of about `rows` each. Equal times stay together."""
    times = times_of(timers)
    if len(times) <= 2 * rows:
        yield timers
        return
    cuts = np.searchsorted(times, times[rows : len(times) - rows : rows], side="left")
    for start, stop in pairwise(sorted({0, *cuts.tolist(), len(times)})):
        yield timers.slice(start, stop - start)


def _column(values: Values, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return values.cast(kind) if isinstance(values, pa.Array) else pa.array(values, kind)
