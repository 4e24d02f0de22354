"""The store of chunks, whose small chunks share blocks, compared with a dictionary over many micro-batches."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.streams import Memory
from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.stream.state import chunk_blocks, chunk_index, chunk_store
from tvfsql.runtime.stream.state.chunk_blocks import unpacked
from tvfsql.runtime.stream.state.chunk_index import Key, Kind, listed
from tvfsql.runtime.stream.state.chunk_store import ChunkStore

KEYS = st.builds(Key, st.sampled_from([Kind.SLICE, Kind.EMITTED_STEP]), st.integers(0, 12), st.integers(0, 1))
WIDE = Key(Kind.EMITTED_STEP, 3)  # its rows have a column more
CHANGES = st.one_of(
    st.tuples(st.just("append"), KEYS, st.integers(0, 9)),
    st.tuples(st.just("replace"), KEYS, st.integers(0, 9)),
    st.tuples(st.just("drop"), KEYS, st.just(0)),
    st.tuples(st.just("drop up to"), KEYS, st.just(0)),
)
Model = dict[Key, list[int]]


def rows(key: Key, first: int, number: int) -> pa.RecordBatch:
    values = list(range(first, first + number))
    more = {"more": pa.array(map(str, values), pa.string())} if key == WIDE else {}
    return pa.RecordBatch.from_pydict({"v": pa.array(values, pa.int64())} | more)


def times(batch: pa.RecordBatch) -> tuple[int, int]:
    values = batch.column("v").to_pylist()
    return min(values), max(values)


@pytest.mark.parametrize("with_times", [False, True])
@given(st.lists(st.lists(CHANGES, max_size=12), min_size=1, max_size=12), st.data())
def test_rows_are_those_of_a_dictionary(
    with_times: bool, micro_batches: list[list[tuple[str, Key, int]]], data: st.DataObject
) -> None:
    state, model, values = Memory(), Model(), 0
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {"FEWEST": 2, "MOST_ROWS": 20, "LARGE_ROWS": 8}.items():
            patched.setattr(chunk_blocks, name, value)
        patched.setattr(chunk_store, "SMALL_ROWS", 6)
        patched.setattr(chunk_index, "INLINE", 3)
        for changes in micro_batches:
            store = ChunkStore(state, joined, times=times if with_times else None)
            for what, key, drawn in changes:
                number = max(drawn, 1) if with_times else drawn  # no rows have no times
                if what == "append":
                    store.append(key, rows(key, values, number))
                    model.setdefault(key, []).extend(range(values, values + number))
                elif what == "replace":
                    store.replace(key, rows(key, values, number))
                    model[key] = list(range(values, values + number))
                else:
                    for old in [old for old in model if old == key or (what == "drop up to" and old <= key)]:
                        store.drop(old)
                        del model[old]
                values += number
            if data.draw(st.booleans()):
                assert read(store, model) == model
            store.flush()
            kept = ChunkStore(state, joined, times=times if with_times else None)
            assert read(kept, model) == model
            assert kept.rows == sum(map(len, model.values()))
            assert kept.times() == (extremes(model) if with_times else None)
            assert_nothing_is_left_over(state, model)


def read(store: ChunkStore, model: Model) -> Model:
    assert {*store.keys(*Kind)} == {*model}
    return {key: [v for batch in store.read(key) for v in batch.column("v").to_pylist()] for key in model}


def extremes(model: Model) -> tuple[int, int] | None:
    values = [value for of in model.values() for value in of]
    return (min(values), max(values)) if values else None


def assert_nothing_is_left_over(state: Memory, model: Model) -> None:
    """Every entry of state is in the index, which finds the rows of each key."""
    assert state.kept is not None
    entries = sum(1 for one in listed(state, state.kept[2]) if one.where > 0)
    assert sum(1 for key in state.chunks if key.kind != Kind.INDEX) == entries
    found: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for key, batch in unpacked(state.kept[2], state.chunks):
        found[key.kind, key.number, key.level] += batch.column("v").to_pylist()
    assert found == {tuple(key): of for key, of in model.items()}


def test_many_small_chunks_take_few_state_calls_and_little_more_than_their_rows() -> None:
    state = Memory()
    store = ChunkStore(state, joined)
    for number in range(10_000):
        store.append(Key(Kind.SLICE, number), rows(WIDE, number, 5))
    store.flush()
    assert state.calls == 13 + 1  # blocks of 4096 rows, and the index
    assert store.size < 10_000 * 5 * (8 + 4 + 5) * 1.1
    state.calls = 0
    store = ChunkStore(state, joined)
    assert sum(batch.num_rows for number in range(5000) for batch in store.read(Key(Kind.SLICE, number))) == 25_000
    for number in range(5000):
        store.drop(Key(Kind.SLICE, number))
    store.flush()
    assert state.calls <= 7 + 7 + 2 + 2  # reads, removals, the block that is half empty, and the index
