"""Keys of the local phase, and the key groups that it sends them to."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa

from tests.models.streams import (
    at,
)
from tvfsql.plan.window import Tumble
from tvfsql.runtime.arrow.batches import from_bytes
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels, spark_hash
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.local_windows import LocalSlices


def test_there_is_one_zero_and_one_nan_among_the_keys() -> None:
    layout, nan = SliceRows(1, (("rows", "sum"),)), float("nan")
    columns = {
        "mark": pa.nulls(4, pa.timestamp("us")),
        "control": pa.nulls(4, pa.int64()),
        "channel": pa.nulls(4, pa.string()),
        "group": pa.array([7] * 4, pa.int32()),
        "key": pa.array([0.0, -0.0, nan, -nan]),
        "time": pa.array([at(1)] * 4, pa.timestamp("us")),
        "rows": pa.array([1] * 4, pa.int64()),
    }
    out, _ = LocalPhase(LocalSlices(layout, Tumble(1000)), (7,))([pa.RecordBatch.from_pydict(columns)])
    held = from_bytes(out.column("payload")[0].as_py()).to_pydict()
    assert (repr(held["$0"]), held["rows"]) == ("[0.0, nan]", [2, 2])


def test_labels_of_key_groups_fill_partitions_evenly() -> None:
    assert (spark_hash(0), spark_hash(1)) == (933211791, -559580957)  # SELECT hash(0), hash(1)
    for partitions in (1, 2, 4, 8):
        held = [spark_hash(label) % partitions for label in key_group_labels(8)]
        assert {held.count(partition) for partition in range(partitions)} == {8 // partitions}


def test_the_watermark_follows_the_time_with_a_delay() -> None:
    layout, rows = SliceRows(1, (("rows", "sum"),)), [at(ms) for ms in (1500, 900, 4200, 3100)]
    times = pa.array([*rows, None, None], pa.timestamp("us"))  # the last two: a row without a time, a control row
    columns = {
        "mark": pa.array([*(time - timedelta(milliseconds=300) for time in rows), None, None], pa.timestamp("us")),
        "control": pa.array([None] * 5 + [2000], pa.int64()),
        "channel": pa.array(["a", "b", "a", "b", "b", "b"]),
        "group": pa.array([7] * 6, pa.int32()),
        "key": pa.array([0, 1, 0, 1, 0, None], pa.int64()),
        "time": times,
        "rows": pa.array([1, 1, 1, 1, 1, None], pa.int64()),
    }
    whole = pa.RecordBatch.from_pydict(columns)
    for on_event in (False, True):
        strategy = LocalSlices(layout, Tumble(1000))
        if on_event:
            whole = whole.add_column(3, "row", pa.array([0.1, 0.2, 0.3, 0.4, 0.5, None]))
        sent = [batch.to_pylist() for batch in LocalPhase(strategy, (7,), on_event)([whole])]
        short = whole.drop_columns(["mark"])
        assert [batch.to_pylist() for batch in LocalPhase(strategy, (7,), on_event, delay=300)([short])] == sent
        messages = {(row["channel"], row["watermark"]) for batch in sent for row in batch if row["payload"] is None}
        assert {("a", 3900), ("b", 2800)} <= messages


def test_partials_can_share_columns() -> None:
    layout = SliceRows(1, (("total", "sum"), ("rows", "sum"), ("highest", "max"), ("key", "min")))
    marks = {
        "mark": pa.nulls(3, pa.timestamp("us")),
        "control": pa.nulls(3, pa.int64()),
        "channel": pa.nulls(3, pa.string()),
        "group": pa.array([7] * 3, pa.int32()),
        "k": pa.array([4, 5, 4]),
        "time": pa.array([at(1), at(2), None], pa.timestamp("us")),
    }
    price = pa.array([10, None, 30])
    all_columns = {"total": price, "rows": pa.array([1, 1, 1]), "highest": price, "key": marks["k"]}
    whole, short = (pa.RecordBatch.from_pydict(marks | more) for more in (all_columns, {"total": price}))
    sent = [batch.to_pylist() for batch in LocalPhase(LocalSlices(layout, Tumble(1000)), (7,))([whole])]
    shared = LocalSlices(layout, Tumble(1000), places=(1, None, 1, 0))
    assert [batch.to_pylist() for batch in LocalPhase(shared, (7,))([short])] == sent
