"""Operators that keep rows by key in the shell, in pyspark's tester: state, timers, reports, control rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from tests.models.streams import EMITTED, Event
from tests.support.row_streams import COLUMNS, rows_of, sent_by
from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.arrow.batches import from_bytes, joined
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.rows_by_key import LocalRows
from tvfsql.runtime.stream.operator.messages import Report, decoded
from tvfsql.runtime.stream.operator.operator import OperatorShell, Unpack
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.deduplicate import FIRST, KeepRow
from tvfsql.runtime.stream.rows.joins.intervals import IntervalJoin
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

(LABEL,) = key_group_labels(1)
END = Event(None, None, END_OF_INPUT)
TYPES = (pa.string(), pa.timestamp("us"), pa.int64())
MARKS = [("$watermark", pa.timestamp("us")), ("$control", pa.int64()), ("$channel", pa.string())]


class Shell:
    """An operator in the tester. A micro-batch gives rows, control rows among them, and the report."""

    def __init__(self, operator: Operator, sides: int) -> None:
        self.tester = TwsTester(OperatorShell(operator, Description(type(operator).__name__)))
        columns = [(f"c{i}", kind) for i, kind in enumerate(TYPES * sides)]
        self.unpack = Unpack(operator, pa.schema([*columns, *MARKS]))

    def batch(self, *sides: list[Event]) -> tuple[list[Any], Report]:
        rows = [Row(**row, now=0) for row in sent_by(sides, (LABEL,))[LABEL]]
        out = [row.asDict(recursive=True) for row in self.tester.test(LABEL, rows)]
        batches = pa.Table.from_pylist(out, schema=EMITTED).to_batches()
        found = [row for batch in batches for made in self.unpack(iter([batch])) for row in rows_of(made)]
        reports = [message for batch in batches for message in decoded(batch) if isinstance(message, Report)]
        (report,) = reports
        return found, report


def test_first_rows_with_the_watermark_behind_them() -> None:
    tested = Shell(KeepRow(COLUMNS, (0,), 1, FIRST, (), 1000, StreamContext(marks=True)), 1)
    found, report = tested.batch([Event("a", 500, 499), Event("b", 400, 499), Event("a", 100, None)])
    assert found == [
        ("a", 100, 1, None, None, None),
        ("b", 400, 1, None, None, None),
        (None, None, None, None, 499, ""),
    ]
    assert (report.rows_in, report.late, report.rows_out, report.state_rows) == (3, 0, 2, 2)
    found, report = tested.batch([Event("a", 400), Event("c", 600), END])
    assert found == [("c", 600, 1, None, None, None), (None, None, None, None, END_OF_INPUT, "")]
    assert (report.late, report.watermark, report.state_rows, report.state_bytes) == (1, END_OF_INPUT, 0, 0)


def test_joined_rows_with_the_watermark_that_lies_behind() -> None:
    context = StreamContext(inputs=("1/", "2/"), marks=True)
    tested = Shell(IntervalJoin((COLUMNS,) * 2, ((0,), (0,)), (1, 1), (-100_000, 0), "left", (False,), context), 2)
    found, report = tested.batch([Event("a", 500, 600), Event("b", 400, 600)], [Event("a", 550, 450)])
    pair = ("a", 500, 1, "a", 550, 1)
    assert found == [(*pair, None, None, None), (*[None] * 7, 350, "")]
    assert (report.watermark, report.state_rows) == (450, 3)
    found, report = tested.batch([END], [Event("a", 450), Event("a", 580), END])
    alone = ("b", 400, 1, None, None, None)
    assert found == [("a", 500, 1, "a", 580, 1, *[None] * 3), (*alone, *[None] * 3), (*[None] * 7, END_OF_INPUT, "")]
    assert (report.late, report.late_right, report.state_rows) == (1, 1, 0)


def test_what_may_be_null_in_a_struct_may_differ_between_micro_batches() -> None:
    def payload(nullable: bool) -> Any:
        inner = pa.struct([pa.field("x", pa.int64(), nullable=nullable)])
        own = [pa.array([{"x": 1}], inner), pa.array([0], pa.timestamp("us")), pa.array([1])]
        marks = [pa.nulls(1, kind) for _, kind in MARKS]
        columns = [*marks, pa.array([0], pa.int32()), *own]
        batch = pa.RecordBatch.from_arrays(columns, names=[str(i) for i in range(7)])
        (out, _) = LocalPhase(LocalRows(2, 1), (0,))([batch])
        return from_bytes(out.column("payload")[0].as_py())

    assert joined([payload(True), payload(False)]).num_rows == 2
