"""Top-N and order of the windows of a stream: ranks or sorts the rows of a micro-batch, as OVER and ORDER BY in batch.

All rows of a window arrive in one micro-batch, so ranks are final there, and no state is kept. Spark's own OVER does
not run on streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.tables.internal_columns import CONTROL
from tvfsql.runtime.arrow.batches import in_pieces, joined, key_codes
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.arrow.ranks import DIRECTIONS, ranked, sort_codes
from tvfsql.runtime.stream.time.execution import execution

CHUNK_ROWS = 200_000
ALL = 2**62  # as many ranks


def top_n_stream(
    rows: DataFrame,
    function: str,
    *,
    partition: Sequence[str],
    order: Mapping[str, str],
    ranks: tuple[int, int],
    ties: Mapping[str, str] | None = None,
    name: str | None = None,
) -> DataFrame:
    """Exchange and WindowTopN: the rows of each micro-batch whose rank within `partition` is in `ranks` (inclusive).

    In: any columns. `partition` includes both window columns. All rows of a window must arrive in one micro-batch.
    `order` and `ties` map columns to directions (DIRECTIONS). `function` is row_number, rank or dense_rank; only
    row_number uses `ties`.
    Out: the same columns, and the rank as a BIGINT column `name`, if given. Control rows pass unchanged. Rows are
    limited before and after the exchange, so few of them are shuffled.
    """
    at = rows.columns.index
    keys = tuple((at(column), *DIRECTIONS[direction]) for column, direction in (*order.items(), *(ties or {}).items()))
    limit = Limit(function, tuple(map(at, partition)), keys, len(order), ranks[1])
    control = at(CONTROL) if CONTROL in rows.columns else None
    # mapInArrow cannot find a column with a dot or a backtick in its name
    numbered = rows.toDF(*map(str, range(len(rows.columns))))
    few = execution().map_in_arrow(numbered, TopN(limit, control), numbered.schema)
    together = few.repartition(*(str(number) for number in limit.partition))
    rank = [T.StructField(name, T.LongType())] if name is not None else []
    schema = T.StructType([*rows.schema.fields, *rank])
    best = TopN(limit, control, ranks[0], ranked=name is not None)
    return execution().map_in_arrow(together, best, schema)


def sort_stream(rows: DataFrame, *, order: Mapping[str, str]) -> DataFrame:
    """Exchange and Sort: the rows of each micro-batch in order, in one task.

    In: any columns. `order` maps columns to directions (DIRECTIONS); the first one rises from micro-batch to
    micro-batch, as the ends of windows do, so that the whole stream is in order.
    Out: the same columns. Control rows come first.
    """
    at = rows.columns.index
    keys = tuple((at(column), *DIRECTIONS[direction]) for column, direction in order.items())
    control = at(CONTROL) if CONTROL in rows.columns else None
    numbered = rows.toDF(*map(str, range(len(rows.columns)))).repartition(1)
    return execution().map_in_arrow(numbered, TopN(Limit("row_number", (), keys, len(keys), ALL), control), rows.schema)


@dataclass(frozen=True)
class Limit:
    """The rows of each partition up to rank `last`. Columns are numbers. Rows with equal first `ordering` keys have
    equal ranks."""

    function: str
    partition: tuple[int, ...]
    keys: tuple[tuple[int, bool, bool], ...]
    ordering: int
    last: int

    def __call__(self, batches: Sequence[pa.RecordBatch]) -> tuple[pa.RecordBatch, Ints]:
        """The rows within the limit, in order within each partition, and their ranks."""
        batch = joined(batches)
        groups = key_codes([batch.column(i) for i in self.partition], batch.num_rows)
        codes = [sort_codes(batch.column(i), down, first) for i, down, first in self.keys]
        order, ranks = ranked(self.function, groups, codes, self.ordering)
        few = ranks <= self.last
        return batch.take(pa.array(order[few])), ranks[few]


@dataclass(frozen=True)
class TopN:
    """The function for `mapInArrow`: the rows of `limit` from rank `first` on.

    With `ranked`, the rank is the last column. `control` is the number of the column `$control`; rows where it is set
    pass unchanged. Memory is bounded by a chunk and the best rows.
    """

    limit: Limit
    control: int | None
    first: int = 1
    ranked: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        best: list[pa.RecordBatch] = []
        kept = waiting = 0
        for batch in batches:
            if self.control is not None:
                control = batch.column(self.control)
                yield from self._out(batch.filter(control.is_valid()), None)
                batch = batch.filter(control.is_null())
            best.append(batch)
            waiting += batch.num_rows
            if waiting > max(CHUNK_ROWS, kept):  # not more often, because the best rows are sorted again each time
                best = [self.limit(best)[0]]
                kept, waiting = best[0].num_rows, 0
        if best:
            rows, ranks = self.limit(best)
            within = ranks >= self.first
            yield from self._out(rows.filter(pa.array(within)), ranks[within])

    def _out(self, rows: pa.RecordBatch, ranks: Ints | None) -> Iterator[pa.RecordBatch]:
        """The rows in batches of bounded size."""
        if self.ranked:
            column = pa.nulls(rows.num_rows, pa.int64()) if ranks is None else pa.array(ranks)
            rows = pa.RecordBatch.from_arrays([*rows.columns, column], [*rows.schema.names, "rank"])
        return in_pieces(rows)
