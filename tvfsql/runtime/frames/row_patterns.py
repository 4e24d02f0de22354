"""MATCH_RECOGNIZE of a batch as a DataFrame operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.patterns import Pattern
from tvfsql.runtime.arrow.batches import in_pieces
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.frames.window_schema import of_windows
from tvfsql.runtime.merge.kernel import Feed
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.patterns.matches import Matches

CHUNK_ROWS, CHUNK_BYTES = 250_000, 128 << 20

Navigations = Mapping[str, tuple[str, int, bool, int]]
Merges = Mapping[str, tuple[int, Merge, bool]]


def match_rows(
    rows: DataFrame,
    pattern: Pattern,
    *,
    keys: Sequence[str],
    order: Mapping[str, str],
    navigations: Navigations,
    merges: Merges | None = None,
) -> DataFrame:
    """A row for each match of `pattern` in the rows of a key.

    In: any columns. Rows are read in `order`, columns with their directions (methods of PySpark's Column), of which the
    first is their time. Each of `navigations` is a column of a match: a column of the row with a number among those of
    a variable, from the first one or from the last one: (column, variable, whether from the first one, number). Each of
    `merges` is a partial of single rows that is merged over the rows of a variable: (variable, merge kind, whether it
    is 0 without rows).
    Out: `keys`, `navigations`, `merges`. Memory is bounded by a chunk of rows and what may still become a match.
    """
    spec = matches_of(pattern, rows.columns, keys, next(iter(order)), navigations, merges or {})
    spread = rows.repartition(*(map(column_of, keys) if keys else (1,)))
    sort = [column_of(key).asc() for key in keys]
    sort += [getattr(column_of(name), direction)() for name, direction in order.items()]
    numbered = spread.sortWithinPartitions(*sort).toDF(*map(str, range(len(rows.columns))))
    return numbered.mapInArrow(MatchRows(spec), schema_of(rows, keys, navigations, merges or {}))


def matches_of(
    pattern: Pattern, columns: Sequence[str], keys: Sequence[str], time: str, navigations: Navigations, merges: Merges
) -> Matches:
    """What to look for in rows with these columns, which have numbers as names."""
    number = {name: i for i, name in enumerate(columns)}
    return Matches(
        pattern.renamed({name: str(i) for name, i in number.items()}),
        tuple(number[key] for key in keys),
        number[time],
        tuple((number[name], variable, first, offset) for name, variable, first, offset in navigations.values()),
        tuple((variable, number[name], kind, counts) for name, (variable, kind, counts) in merges.items()),
    )


def schema_of(rows: DataFrame, keys: Sequence[str], navigations: Navigations, merges: Merges) -> T.StructType:
    """The columns of a match."""
    fields = [rows.schema[key] for key in keys]
    fields += [T.StructField(name, rows.schema[of].dataType) for name, (of, *_) in navigations.items()]
    fields += [
        T.StructField(name, of_windows(kind, rows.schema[name].dataType)) for name, (_, kind, _) in merges.items()
    ]
    return T.StructType(fields)


@dataclass(frozen=True)
class MatchRows:
    """The function for `mapInArrow`, on rows in order. What the last key of a chunk may still match is kept for the
    next one."""

    spec: Matches
    chunk_rows: int = CHUNK_ROWS
    chunk_bytes: int = CHUNK_BYTES

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        feed, kept, before = Feed(batches), list[pa.RecordBatch](), list[pa.RecordBatch]()
        while fresh := feed.take(self.chunk_rows, self.chunk_bytes):
            if before:
                made = self.spec.advance(kept, before, ended=True, last=False)
                yield from in_pieces(made.made)
                kept = [made.kept] if made.kept.num_rows else []
            before = fresh
        if before:
            yield from in_pieces(self.spec.advance(kept, before, ended=True).made)
