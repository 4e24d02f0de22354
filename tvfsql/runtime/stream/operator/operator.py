"""Applies a stateful operator to the output of its local phase: the DataFrame operations around the shell and
`Unpack`."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.serializers import CPickleSerializer
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tvfsql.runtime.stream.state.spark_state import SparkState, SparkTimerState

if TYPE_CHECKING:
    from tvfsql.runtime.stream.operator.protocol import Operator
    from tvfsql.runtime.stream.state.description import Description

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL, LATE, WATERMARK
from tvfsql.runtime.arrow.batches import in_pieces
from tvfsql.runtime.frames.window_schema import nullable_type
from tvfsql.runtime.host.spark_versions import arrow_schema
from tvfsql.runtime.stream.operator.messages import OUTPUT, Emit, Fire, Late, PassedLate, Report, decoded
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.time.channel_messages import SOURCE
from tvfsql.runtime.stream.time.execution import execution
from tvfsql.runtime.stream.time.valve import TRIGGER


def apply_operator(
    sent: DataFrame,
    operator: Operator,
    description: Description,
    schema: T.StructType,
    *,
    name: str,
    late: T.StructType | None = None,
) -> DataFrame:
    """Exchange and operator: the rows that an operator emits for the messages of `local_phase`.

    Out: the columns of `schema`. With `marks` in the operator's context control rows follow, with its output watermark
    in the columns that `with_watermarks` adds. With `late` late rows follow, as control rows with a column `$late` of
    that type. The query's progress reports the operator's counters under `name` (`progress.key_groups`).
    """
    fields = [*schema.fields]
    if operator.context.marks:
        kinds = {WATERMARK: T.TimestampNTZType(), CONTROL: T.LongType(), CHANNEL: T.StringType()}
        fields += [T.StructField(column, kind) for column, kind in kinds.items()]
    if late is not None:
        fields.append(T.StructField(LATE, late))
    result = T.StructType.fromJson(nullable_type(T.StructType(fields).jsonValue()))
    unpack = Unpack(operator, arrow_schema(result))
    return execution().operate(sent, OperatorShell(operator, description), OUTPUT, name, unpack, result)


# The step after the processor: turns an operator's messages into rows.


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


# The processor that Spark runs for every stateful operator.


NUMBER = "streaming.sql.batchId"  # the property of Spark's tasks that has the number of the micro-batch


class OperatorShell(StatefulProcessor):
    """Declares the state of each key group, and passes it to the operator together with the key group's messages.

    At each start of a query Spark starts a Python process that only calls `init`. The operator, and Arrow with it, is
    therefore loaded only when rows come, which halves the time that this process takes.

    State: `chunks` maps a `ChunkKey` to an Arrow IPC stream. `index` holds the watermark, its channels, the list of
    chunks, and the operator's `Description`. Operators with timers have two more maps. A state call costs 100-200
    microseconds. The number of calls depends on the chunks that are touched, never on keys.
    """

    def __init__(self, operator: Operator, description: Description) -> None:
        pack: Callable[[Operator], bytes] = CPickleSerializer().dumps
        self.packed, self.has_timers = pack(operator), operator.has_timers
        self.description = description.dump()

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = SparkState.of(handle, self.description)
        self.timers = SparkTimerState.of(handle) if self.has_timers else None

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        from tvfsql.runtime.stream.operator.micro_batch import micro_batch

        yield from micro_batch(self.operator, self.state, self.timers, list(rows), _number())

    def close(self) -> None:
        pass

    @cached_property
    def operator(self) -> Operator:
        operator: Operator = pickle.loads(self.packed)
        return operator


def _number() -> int | None:
    """The number of the micro-batch whose task this is; None: Spark does not say."""
    task = TaskContext.get()
    text = task.getLocalProperty(NUMBER) if task is not None else None
    return None if text is None else int(text)
