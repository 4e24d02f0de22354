"""Windows of several inputs, each with a watermark of its own: the aggregates of the sides of a join in one operator.

A row is late by the watermark of its input alone, as it would be for an operator that has no other input. A window
fires when all inputs have passed its end. Between these two times it holds the final rows of one input and may get more
of another one. Windows do not share slices here: a slice that has ended for an input could otherwise still count in
windows that have not fired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F

from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.stream.exchange.late_rows import Layout
from tvfsql.runtime.stream.windows.slicing import SlicingWindows

INPUT = "$input"  # the number of a row's input, from 1 on; between the local phase and the operator it is one more key


def input_of(channel: str) -> Column:
    """The number of the input, of the name that `union_streams` gives to a channel."""
    return F.substring_index(column_of(channel), "/", 1).cast("int")


def with_input(layout: Layout) -> Layout:
    """The layout of rows with INPUT behind their keys."""
    return replace(layout, keys=layout.keys + 1)


class WindowsOfInputs(SlicingWindows):
    """The windows of a key group. Its payloads have INPUT, its state does not."""

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        found = defaultdict[int, list[pa.RecordBatch]](list)
        for number, of_input in self._by_input(payloads).items():
            for slice_number, batch in self.in_time(of_input, self._fired_by(number)):
                found[slice_number].append(batch)
        for slice_number, batches in sorted(found.items()):
            self.tree.add(slice_number, self.layout.merged(batches) if len(batches) > 1 else batches[0])

    def _by_input(self, payloads: Sequence[pa.RecordBatch]) -> dict[int, list[pa.RecordBatch]]:
        """The payloads of each input, without INPUT."""
        at, found = self.layout.keys, defaultdict[int, list[pa.RecordBatch]](list)
        for batch in payloads:
            of_rows, rows = batch.column(at), batch.drop_columns([batch.schema.names[at]])
            for number in of_rows.unique().to_pylist():
                found[number].append(rows.filter(pc.equal(of_rows, number)))
        return dict(sorted(found.items()))

    def _fired_by(self, number: int) -> int | None:
        """The last slice that has ended for an input; None: it has no watermark yet."""
        watermark = self.store.valve.floors.get(f"{number}/")
        return None if watermark is None else self.span.number(watermark + 1)
