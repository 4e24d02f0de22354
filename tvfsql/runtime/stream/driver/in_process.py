"""Micro-batches in this process, one after the other, with simulated time: how `tvfsql test` runs a stream.

The operators are the same as in every stream, called as `OperatorShell` and `Unpack` call them, with state in memory.
Around them, Spark runs an ordinary query over the rows of the micro-batch: the same expressions, without Python
workers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL
from tvfsql.runtime.frames.arrow_tables import frame_of_batches, local_arrow
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.stream.operator.messages import Report, decoded
from tvfsql.runtime.stream.operator.micro_batch import micro_batch
from tvfsql.runtime.stream.operator.operator import OperatorShell
from tvfsql.runtime.stream.state.memory import MemoryState, MemoryTimers
from tvfsql.runtime.stream.time.execution import Execution, OfBatches

NEW = "$new"  # whether a row, or one of a group, is of the micro-batch
Message = tuple[int, str | None]  # a control row: (watermark, IDLE or TRIGGER; channel, None: all channels)


@dataclass
class InProcess(Execution):
    """A stream in this process: its state, and the parameters of the current micro-batch.

    Building a query over the rows of a micro-batch already runs it up to its last operator, and changes the state. So
    it must be built exactly once per micro-batch.
    """

    time: int = 0  # of the micro-batch, epoch ms
    messages: Sequence[Message] = ()
    late: int = 0  # rows that were late for all their windows in this micro-batch
    state: dict[tuple[int, int], tuple[MemoryState, MemoryTimers]] = field(
        default_factory=lambda: defaultdict(lambda: (MemoryState(), MemoryTimers()))
    )  # by number of the operator, and key group
    rows: dict[int, list[pa.RecordBatch]] = field(default_factory=lambda: defaultdict(list))  # of Spark's aggregates
    operators: int = 0  # how many operators of this micro-batch have run

    def begin(self, time: int, messages: Sequence[Message]) -> None:
        """Start the next micro-batch, at `time` (epoch ms), with these control rows."""
        self.time, self.messages, self.late, self.operators = time, messages, 0, 0

    def control_rows(self, spark: SparkSession) -> DataFrame | None:
        if not self.messages:
            return None
        watermarks, channels = zip(*self.messages, strict=True)
        columns = {CONTROL: pa.array(watermarks, pa.int64()), CHANNEL: pa.array(channels, pa.string())}
        return spark.createDataFrame(pa.table(columns))

    def now(self) -> Column:
        return F.timestamp_millis(F.lit(self.time))

    def map_in_arrow(self, rows: DataFrame, function: OfBatches, schema: T.StructType) -> DataFrame:
        return frame_of_batches(rows.sparkSession, function(iter(local_arrow(rows).to_batches())), schema)

    def operate(
        self,
        sent: DataFrame,
        processor: StatefulProcessor,
        output: T.StructType,
        name: str,
        unpack: OfBatches,
        schema: T.StructType,
    ) -> DataFrame:
        assert isinstance(processor, OperatorShell), processor
        groups: dict[int, list[Row]] = defaultdict(list)
        for row in sent.collect():
            groups[row["key_group"]].append(row)
        emitted: list[dict[str, object]] = []
        for group, rows in groups.items():
            state, timers = self.state[self.operators, group]
            of_group = timers if processor.has_timers else None
            emitted += [row.asDict(recursive=True) for row in micro_batch(processor.operator, state, of_group, rows)]
        batches = pa.Table.from_pylist(emitted, schema=to_arrow_schema(output)).to_batches()
        for batch in batches:
            self.late += sum(message.late for message in decoded(batch) if isinstance(message, Report))
        self.operators += 1
        return frame_of_batches(sent.sparkSession, unpack(iter(batches)), schema)

    def aggregate(self, rows: DataFrame, results: Sequence[Column], keys: Sequence[str]) -> DataFrame:
        """All rows so far are aggregated anew."""
        new, before = local_arrow(rows).to_batches(), self.rows[self.operators]
        parts = (
            frame_of_batches(rows.sparkSession, batches, rows.schema).withColumn(NEW, F.lit(is_new))
            for batches, is_new in (([*before], False), (new, True))
        )
        before += new
        self.operators += 1
        groups = reduce(DataFrame.unionByName, parts).groupBy(*map(column_of, keys))
        return groups.agg(*results, F.max(NEW).alias(NEW)).where(column_of(NEW)).drop(NEW)


# Processing-time triggers: the driver causes a micro-batch at the time that an operator waits for, even without rows.
#
# The driver's clock decides once, and the decision goes through the control channel. The micro-batch knows its own time
# (`with_now`), so a repeated one decides the same. Source: semantics.md#processing-time.


@dataclass
class Triggers:
    """The triggers of a running stream: at most one after each micro-batch. The next micro-batch then reports what is
    due."""

    after: int | None = None  # the last micro-batch that a trigger followed

    def wanted(self, due: int | None, micro_batch: int | None, now: float) -> bool:
        """Whether to trigger a micro-batch now. Times are epoch ms.

        `due` is the first time that operators wait for, as of the last `micro_batch`; None: they wait for none. The
        caller asks only while the query is at rest.
        """
        if due is None or now < due or micro_batch == self.after:
            return False
        self.after = micro_batch
        return True
