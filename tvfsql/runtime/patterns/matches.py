"""The matches in batches of rows: the rows of matches that leave, and the rows to keep with what begins with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.plan.patterns import Pattern
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.partials import Merge, prepare
from tvfsql.runtime.merge.ranges import Blocks, Ranges
from tvfsql.runtime.patterns.graph import FAR
from tvfsql.runtime.patterns.matcher import Found, Matcher
from tvfsql.runtime.patterns.paths import Bounds, Rows, ranges_of

RUNS = "$runs"  # in kept rows: what begins with the row, as `Matcher.written` has it


@dataclass(frozen=True)
class Matches:
    """What an operator looks for in rows whose columns are named by number, and what a match has: the numbers of the
    key columns; `navigations`, each a column, a variable or ALL, whether it counts from the first row, and an offset;
    and `merges`, each a variable or ALL, the column of a partial, its merge kind, and whether it is 0 without rows.
    """

    pattern: Pattern
    keys: tuple[int, ...]
    time: int
    navigations: tuple[tuple[int, int, bool, int], ...]
    merges: tuple[tuple[int, int, Merge, bool], ...] = ()

    def advance(
        self,
        stored: Sequence[pa.RecordBatch],
        new: Sequence[pa.RecordBatch],
        *,
        now: int = -FAR,
        ended: bool = False,
        last: bool = True,
    ) -> Advanced:
        """Read new rows, which are in order within their keys, after those that are `stored` with RUNS. `now`: the time
        that has passed (epoch us). `ended`: no more rows follow; with `last` also not for the last key.
        """
        matcher = Matcher(self.pattern)
        fresh = [batch.append_column(RUNS, pa.nulls(batch.num_rows, pa.list_(pa.int64()))) for batch in new]
        both = joined([*stored, *fresh])
        read = sum(batch.num_rows for batch in stored)
        codes = key_codes([both.column(str(i)) for i in self.keys], both.num_rows)
        order = sort_order([codes])
        if not (order[1:] > order[:-1]).all():
            both, codes = both.take(pa.array(order)), codes[order]
        micros: Ints = both.column(str(self.time)).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        rows = Rows(both.column, micros, changes_in(codes), order >= read)
        places = np.flatnonzero(~rows.fresh)
        paths, waiting = matcher.read(both.column(RUNS).take(pa.array(places)), places)
        over = np.full(len(rows.begins), ended, dtype=np.bool_)
        if ended and not last and len(over):
            over[-1] = False
        found = matcher.run(rows, paths, waiting, now=now, ended=over if ended else None)
        return self._advanced(matcher, both, rows, found)

    def _advanced(self, matcher: Matcher, both: pa.RecordBatch, rows: Rows, found: Found) -> Advanced:
        starts = np.concatenate([found.waiting[0], found.paths.starts])
        since = np.full(len(rows.begins), len(rows), dtype=np.int64)
        np.minimum.at(since, rows.keys[starts], starts)
        kept = np.flatnonzero(np.arange(len(rows)) >= since[rows.keys])
        runs = matcher.written(len(rows), found.paths, found.waiting)
        left = both.drop_columns([RUNS]).append_column(RUNS, runs).take(pa.array(kept))
        waits, due = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if found.waiting.shape[1]:
            keys = rows.keys[found.waiting[0]]
            first = np.full(len(rows.begins), FAR, dtype=np.int64)
            np.minimum.at(first, rows.keys[found.paths.starts], rows.micros[found.paths.starts])
            waits = rows.micros[found.waiting[-1] - 1]
            due = np.where(first[keys] < FAR - matcher.graph.within, first[keys] + matcher.graph.within, FAR)
        return Advanced(self._made(both, found.matches), left, found.waiting[0], waits, due, both)

    def _made(self, both: pa.RecordBatch, matches: Bounds) -> pa.RecordBatch:
        """A row for each match."""
        columns = [both.column(str(i)).take(pa.array(matches[0])) for i in self.keys]
        for number, variable, first, offset in self.navigations:
            low, high = ranges_of(matches, variable)
            at = low + offset if first else high - 1 - offset
            there = (at >= low) & (at < high)
            columns.append(both.column(str(number)).take(pa.array(np.where(there, at, 0), mask=~there)))
        for variable, number, kind, counts in self.merges:
            low, high = ranges_of(matches, variable)
            columns.append(_merged(kind, both.column(str(number)), low, high, counts=counts))
        return pa.RecordBatch.from_arrays(columns, names=[*map(str, range(len(columns)))])


@dataclass(frozen=True)
class Advanced:
    """What came of some rows: a row for each match that leaves, and the rows to keep, with RUNS. For each match that
    waits its first row in `rows`, the time of its last one, and the time at which nothing can keep it waiting (epoch
    us)."""

    made: pa.RecordBatch
    kept: pa.RecordBatch
    waiting: Ints
    waits: Ints
    due: Ints
    rows: pa.RecordBatch


def _merged(kind: Merge, column: pa.Array, low: Ints, high: Ints, *, counts: bool) -> pa.Array:
    """Partials of single rows, merged over ranges, which may overlap or be empty."""
    sizes = high - low
    some = np.flatnonzero(sizes)
    low, sizes = low[some], sizes[some]
    places = np.arange(int(sizes.sum())) + np.repeat(low - (np.cumsum(sizes) - sizes), sizes)
    first = np.zeros(len(places), dtype=np.bool_)
    first[np.cumsum(sizes) - sizes] = True
    blocks = Blocks(first)
    merged = prepare(kind, "aggregate", column.take(pa.array(places)), blocks).of_windows(Ranges.of_blocks(blocks))
    if len(some) == len(high):
        return merged
    at = np.zeros(len(high), dtype=np.int64)
    at[some] = np.arange(len(some))
    none = np.ones(len(high), dtype=np.bool_)
    none[some] = False
    spread = merged.take(pa.array(at, mask=none))
    return pc.fill_null(spread, 0) if counts else spread
