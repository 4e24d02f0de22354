"""MATCH_RECOGNIZE of a stream: a match leaves when the watermark has passed its rows, and it is known that no earlier
row begins one.

Rows wait for the watermark as those of a sort do (`WaitingRows`). The state has of each key the rows since the first
one that may begin a match, in buckets of the hash of the key. Beside a row are the paths that begin with it, as
numbers, so a restart goes on where the last micro-batch has ended, and reads no row again.

A match that waits for an earlier row holds the output watermark back. For each key with such a match the state has when
the longest match of that row would be over, so that keys without new rows are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from tvfsql.plan.patterns import Pattern
from tvfsql.plan.stream import ONE_INPUT, StreamContext, StreamOptions
from tvfsql.runtime.arrow.batches import in_pieces, joined
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.arrow.ranks import DIRECTIONS
from tvfsql.runtime.frames.row_patterns import Merges, Navigations, matches_of, schema_of
from tvfsql.runtime.patterns.graph import FAR
from tvfsql.runtime.patterns.matches import Matches
from tvfsql.runtime.stream.exchange.rows_by_key import HASH, late_type, own_columns, rows_by_key, zone_of
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.row_key_group import OrderedKeyGroup, in_order
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, HashBuckets, hashes_of
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.waiting_rows import SLOT
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

CHUNK_ROWS = 250_000  # rows that are read together, if so many leave at once
# The matches that wait, as rows: the hash of the key, the time of the last row (epoch us), and when nothing can keep it
# waiting any more.
WAITING = Key(Kind.FRAME, 0)
WAITS, DUE = "waits", "due"


def match_rows_stream(
    rows: DataFrame,
    pattern: Pattern,
    *,
    keys: Sequence[str],
    order: Mapping[str, str],
    navigations: Navigations,
    merges: Merges | None = None,
    name: str = "tvfsql_matches",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and Match: the rows and the columns of `frames.row_patterns.match_rows`.

    In: any columns, and the watermark columns of `with_watermarks`.
    Out: with `marks` the operator adds its own. Rows at or before the current watermark are late: they are dropped and
    counted, or with `late` emitted apart.
    """
    context = StreamContext(**options)
    own = own_columns(rows)
    time, *more = order
    spec = matches_of(pattern, own, keys, time, navigations, merges or {})
    ties = tuple((own.index(column), *DIRECTIONS[order[column]]) for column in more)
    operator = MatchPattern(len(own), spec, ties, context)
    description = Description(
        "Match",
        tuple(keys),
        about=f"pattern=[{pattern}]",
        zone=zone_of(rows, time),
        inputs=tuple(context.inputs),
    )
    sent = rows_by_key(rows, context, columns=own, keys=keys, time=time, arrived=True)
    schema = schema_of(rows, keys, navigations, merges or {})
    return apply_operator(sent, operator, description, schema, name=name, late=late_type(rows, context))


@dataclass(frozen=True)
class MatchPattern(Operator):
    """The matches in rows with `columns` columns, followed by ARRIVED. `ties` order rows of one time: (column,
    descending, NULLs first)."""

    columns: int
    spec: Matches
    ties: tuple[tuple[int, bool, bool], ...] = ()
    context: StreamContext = ONE_INPUT
    slot: int = SLOT
    bucket_rows: int = BUCKET_ROWS
    chunk_rows: int = CHUNK_ROWS

    def open(self, state: State, timers: TimerState | None, now: int) -> MatchedRows:
        return MatchedRows(self, ChunkStore(state, joined, self.context.inputs))


class MatchedRows(OrderedKeyGroup):
    """The rows of a key group that may become matches."""

    def __init__(self, spec: MatchPattern, store: ChunkStore) -> None:
        super().__init__(spec.context, store, time=spec.spec.time, arrived=spec.columns, slot=spec.slot)
        self.spec = spec
        self.buckets = HashBuckets(store, spec.bucket_rows)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        before = self.watermark
        gathered: list[pa.RecordBatch] = []
        for rows in self.released(messages):
            gathered.append(in_order(rows, self.spec.spec.time, self.spec.ties))
            if sum(batch.num_rows for batch in gathered) >= self.spec.chunk_rows:
                new, gathered = joined(gathered), []
                yield from self._read(new, int(self._micros(new)[-1]))
        now = self.watermark
        if now is None:
            return
        ended = now >= END_OF_INPUT
        within = self.spec.spec.pattern.within
        every = ended or (
            within is not None and now != before and (before is None or before // within != now // within)
        )
        yield from self._read(joined(gathered) if gathered else None, now * 1000, ended=ended, every=every)

    def _micros(self, rows: pa.RecordBatch) -> Ints:
        micros: Ints = rows.column(self.spec.spec.time).cast(pa.timestamp("us")).view(pa.int64()).to_numpy()
        return micros

    def _read(
        self, rows: pa.RecordBatch | None, now: int, *, ended: bool = False, every: bool = False
    ) -> Iterator[Emit]:
        """Emit what matches with new rows, by the time `now` (epoch us). `every`: look at all keys."""
        waiting = self._waiting
        due = waiting[HASH][waiting[DUE] <= now]
        hashes = np.unique(np.concatenate([due, hashes_of(rows)] if rows is not None else [due]))
        numbers = self.buckets.every() if every else []
        numbers = sorted({*numbers, *np.unique(self.buckets.numbers(hashes)).tolist()})
        stored = [batch for batch in self.buckets.read(numbers) if batch.num_rows]
        new = [] if rows is None else [rows.select([*map(str, range(self.spec.columns)), HASH])]
        if not (stored or new):
            return
        made = self.spec.spec.advance(stored, new, now=now, ended=ended)
        self.counts.rows_out += made.made.num_rows
        yield from map(Emit, in_pieces(made.made))
        changed = hashes_of(made.rows) if every else hashes
        self.buckets.update(made.kept, changed, stored)
        read = np.isin(self.buckets.numbers(waiting[HASH]), numbers)
        self._wait(
            np.concatenate([waiting[HASH][~read], hashes_of(made.rows)[made.waiting]]),
            np.concatenate([waiting[WAITS][~read], made.waits]),
            np.concatenate([waiting[DUE][~read], made.due]),
        )
        self.buckets.make_room()

    @property
    def _waiting(self) -> dict[str, Ints]:
        if WAITING not in self.store:
            return {name: np.zeros(0, dtype=np.int64) for name in (HASH, WAITS, DUE)}
        rows = joined(self.store.read(WAITING))
        return {name: rows.column(name).to_numpy() for name in (HASH, WAITS, DUE)}

    def _wait(self, hashes: Ints, waits: Ints, due: Ints) -> None:
        """Write which matches wait."""
        if len(hashes):
            self.store.replace(
                WAITING, pa.RecordBatch.from_arrays([*map(pa.array, (hashes, waits, due))], [HASH, WAITS, DUE])
            )
        elif WAITING in self.store:
            self.store.drop(WAITING)

    @property
    def output_watermark(self) -> int | None:
        """Before the last row of a match that waits."""
        waits = self._waiting[WAITS]
        if self.watermark is None or not len(waits):
            return self.watermark
        return min(self.watermark, int(waits.min()) // 1000 - 1)

    @property
    def newest_end(self) -> int | None:
        newest = super().newest_end
        due = self._waiting[DUE]
        due = due[due < FAR]
        if not len(due):
            return newest
        last = -(-int(due.max()) // 1000) + 1
        return last if newest is None else max(newest, last)
