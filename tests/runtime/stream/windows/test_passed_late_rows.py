"""Late rows on their way: through the local phase of an operator above, and with the times of their windows."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
from pyspark.sql import Row

from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import LATE
from tvfsql.plan.window import Hop
from tvfsql.runtime.arrow.batches import from_bytes
from tvfsql.runtime.stream.exchange.late_rows import missed_windows
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.rows_by_key import LocalRows
from tvfsql.runtime.stream.operator.messages import PassedLate, Report, decoded
from tvfsql.runtime.stream.operator.micro_batch import micro_batch
from tvfsql.runtime.stream.operator.operator import Unpack
from tvfsql.runtime.stream.rows.deduplicate import FIRST, KeepRow
from tvfsql.runtime.stream.state.memory import MemoryState, MemoryTimers
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.time.valve import TRIGGER

TIMES = pa.timestamp("us")
LATE_TYPE = pa.struct([("one", pa.struct([("n", pa.int64())])), ("two", pa.struct([("n", pa.int64())]))])


def at(second: int) -> datetime:
    return datetime(2020, 4, 15, 8, 0, second)


def test_late_rows_are_sent_apart_and_leave_the_operator_above_as_control_rows() -> None:
    """A row in time, and one that was late below. The operator above does not count it."""
    late = [{"one": {"n": 1}, "two": None}, {"one": None, "two": {"n": 2}}]
    columns = [
        pa.array([at(5), None], TIMES),
        pa.array([None, TRIGGER], pa.int64()),
        pa.array([None, ""], pa.string()),
        pa.array([7, 7], pa.int32()),
        pa.array(late, LATE_TYPE),
        pa.array(["a", None]),
        pa.array([at(6), None], TIMES),
        pa.array([10, 0], pa.int64()),
        pa.array(late, LATE_TYPE),
    ]
    batch = pa.RecordBatch.from_arrays(columns, names=[*map(str, range(len(columns)))])
    phase = LocalPhase(LocalRows(2, 1, late=True), (7,), late=True)
    sent = [row for each in phase([batch]) for row in each.to_pylist()]
    assert [(row["channel"], row["payload"] is None) for row in sent] == [(LATE, False), (None, False), ("", True)]
    assert from_bytes(sent[0]["payload"]).column(0).to_pylist() == [late[1]]
    assert LATE in from_bytes(sent[1]["payload"]).schema.names
    operator = KeepRow(2, (0,), 1, FIRST, context=StreamContext(marks=True, late=True))
    emitted = [row.asDict(recursive=True) for row in in_micro_batch(operator, sent) if isinstance(row, Row)]
    fields = [(name, pa.string()) for name in ("kind",)] + [("body", pa.binary())]
    fields.append(("report", pa.string()))
    out = pa.RecordBatch.from_pylist(emitted, pa.schema(fields))
    (passed,) = (message for message in decoded(out) if isinstance(message, PassedLate))
    assert passed.rows.column(0).to_pylist() == [late[1]]
    (report,) = (message for message in decoded(out) if isinstance(message, Report))
    assert (report.rows_in, report.late, report.state_rows) == (1, 0, 1)
    schema = pa.schema([("key", pa.string()), ("time", TIMES), ("$watermark", TIMES), ("$control", pa.int64()),
                        ("$channel", pa.string()), (LATE, LATE_TYPE)])  # fmt: skip
    rows = [row for each in Unpack(operator, schema)(iter([out])) for row in each.to_pylist()]
    assert [row["$control"] == TRIGGER for row in rows if row[LATE]] == [True]
    assert all(row["$control"] is not None for row in rows)


def in_micro_batch(operator: KeepRow, sent: list[dict[str, object]]) -> list[object]:
    rows = [{**row, "now": 0} for row in sent]
    return list(micro_batch(operator, MemoryState(), MemoryTimers(), rows))  # type: ignore[arg-type]


def test_each_missed_window_fills_the_columns_of_the_table_that_the_row_goes_to() -> None:
    """The slice [5, 10) of HOP 5 s/10 s is in the windows that end at 10 s and 15 s. The other table stays NULL."""
    of_table = pa.struct([("n", pa.int64()), ("window_start", TIMES), ("window_time", pa.timestamp("us", "UTC"))])
    kind = pa.struct([("one", of_table), ("two", pa.struct([("window_end", TIMES)]))])
    row = {"one": {"n": 4, "window_start": None, "window_time": None}, "two": None}
    late = pa.RecordBatch.from_arrays([pa.array([2]), pa.array([[row]], pa.list_(kind))], names=["slice", "rows"])
    made = missed_windows(Span(Hop(5000, 10_000)), late, "Asia/Tokyo").to_pylist()
    assert [each["two"] for each in made] == [None, None]
    assert [each["one"]["window_start"] for each in made] == [datetime(1970, 1, 1, 0, 0, s) for s in (0, 5)]
    instants = [each["one"]["window_time"].replace(tzinfo=None) for each in made]
    assert instants == [datetime(1969, 12, 31, 15, 0, s, 999_000) for s in (9, 14)]
