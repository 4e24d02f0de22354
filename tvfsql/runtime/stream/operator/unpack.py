"""The step after the processor: turns an operator's messages into rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL, LATE
from tvfsql.runtime.arrow.batches import in_pieces
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late, PassedLate, Report, decoded
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.time.channel_messages import SOURCE
from tvfsql.runtime.stream.time.valve import TRIGGER


@dataclass(frozen=True)
class Unpack:
    """The function for `mapInArrow`: the operator's result in batches of bounded size, then late rows and control rows.

    `schema` is the Arrow schema of the output: the columns of the result. If it has `$control`, control rows carry the
    operator's output watermark in it. If it has `$late`, late rows are control rows with that column.
    """

    operator: Operator
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            watermarks = []
            for message in decoded(batch):
                match message:
                    case Fire() | Emit():
                        for rows in self.operator.unpack(message):
                            yield from (self._rows(piece.num_rows, piece.columns) for piece in in_pieces(rows))
                    case Late():
                        yield self._late(self.operator.unpack_late(message))
                    case PassedLate():
                        yield self._late(message.rows.column(0))
                    case Report():
                        watermarks.append(TRIGGER if message.output_watermark is None else message.output_watermark)
            if self.operator.context.marks and watermarks:
                control = {CONTROL: pa.array(watermarks), CHANNEL: pa.array([SOURCE] * len(watermarks))}
                yield self._rows(len(watermarks), named=control)

    def _late(self, late: pa.Array) -> pa.RecordBatch:
        """Late rows as control rows that move no watermark."""
        control = {CONTROL: pa.array([TRIGGER] * len(late)), CHANNEL: pa.array([SOURCE] * len(late))}
        return self._rows(len(late), named={LATE: late, **control})

    def _rows(
        self, rows: int, first: Sequence[pa.Array] = (), named: Mapping[str, pa.Array] | None = None
    ) -> pa.RecordBatch:
        """Rows with all columns of the schema: `first` by position, `named` by name, and the others NULL."""
        others = ((named or {}).get(name) for name in self.schema.names[len(first) :])
        columns = [*first, *(pa.nulls(rows) if column is None else column for column in others)]
        typed = (column.cast(field.type) for column, field in zip(columns, self.schema, strict=True))
        return pa.RecordBatch.from_arrays([*typed], schema=self.schema)
