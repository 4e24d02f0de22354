"""Divides the state of an operator among another number of key groups.

Each old key group is split into parts, one per new key group (`split`), and the parts of a new key group are joined to
its state (`join`). Rows go by the hash of their key, as in the exchange before the operator. So each row is also a
check: by its hash it must belong to the key group that it comes from. Nothing is merged: the rows of a key all go to
one new key group, in their order.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.plan.window import Session
from tvfsql.runtime.arrow.batches import from_bytes, joined, to_bytes
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.arrow.spark_hash import xxhash64
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.rows_by_key import HASH
from tvfsql.runtime.stream.rescale.state_rows import GroupState, SetTimers
from tvfsql.runtime.stream.state.chunk_blocks import Stored, of_entry, unpacked
from tvfsql.runtime.stream.state.chunk_index import BUCKETS, INTERVALS, ChunkKey, Key, Kind, listed
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BucketRows, HashBuckets
from tvfsql.runtime.stream.state.memory import MemoryState, MemoryTimers
from tvfsql.runtime.stream.state.timer_queue import QueueName, TimerQueue
from tvfsql.runtime.stream.state.timer_rows import TimerRows
from tvfsql.runtime.stream.windows.sessions.open_sessions import OpenSessions

WINDOWS, JOIN, WATERMARK = "GlobalWindowAggregate", "IntervalJoin", "CurrentWatermark"
OPERATORS = (
    WINDOWS,
    JOIN,
    WATERMARK,
    "ChangelogNormalize",
    "Deduplicate",
    "GapFill",
    "GroupAggregate",
    "Match",
    "RegularJoin",
    "TemporalJoin",
    "TemporalSort",
    "TopN",
    "OverAggregate",
)
# The types of the keys of timers, by service. The timers of a slot of time are for the rows of all keys in it.
TIMERS = {"final": pa.int64(), "clean-up": pa.int64(), "interval join": pa.int8()}
SLOTS = "interval join"
MADE_AGAIN = (Kind.SLICE_RUN,)  # from slices, by the first fire that needs it; here it might lack slices of some keys
SINCE = (Kind.EARLY_SINCE, Kind.LATE_SINCE)


class Part(NamedTuple):
    """What the key group `target` gets from the key group `source`: an index, a chunk of rows, or timers. `name` is
    JSON, `data` an Arrow IPC stream, or the description of the operator in an index."""

    target: int
    source: int
    kind: str
    name: str
    data: bytes = b""


@dataclass(frozen=True)
class Division:
    """From `before` to `after` key groups. `joins` has, for each interval join of the stream, the names of the columns
    of both sides, in their order in state."""

    before: int
    after: int
    joins: tuple[tuple[str, ...], ...] = ()

    def split(self, label: int, state: GroupState) -> Iterator[Part]:
        """The parts of an old key group. Raises DataError if a row does not belong to it."""
        if state.index is None:
            return
        watermark, channels, chunks, text = state.index
        description = Description.load(text)
        labels = key_group_labels(self.after if is_divided(description) else 1)
        for target in labels:
            yield Part(target, label, "index", json.dumps([watermark, channels]), text.encode())
            for kind, number in _marks(state, chunks):
                yield Part(target, label, "mark", json.dumps([kind, number]))
            for name, (now, _) in state.queues.items():
                yield Part(target, label, "queue", json.dumps([*name, now]))
        for key, rows in self._rows(description, state, chunks):
            if key.kind not in MADE_AGAIN:
                hashes = self._hashes(description, key, rows) if is_divided(description) else None
                for target, part in self._by_target(label, labels, rows, hashes):
                    yield Part(target, label, "chunk", json.dumps(key), to_bytes(part))
        for (service, clock), _, data in state.timers:
            if service not in TIMERS:
                raise UnsupportedError(f"{description.operator} has timers of {service}, which cannot be divided")
            rows = of_entry(data)
            to_all = ((target, rows) for target in labels)
            by_key = self._by_target(label, labels, rows, rows.column(0).to_numpy())
            for target, part in to_all if service == SLOTS else by_key:
                yield Part(target, label, "timers", json.dumps([service, clock]), to_bytes(part))

    def join(self, label: int, parts: Iterable[Part]) -> GroupState:
        """The state of a new key group."""
        found: dict[str, list[Part]] = defaultdict(list)
        for part in sorted(parts, key=lambda part: (part.source, part.name)):
            found[part.kind].append(part)
        heads = {part.name for part in found["index"]}
        if len(heads) != 1:
            raise DataError(f"the key groups of an operator have different watermarks: {sorted(heads)}")
        watermark, channels = json.loads(heads.pop())
        description, state = _description(found["index"]), MemoryState()
        store = _rows_together(description, state, found["chunk"])
        for kind in SINCE:
            times = [number for one, number in map(_loaded, found["mark"]) if one == kind]
            if times:
                store.mark(Key(kind, min(times)))
        store.flush()
        assert state.kept is not None, label
        timers = _timers_together(found["queue"], found["timers"], store)
        return GroupState(
            (watermark, channels, state.kept[2], description.dump()),
            dict(state.chunks),
            dict(timers.queues),
            [SetTimers(name, number, data) for (name, number), data in timers.chunks.items()],
        )

    def _rows(
        self, description: Description, state: GroupState, index: bytes
    ) -> Iterator[tuple[ChunkKey, pa.RecordBatch]]:
        """The chunks of a key group, those of buckets without rows that have been replaced."""
        for key, found in groupby(unpacked(index, state.chunks), key=lambda each: each[0][:3]):
            chunks = [*found]
            if key[0] in (*BUCKETS, *INTERVALS):
                first = chunks[0][0]
                rows = BucketRows(lambda batch, first=first: self._hashes(description, first, batch))  # type: ignore[misc]
                live = rows.live([batch for _, batch in chunks])
                chunks = [(at, batch) for (at, _), batch in zip(chunks, live, strict=True)]
            yield from chunks

    def _by_target(
        self, label: int, labels: Sequence[int], rows: pa.RecordBatch, hashes: Ints | None
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        if hashes is None or not rows.num_rows:
            yield labels[0], rows
            return
        if (np.asarray(key_group_labels(self.before))[hashes % self.before] != label).any():
            raise DataError(
                f"a row in key group {label} belongs to another one by its key: the checkpoint is damaged, or its keys "
                "have a type whose hash is not known"
            )
        places = hashes % self.after
        for place in np.unique(places).tolist():
            yield labels[place], rows.filter(pa.array(places == place))

    def _hashes(self, description: Description, key: ChunkKey, rows: pa.RecordBatch) -> Ints:
        """The hash of the key of each row."""
        if HASH in rows.schema.names:
            hashes: Ints = rows.column(HASH).to_numpy()
            return hashes
        if description.operator == WINDOWS:
            keys = [f"${place}" for place in range(len(description.keys))]
        else:
            assert description.operator == JOIN, description.operator
            keys = self._keys_of_join(description, key.level, rows.num_columns - 1)
        return xxhash64([rows.column(name) for name in keys], rows.num_rows)

    def _keys_of_join(self, description: Description, side: int, width: int) -> list[str]:
        """The columns of the key in the rows of a side, which has `width` columns. Columns are named by number."""
        for names in self.joins:
            left, right = (names[:width], names[width:]) if side == 0 else (names[:-width], names[-width:])
            places = {f"{a} = {b}": (i, j) for i, a in enumerate(left) for j, b in enumerate(right)}
            if all(pair in places for pair in description.keys):
                return [str(places[pair][side]) for pair in description.keys]
        raise UnsupportedError(f"the manifest has no join ON {' AND '.join(description.keys)}")


def is_divided(description: Description) -> bool:
    """Whether an operator has several key groups. Without keys all its rows are in one."""
    return bool(description.keys) or description.operator == WATERMARK


def _marks(state: GroupState, index: bytes) -> Iterator[tuple[int, int]]:
    """The keys without rows in an index: (kind, number)."""
    return ((one.kind, one.number) for one in listed(Stored(state.chunks), index) if one.kind in SINCE)


def _description(indexes: Sequence[Part]) -> Description:
    """The description of the operator that most key groups have. One that has had nothing to write since a change of
    the query has an earlier one, with other names, until its next message.
    """
    ((text, _),) = Counter(part.data for part in indexes).most_common(1)
    return Description.load(text.decode())


def _rows_together(description: Description, state: MemoryState, parts: Sequence[Part]) -> ChunkStore:
    """A store of the rows of all parts. Chunks of the same key, place and columns become one, so a key has few."""
    chunks: dict[Key, dict[int, list[pa.RecordBatch]]] = defaultdict(lambda: defaultdict(list))
    for part in parts:
        kind, number, level, place = _loaded(part)
        chunks[Key(Kind(kind), number, level)][place].append(from_bytes(part.data))
    together = {
        key: [batch for _, batches in sorted(places.items()) for batch in _joined_alike(batches)]
        for key, places in sorted(chunks.items())
    }
    window = description.window
    if isinstance(window, Session):
        layout = Intervals(len(description.keys), (), window.gap, window.limit)
        store = OpenSessions.of_state(layout, state, description.inputs).store
        for kind in INTERVALS:
            of_kind = [batch for key, batches in together.items() if key.kind == kind for batch in batches]
            OpenSessions(layout, store, kind).restore(of_kind)
        return store
    store = ChunkStore(state, joined, description.inputs)
    for kind in BUCKETS:
        of_kind = [batch for key, batches in together.items() if key.kind == kind for batch in batches]
        HashBuckets(store, kind=kind).restore(of_kind)
    for key, batches in together.items():
        if key.kind not in BUCKETS:
            store.restore(key, batches)
    return store


def _joined_alike(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """One batch for each set of columns: a changed query has other partials than chunks that it has not read."""
    alike: dict[tuple[str, ...], list[pa.RecordBatch]] = defaultdict(list)
    for batch in batches:
        alike[tuple(batch.schema.names)].append(batch)
    return [joined(each) for each in alike.values()]


def _timers_together(queues: Sequence[Part], timers: Sequence[Part], store: ChunkStore) -> MemoryTimers:
    """The timers of all parts. Those of slots that have no rows here are left out."""
    made = MemoryTimers()
    batches: dict[tuple[int, QueueName], list[pa.RecordBatch]] = defaultdict(list)
    for part in timers:
        service, clock = _loaded(part)
        batches[part.source, (service, clock)].append(from_bytes(part.data))
    clocks: dict[QueueName, list[tuple[int, int | None]]] = defaultdict(list)
    for part in queues:
        service, clock, now = _loaded(part)
        clocks[service, clock].append((part.source, now))
    for name, of_sources in clocks.items():
        rows, old = TimerRows((TIMERS[name[0]],)), list[TimerQueue]()
        for source, now in of_sources:
            kept = MemoryTimers()
            queue = TimerQueue(rows, kept, name)
            for batch in batches[source, name]:
                queue.register(_of_slots(batch, store) if name[0] == SLOTS else batch)
            queue.now = now
            queue.flush()
            old.append(TimerQueue(rows, kept, name))
        new = TimerQueue(rows, made, name)
        new.restore(old)
        new.flush()
    return made


def _of_slots(timers: pa.RecordBatch, store: ChunkStore) -> pa.RecordBatch:
    sides, slots = timers.column(0).to_pylist(), timers.column(1).to_pylist()
    here = [Key(Kind.JOIN_SLOT, slot, side) in store for side, slot in zip(sides, slots, strict=True)]
    return timers.filter(pa.array(here, pa.bool_()))


def _loaded(part: Part) -> list[Any]:
    """The name of a part."""
    name: list[Any] = json.loads(part.name)
    return name
