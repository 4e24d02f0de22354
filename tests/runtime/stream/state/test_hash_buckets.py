"""Buckets of rows by hash, compared with a dictionary over many micro-batches, growth and restarts included."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.streams import Memory
from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.stream.state import chunk_index
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.hash_buckets import BucketRows, HashBuckets, hashes_of

HASHES = st.integers(-20, 20)
CHANGES = st.one_of(
    st.tuples(st.just("add"), st.lists(HASHES, min_size=1, max_size=9)),
    st.tuples(st.just("update"), st.lists(st.tuples(HASHES, st.integers(0, 2)), min_size=1, max_size=9)),
    st.tuples(st.just("put"), st.lists(st.tuples(HASHES, st.integers(0, 2)), min_size=1, max_size=9)),
    st.tuples(st.just("clear"), st.just(())),
)
Model = dict[int, list[int]]


def rows(values: list[tuple[int, int]]) -> pa.RecordBatch:
    hashes, numbers = ([pair[place] for pair in values] for place in (0, 1))
    return pa.RecordBatch.from_pydict({"v": pa.array(numbers, pa.int64()), "$hash": pa.array(hashes, pa.int64())})


def read(buckets: HashBuckets) -> Model:
    found: Model = defaultdict(list)
    for batch in buckets.read(buckets.every()):
        for row in batch.to_pylist():
            found[row["$hash"]].append(row["v"])
    return dict(found)


def pairs(batches: Sequence[pa.RecordBatch]) -> list[tuple[int, int]]:
    return [(row["$hash"], row["v"]) for batch in batches for row in batch.to_pylist()]


@given(st.lists(st.lists(CHANGES, max_size=5), min_size=1, max_size=15), st.sampled_from([2, 5, 1000]))
def test_rows_are_those_of_a_dictionary(micro_batches: list[list[tuple[str, list]]], bucket_rows: int) -> None:
    state, model, value = Memory(), Model(), 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunk_index, "INLINE", 3)
        for changes in micro_batches:
            buckets = HashBuckets(ChunkStore(state, joined), bucket_rows)
            for what, drawn in changes:
                if what == "add":
                    fresh = [(hashed, value := value + 1) for hashed in drawn]
                    buckets.add(rows(fresh))
                    for hashed, number in fresh:
                        model.setdefault(hashed, []).append(number)
                elif what in ("update", "put"):
                    counts = dict(drawn)
                    touched = np.array([*counts])
                    fresh = [(hashed, value := value + 1) for hashed, count in counts.items() for _ in range(count)]
                    if what == "put":
                        before = buckets.of(touched)
                        assert all(number in model[hashed] for hashed, number in pairs(before))
                        assert len(pairs(before)) == sum(len(model.get(hashed, ())) for hashed in counts)
                        buckets.put(rows(fresh), before)
                    else:
                        before = buckets.read(np.unique(buckets.numbers(touched)).tolist())
                        others = [pair for pair in pairs(before) if pair[0] not in counts]
                        buckets.update(rows(others + fresh), touched, before)
                        buckets.make_room()
                    for hashed in counts:
                        model.pop(hashed, None)
                    for hashed, number in fresh:
                        model.setdefault(hashed, []).append(number)
                else:
                    buckets.clear()
                    model.clear()
                assert read(buckets) == model
            buckets.store.flush()
            kept = HashBuckets(ChunkStore(state, joined), bucket_rows)
            assert kept.count == buckets.count
            assert kept.level == buckets.level or not model
            assert read(kept) == model
            longest = max((len(kept.store.read(key)) for key in kept.store.keys(kept.kind)), default=0)
            assert longest <= 4  # chunks of a bucket with so few rows


def test_hashes_that_come_and_go_leave_nothing_behind() -> None:
    state, sizes = Memory(), list[int]()
    for i in range(400):
        buckets = HashBuckets(ChunkStore(state, joined), 16)
        before = buckets.of(np.arange(10 * i - 10, 10 * i))
        buckets.put(rows([(hashed, i) for hashed in range(10 * i, 10 * i + 10)]), before)
        buckets.store.flush()
        assert len(read(buckets)) == 10
        sizes.append(buckets.count)
    assert max(sizes[200:]) <= max(sizes[:200]) < 400, "markers of what was removed go when chunks are merged"


def test_chunks_merge_in_any_association() -> None:
    state, buckets = Memory(), BucketRows()
    draw = np.random.default_rng(1)
    for _ in range(200):
        chunks = []
        for _ in range(4):
            store = HashBuckets(ChunkStore(state, joined))
            hashes = draw.integers(0, 4, 3)
            batch = rows([(int(hashed), int(draw.integers(1000))) for hashed in hashes])
            old = [rows([(hashed, 0) for hashed in range(4)])]
            change = hashes[: draw.integers(0, 4)]
            store.store.append(store.key(0), old[0].append_column("$change", pa.array([0] * 4, pa.int8())))
            store.update(joined([batch, old[0]]), change, old)
            chunks.append(store.store.read(store.key(0))[-1])
        whole = joined(buckets.live(chunks))
        left = joined(buckets.live([buckets.merged(chunks[:2], False), *chunks[2:]]))
        right = joined(buckets.live([chunks[0], buckets.merged(chunks[1:], False)]))
        oldest = joined(buckets.live([buckets.merged(chunks[:3], True), chunks[3]]))
        for other in (left, right, oldest):
            assert other.sort_by("v").to_pydict() == whole.sort_by("v").to_pydict()
    assert hashes_of(whole).tolist() == whole.column("$hash").to_pylist()
