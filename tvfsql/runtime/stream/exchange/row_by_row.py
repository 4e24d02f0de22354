"""Which rows are copies of one row of the source, where a watermark counts from the next row on (`on-event`).

Whatever copies rows on their way to an operator (UNNEST, table functions, grouping sets, window functions, lookups)
copies `$row` too, and leaves the copies of a row beside each other. The row's watermark counts after the last of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import joined

NO_NUMBER = -1.0  # in place of NULL: numbers are in [0, 1)


def last_copies(numbers: pa.Array) -> pa.Array:
    """Which rows are the last copy of a source row, by their `$row`. A row without `$row` is not a copy."""
    values = numbers.fill_null(NO_NUMBER).to_numpy()
    return pa.array(np.append(values[1:] != values[:-1], [True][: len(values)]) & (values != NO_NUMBER))


def whole_rows(batches: Iterable[pa.RecordBatch], row: int) -> Iterator[pa.RecordBatch]:
    """The same rows in other batches, which never end between two copies of a row. `row` is the number of `$row`."""
    waiting: list[pa.RecordBatch] = []  # copies of one row, which may have more
    last = NO_NUMBER
    for batch in batches:
        if not batch.num_rows:
            continue
        values = batch.column(row).fill_null(NO_NUMBER).to_numpy()
        start = _of_last(values)
        if start or values[0] != last:
            found = [*waiting, *([batch.slice(0, start)] if start else [])]
            waiting = []
            if found:
                yield joined(found)
        if start < batch.num_rows:
            waiting.append(batch.slice(start))
        last = float(values[-1])
    if waiting:
        yield joined(waiting)


def _of_last(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """Where the copies of the last row start; the number of rows if it has no number."""
    if values[-1] == NO_NUMBER:
        return len(values)
    others = np.flatnonzero(values != values[-1])
    return int(others[-1]) + 1 if len(others) else 0
