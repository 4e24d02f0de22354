"""The shell of an operator in pyspark's tester, and the messages that it emits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from tests.models.streams import (
    EMITTED,
    LAYOUT,
    TYPES,
    Event,
    messages,
    operator,
    ordered,
    rows_of,
    source,
    strategy,
)
from tvfsql.plan.window import Hop
from tvfsql.runtime.arrow import batches as arrow_batches
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.operator import messages as operator_messages
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late, PassedLate, Report, decoded, encoded
from tvfsql.runtime.stream.operator.operator import OperatorShell
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT


def test_the_shell_runs_the_operator_over_the_rows_of_spark() -> None:
    window = Hop(1000, 3000)
    shell = OperatorShell(operator(window), Description("GlobalWindowAggregate", ("key",), window))
    tester = TwsTester(shell)
    (label,) = key_group_labels(1)
    out: list[list[Any]] = []
    for events in ([Event("a", 500), Event("b", 1500, 999)], [Event("a", 10), Event(None, None, END_OF_INPUT)]):
        payloads = list(LocalPhase(strategy(window), (label,))([source(events, (label,))]))
        rows = [Row(**row, now=0) for batch in payloads for row in batch.to_pylist()]
        out.append([*messages(tester.test(label, rows))])
    first, second = (
        [row[:4] for message in told[:-1] for made in operator(window).unpack(message) for row in rows_of(made)]
        for told in out
    )
    assert first == [("a", -2000, 1000, 1)]
    assert ordered(second) == [
        ("a", -1000, 2000, 2), ("a", 0, 3000, 2), ("b", -1000, 2000, 1), ("b", 0, 3000, 1), ("b", 1000, 4000, 1)
    ]  # fmt: skip
    report = out[0][-1]
    assert report.newest_end == 4000
    assert (report.rows_in, report.late, report.rows_out, report.watermark) == (2, 0, 1, 999)
    assert (report.state_rows, report.open_slices) == (2, 2)
    kept = (END_OF_INPUT, '{"": [999, false, false]}', b"", shell.description)
    assert tester.peekValueState("index", label) == kept


def test_messages_come_through_spark_as_they_were() -> None:
    rows = LAYOUT.batch([pa.array(["a"])], np.array([4]), [pa.array([None], kind) for kind in TYPES])
    numbers = (1, 2, 0, 0, 4, 3, None, -5, 60_000, 7, None, 2**62, 0, None)
    sent: list[Any] = [Fire(rows, -1000, 2000), Emit(rows), Late(rows), Report(*numbers)]
    assert [*messages(row for message in sent for row in encoded(message))] == sent
    with pytest.raises(AssertionError, match="unknown kind of message"):
        [*decoded(pa.RecordBatch.from_pylist([{"kind": "Other"}], schema=EMITTED))]


def test_bodies_are_of_bounded_size_and_a_fire_is_cut_between_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_batches, "PIECE_BYTES", 2_000)
    monkeypatch.setattr(operator_messages, "PIECE_BYTES", 2_000)
    keys = [f"key {n // 7}" for n in range(700)]
    layout = SliceRows(1, (("n", "sum"),))
    rows = layout.batch([pa.array(keys)], np.arange(700), [pa.array(range(700))])
    for message in (Fire(rows, -1000, 2000), Emit(rows), Late(rows), PassedLate(rows)):
        sent = [*encoded(message)]
        assert len(sent) > 5
        assert all(len(row["body"]) < 4_000 for row in sent)
        parts = [*messages(iter(sent))]
        together = pa.concat_batches([one.slices if isinstance(one, Fire) else one.rows for one in parts])
        assert together == rows
        if isinstance(message, Fire):
            assert {(one.first_end, one.last_end) for one in parts} == {(-1000, 2000)}
            assert sum(len({*one.slices.column(0).to_pylist()}) for one in parts) == 100
    few = [*encoded(Emit(rows.slice(0, 1)))]
    assert len(few) == 1
