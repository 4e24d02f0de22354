"""What runs the micro-batches of a stream: Spark's Structured Streaming, or a test (`driver.in_process`).

Emitted code does not know. What it calls asks `execution()` for the four things that only a stream has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from tvfsql.plan.columns import CHANNEL, CONTROL

FOLDER = "spark.tvfsql.control"  # the setting that names the running query's channel
SCHEMA = f"`{CONTROL}` BIGINT, `{CHANNEL}` STRING"  # of control rows
OfBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Execution:
    """Structured Streaming."""

    def control_rows(self, spark: SparkSession) -> DataFrame | None:
        """The messages of the control channel, in SCHEMA; None without a channel."""
        folder = spark.conf.get(FOLDER, None)
        if folder is None:
            return None
        return spark.readStream.schema(SCHEMA).option("mode", "FAILFAST").json(folder)

    def now(self) -> Column:
        """The time of the micro-batch (timestamp). Spark logs it, so one that is run again has the same."""
        return F.current_timestamp()

    def map_in_arrow(self, rows: DataFrame, function: OfBatches, schema: T.StructType) -> DataFrame:
        """The rows of each partition, as a function of Arrow batches makes them."""
        return rows.mapInArrow(function, schema)

    def operate(
        self,
        sent: DataFrame,
        processor: StatefulProcessor,
        output: T.StructType,
        observed: tuple[str, Sequence[Column]],
        unpack: OfBatches,
        schema: T.StructType,
    ) -> DataFrame:
        """What a processor makes of the rows that are sent to each `key_group`, by way of `output`, whose figures are
        observed under a name, unpacked."""
        outputs = sent.groupBy("key_group").transformWithState(
            statefulProcessor=processor, outputStructType=output, outputMode="append", timeMode="None"
        )
        name, figures = observed
        return outputs.observe(name, *figures).mapInArrow(unpack, schema)


_execution: ContextVar[Execution] = ContextVar("execution", default=Execution())  # noqa: B039  # it has no state


def execution() -> Execution:
    """What the query that is being built will be run by."""
    return _execution.get()


@contextmanager
def built_for(other: Execution) -> Iterator[None]:
    """Queries that are built here are run by something else."""
    token = _execution.set(other)
    try:
        yield
    finally:
        _execution.reset(token)
