"""Both sides of a join in one operator, without Spark, and the same sides each in an operator of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tests.models.drawn_streams import MONTHS, OFFSETS, micro_batches
from tests.models.streams import LAYOUT, Event, Memory, Operator, Out, row_numbers, source
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.window import Sliced, Tumble
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.local_windows import LocalSlices
from tvfsql.runtime.stream.time.valve import ALL, ENDED, IDLE
from tvfsql.runtime.stream.windows.by_input import with_input

INPUTS = ("1/", "2/")
BY_INPUT = StreamContext(inputs=INPUTS, by_input=True)
TUMBLES = st.builds(Tumble, st.integers(1, 30), OFFSETS) | MONTHS
Sides = Sequence[Sequence[Event]]  # the events of the left and of the right side


@dataclass
class Together(Operator):
    """The operator of both sides: channels are named as `union_streams` names them, and rows have their input."""

    context: StreamContext = BY_INPUT

    def of_sides(self, sides: Sides) -> list[Out]:
        """Run a micro-batch."""
        return self.batch([_of_input(event, name) for name, of in zip(INPUTS, sides, strict=True) for event in of])

    def batch(self, events: Sequence[Event]) -> list[Out]:
        labels = key_group_labels(self.groups)
        strategy = LocalSlices(with_input(LAYOUT), self.window)  # type: ignore[arg-type]
        local = LocalPhase(strategy, labels, self.on_event, chunk_rows=3)
        sent: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for part in range(self.partitions):
            of_part = events[part :: self.partitions]
            numbers = row_numbers(of_part) if self.on_event else None
            cuts = [
                _with_input(source(of_part[i : i + 4], labels, numbers and numbers[i : i + 4]), of_part[i : i + 4])
                for i in range(0, len(of_part), 4)
            ]
            for out in local(cuts):
                for row in out.to_pylist():
                    sent[row["key_group"]].append(row)
        return [out for group in labels for out in self.of_group(group, sent[group])]


def _of_input(event: Event, name: str) -> Event:
    of_all = ALL if event.ts is None else ""
    return replace(event, channel=name + (of_all if event.channel is None else event.channel))


def _with_input(batch: pa.RecordBatch, events: Sequence[Event]) -> pa.RecordBatch:
    at = batch.schema.names.index("key") + 1
    numbers = [int((event.channel or "").partition("/")[0]) for event in events]
    return batch.add_column(at, "input", pa.array(numbers, pa.int32()))


@dataclass
class Apart:
    """An operator for each side, and the windows of both that wait for the slower side."""

    window: Sliced
    on_event: bool = False
    waiting: list[list[Out]] = field(default_factory=lambda: [[], []])

    def __post_init__(self) -> None:
        self.operators = [Operator(self.window, on_event=self.on_event) for _ in INPUTS]

    @property
    def late(self) -> int:
        return sum(each.late for each in self.operators)

    @property
    def watermark(self) -> int | None:
        known = [_watermark(state) for each in self.operators for state in each.states.values()]
        return None if None in known else min(mark for mark in known if mark is not None)

    def of_sides(self, sides: Sides) -> list[tuple[list[Out], list[Out]]]:
        """Run a micro-batch. The windows that both sides have passed, by key: the row of each side, if it has one."""
        for waiting, operator, events in zip(self.waiting, self.operators, sides, strict=True):
            waiting += operator.batch(events)
        found: dict[Any, tuple[list[Out], list[Out]]] = defaultdict(lambda: ([], []))
        watermark = self.watermark
        for number, waiting in enumerate(self.waiting):
            due = [row for row in waiting if watermark is not None and row[2] - 1 <= watermark]
            for row in due:
                found[row[:3]][number].append(row)
                waiting.remove(row)
        return list(found.values())


def _watermark(state: Memory) -> int | None:
    return None if state.kept is None else state.kept[0]


def merged(rows: Sequence[Out]) -> Out:
    """What one operator makes of the rows of both sides: their number, sum, extremes and lists of values."""
    key, start, end = rows[0][:3]
    counts, totals, most, least, _, different, every, _ = zip(*(row[3:] for row in rows), strict=True)
    values = (
        tuple(sorted(value for of in different for value in of)),
        tuple(sorted(value for of in every for value in of)),
    )
    return key, start, end, sum(counts), sum(totals), max(most), min(least), tuple(sorted({*values[0]})), values[1]


@st.composite
def of_channels(draw: st.DrawFn) -> list[list[Event]]:
    """Micro-batches of a table with two channels, which may be idle for a while, and may end before the others."""
    batches = []
    for events in draw(micro_batches())[:-1]:
        named = [one if one.ts is None else replace(one, channel=draw(st.sampled_from(["0", "1"]))) for one in events]
        for channel in draw(st.lists(st.sampled_from(["0", "1", None]), max_size=1)):
            says = IDLE if events else draw(st.sampled_from([IDLE, ENDED]))  # ENDED comes behind the rows, IDLE before
            named.append(Event(None, None, says, channel=channel))
        batches.append(named)
    return batches


@st.composite
def two_sides(draw: st.DrawFn) -> list[Sides]:
    """Micro-batches of both sides, of which one may go on for longer; both inputs end."""
    tables = draw(micro_batches() | of_channels()), draw(micro_batches() | of_channels())
    both: list[Sides] = [tuple(sides) for sides in zip_longest(*tables, fillvalue=[])]
    end = [Event(None, None, 2**63 - 1)]
    return [*both, (end, end)]
