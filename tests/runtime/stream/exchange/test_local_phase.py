"""Keys of the local phase, and the key groups that it sends them to."""

from __future__ import annotations

import pyarrow as pa
from streams import (
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
