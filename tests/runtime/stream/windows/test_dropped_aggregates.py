"""A query that has fewer aggregates than the one that wrote its state."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.models.streams import MERGES, TYPES, Memory, Out, partials
from tvfsql.plan.window import Cumulate, Hop, Session, Several, Tumble, Window
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.operator.messages import Emit, Fire
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.sessions.operator import SessionOperator
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator


@pytest.mark.parametrize("window", [Tumble(10), Hop(1, 20), Cumulate(2, 10), Session(10)], ids=str)
def test_a_query_that_drops_aggregates_reads_the_state_of_all(window: Window) -> None:
    """Two micro-batches with all aggregates, then two with the first three: the windows are those of the whole."""
    few = MERGES[:3]
    if isinstance(window, Session):
        all_, some = (SessionOperator(Intervals(1, merges, window.gap), "rows") for merges in (MERGES, few))
    else:
        assert not isinstance(window, Several)
        all_, some = (SlicingOperator(window, SliceRows(1, merges), "rows") for merges in (MERGES, few))
    state, whole, found = Memory(), Memory(), list[Any]()
    expected = list[Any]()
    for number, at_ms in enumerate((1, 4, 7, 3)):
        columns = [pa.array(["a"]), *places(window, at_ms)]
        made = [pa.array([value], kind) for value, kind in zip(partials(at_ms, at_ms), TYPES, strict=True)]
        names = all_.layout.names
        batch = pa.RecordBatch.from_arrays([*columns, *made], names)
        expected += step(all_, whole, batch, END_OF_INPUT if number == 3 else None)
        operator = all_ if number < 2 else some
        found += step(operator, state, batch.select(operator.layout.names), END_OF_INPUT if number == 3 else None)
    assert [row[:6] for row in found] == [row[:6] for row in expected] != []


def places(window: Window, at_ms: int) -> list[pa.Array]:
    if isinstance(window, Session):
        return [pa.array([at_ms * 1000]), pa.array([at_ms * 1000])]
    assert not isinstance(window, Several)
    return [pa.array([Span(window).number(at_ms) + 1])]


def step(
    operator: SlicingOperator | SessionOperator, state: Memory, batch: pa.RecordBatch, watermark: int | None
) -> list[Out]:
    group = operator.open(state, None, 0)
    group.add([batch])
    emitted = [*group.advance([("", watermark)] if watermark is not None else []), *group.finish()]
    group.flush()
    rows = [batch for each in emitted if isinstance(each, Fire | Emit) for batch in operator.unpack(each)]
    return [tuple(row.values()) for batch in rows for row in batch.to_pylist()]
