"""What a key group without rows costs in a micro-batch in which its watermark moves (docs/streams.md#rescale)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.models.streams import Event, Memory, Operator
from tests.support.row_streams import COLUMNS, Group, RowStream
from tests.support.timers import Memory as TimerMemory
from tvfsql.plan.window import Hop, Session, Window
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.operator.protocol import Operator as RowOperator
from tvfsql.runtime.stream.rows.deduplicate import FIRST, LAST, KeepRow
from tvfsql.runtime.stream.rows.joins.intervals import IntervalJoin
from tvfsql.runtime.stream.rows.joins.versions import TemporalJoin

(LABEL,) = key_group_labels(1)
TWO: Any = ((COLUMNS,) * 2, ((0,), (0,)), (1, 1))


@dataclass
class Counted(Memory):
    """State that also counts the calls for its index."""

    def index(self) -> Any:
        self.calls += 1
        return super().index()

    def set_index(self, index: Any) -> None:
        self.calls += 1
        super().set_index(index)


@pytest.mark.parametrize("window", [Hop(1, 60), Session(10)])
def test_windows_read_and_write_their_watermark(window: Window) -> None:
    operator = Operator(window, states={LABEL: Counted()})
    for watermark in (10, 20, 30):
        operator.states[LABEL].calls = 0
        operator.batch([Event(None, None, watermark)])
        assert operator.states[LABEL].calls == 2


@pytest.mark.parametrize(
    ("operator", "calls"),
    [
        (KeepRow(COLUMNS, (0,), 1, FIRST, retention=20), 4),  # two queues of timers are read, and not written
        (KeepRow(COLUMNS, (0,), 1, LAST, retention=20), 4),
        (IntervalJoin(*TWO, between=(-10, 10), kind="left", null_safe=(False,)), 3),
        (TemporalJoin(*TWO, kind="left", null_safe=(False,)), 2),
    ],
)
def test_row_operators_read_their_timers_too(operator: RowOperator, calls: int) -> None:
    group = Group(Counted(), TimerMemory())
    stream = RowStream(operator, state={LABEL: group})
    sides = 1 if isinstance(operator, KeepRow) else 2
    for watermark in (10, 20, 30):
        group.rows.calls = group.timers.calls = 0
        stream.batch(*[[Event(None, None, watermark)]] * sides)
    assert group.rows.calls + group.timers.calls == calls
