"""The changes of a micro-batch for a table that replaces rows by key, where several tasks have made them.

Operators say once per micro-batch what it has changed. If the row of a key moves from one task to another, as an order
that gets another customer does in a join by customer, one task says that it goes (-D), and the other one what comes
(+I). What arrives last must not decide. For example, of the changes with the key `id`

    -D 1, ann      +I 1, bob      -D 2, ann

remain +I 1, bob and -D 2, ann. No state is kept. Flink: SinkUpsertMaterializer, which keeps all rows of each key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from tvfsql.plan.tables.internal_columns import CONTROL
from tvfsql.runtime.arrow.batches import in_pieces, joined, key_codes
from tvfsql.runtime.stream.time.execution import execution

COMES = ("+I", "+U")


def changes_by_key(rows: DataFrame, *, keys: Sequence[str], op: str) -> DataFrame:
    """Exchange and UpsertMaterialize: of each key the rows that come in a micro-batch, or one that goes if none comes.

    In: any columns; `op` is the operation (+I, -U, +U or -D). No two changes may cancel each other.
    Out: the same columns. Control rows pass unchanged.
    """
    at = rows.columns.index
    control = at(CONTROL) if CONTROL in rows.columns else None
    changes = ChangesByKey(tuple(map(at, keys)), at(op), control)
    # mapInArrow cannot find a column with a dot or a backtick in its name
    numbered = rows.toDF(*map(str, range(len(rows.columns))))
    together = numbered.repartition(*map(str, changes.keys))
    return execution().map_in_arrow(together, changes, rows.schema)


@dataclass(frozen=True)
class ChangesByKey:
    """The function for `mapInArrow`. Columns are numbers; `control` is that of `$control`, if there is one."""

    keys: tuple[int, ...]
    op: int
    control: int | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting = []
        for batch in batches:
            if self.control is not None:
                control = batch.column(self.control)
                yield from in_pieces(batch.filter(control.is_valid()))
                batch = batch.filter(control.is_null())
            waiting.append(batch)
        if waiting:
            yield from in_pieces(self.remaining(joined(waiting)))

    def remaining(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The changes that remain of those of a micro-batch."""
        codes = np.unique(key_codes([rows.column(i) for i in self.keys], rows.num_rows), return_inverse=True)[1]
        kinds = rows.column(self.op)
        comes = np.logical_or(*(pc.equal(kinds, kind).to_numpy(zero_copy_only=False) for kind in COMES))
        has_row = np.zeros(int(codes.max()) + 1 if len(codes) else 0, dtype=np.bool_)
        has_row[codes[comes]] = True
        _, first = np.unique(codes, return_index=True)
        one = np.zeros(rows.num_rows, dtype=np.bool_)
        one[first] = True
        return rows.filter(pa.array(comes | (one & ~has_row[codes])))
