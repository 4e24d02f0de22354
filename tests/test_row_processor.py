"""The shell around operators that keep rows by key, behind pyspark's tester: state, timers, counters, control rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from row_streams import COLUMNS, rows_of, sent_by
from streams import Event

from tvfsql.runtime.stream.control import END_OF_INPUT
from tvfsql.runtime.stream.deduplicate import FIRST, KeepRow
from tvfsql.runtime.stream.description import Description
from tvfsql.runtime.stream.groups import key_group_labels
from tvfsql.runtime.stream.interval_join import IntervalJoin
from tvfsql.runtime.stream.local_rows import LocalRows
from tvfsql.runtime.stream.row_processor import RowOperator, RowProcessor, UnpackRows
from tvfsql.runtime.stream.slice_rows import from_bytes, joined

(LABEL,) = key_group_labels(1)
END = Event(None, None, END_OF_INPUT)
TYPES = (pa.string(), pa.timestamp("us"), pa.int64())
MARKS = [("$watermark", pa.timestamp("us")), ("$control", pa.int64()), ("$channel", pa.string())]


class Shell:
    """An operator in the tester. A micro-batch gives rows, control rows among them, and the row of counters."""

    def __init__(self, operator: RowOperator, sides: int) -> None:
        self.tester = TwsTester(RowProcessor(operator, Description(type(operator).__name__)))
        columns = [(f"c{i}", kind) for i, kind in enumerate(TYPES * sides)]
        self.unpack = UnpackRows(pa.schema([*columns, *MARKS]), True)

    def batch(self, *sides: list[Event]) -> tuple[list[Any], Any]:
        rows = [Row(**row, now=0) for row in sent_by(sides, (LABEL,))[LABEL]]
        out = self.tester.test(LABEL, rows)
        kinds = {"payload": pa.binary(), "handed": pa.int64(), "rows_in": pa.int64()}
        told = pa.table({name: pa.array([row[name] for row in out], kind) for name, kind in kinds.items()})
        found = [row for batch in told.to_batches() for made in self.unpack(iter([batch])) for row in rows_of(made)]
        return found, next(row for row in out if row.payload is None)


def test_first_rows_with_the_watermark_behind_them() -> None:
    tested = Shell(KeepRow(COLUMNS, (0,), 1, FIRST, (), 1000), 1)
    found, counters = tested.batch([Event("a", 500, 499), Event("b", 400, 499), Event("a", 100, None)])
    assert found == [
        ("a", 100, 1, None, None, None),
        ("b", 400, 1, None, None, None),
        (None, None, None, None, 499, ""),
    ]
    assert (counters.rows_in, counters.late, counters.windows, counters.state_rows) == (3, 0, 2, 2)
    found, counters = tested.batch([Event("a", 400), Event("c", 600), END])
    assert found == [("c", 600, 1, None, None, None), (None, None, None, None, END_OF_INPUT, "")]
    assert (counters.late, counters.watermark, counters.state_rows, counters.state_bytes) == (1, END_OF_INPUT, 0, 0)


def test_joined_rows_with_the_watermark_that_lies_behind() -> None:
    tested = Shell(IntervalJoin((COLUMNS,) * 2, ((0,), (0,)), (1, 1), (-100_000, 0), "left", (False,)), 2)
    found, counters = tested.batch([Event("a", 500, 600), Event("b", 400, 600)], [Event("a", 550, 450)])
    pair = ("a", 500, 1, "a", 550, 1)
    assert found == [(*pair, None, None, None), (*[None] * 7, 350, "")]
    assert (counters.watermark, counters.state_rows) == (450, 3)
    found, counters = tested.batch([END], [Event("a", 450), Event("a", 580), END])
    alone = ("b", 400, 1, None, None, None)
    assert found == [("a", 500, 1, "a", 580, 1, *[None] * 3), (*alone, *[None] * 3), (*[None] * 7, END_OF_INPUT, "")]
    assert (counters.late, counters.late_right, counters.state_rows) == (1, 1, 0)


def test_what_may_be_null_in_a_struct_may_differ_between_micro_batches() -> None:
    def payload(nullable: bool) -> Any:
        inner = pa.struct([pa.field("x", pa.int64(), nullable=nullable)])
        own = [pa.array([{"x": 1}], inner), pa.array([0], pa.timestamp("us"))]
        columns = [*own, pa.array([1]), pa.array([0], pa.int32())]
        marks = [pa.nulls(1, kind) for _, kind in MARKS]
        batch = pa.RecordBatch.from_arrays([*columns, *marks], names=[str(i) for i in range(7)])
        (out, _) = LocalRows(2, 1, (0,))([batch])
        return from_bytes(out.column("payload")[0].as_py())

    assert joined([payload(True), payload(False)]).num_rows == 2
