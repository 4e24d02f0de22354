"""How the micro-batches of a stream are run: by Spark's Structured Streaming, or in this process (`driver.in_process`).

Emitted code is the same for both. The runtime calls `execution()` for the five operations that differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import for_spark
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.host.stream_id import FOLDER

SCHEMA = f"`{CONTROL}` BIGINT, `{CHANNEL}` STRING"  # the schema of control rows
REPORTS = "reports"  # the observed metric of an operator: the reports of its key groups
OfBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Execution:
    """Execution by Structured Streaming."""

    def control_rows(self, spark: SparkSession) -> DataFrame | None:
        """The messages of the control channel, in SCHEMA; None without a channel."""
        folder = spark.conf.get(FOLDER, None)
        if folder is None:
            return None
        return spark.readStream.schema(SCHEMA).option("mode", "FAILFAST").json(for_spark(folder))

    def now(self) -> Column:
        """The time of the micro-batch (timestamp). Spark keeps it in the offset log, so a repeated micro-batch has the
        same time."""
        return F.current_timestamp()

    def map_in_arrow(self, rows: DataFrame, function: OfBatches, schema: T.StructType) -> DataFrame:
        """The rows of each partition, converted by a function of Arrow batches."""
        if (folder := _carried_by(rows.sparkSession)) is not None:
            from tvfsql.runtime.cluster.carried import carried_function

            function = carried_function(function, folder)
        return rows.mapInArrow(function, schema)

    def operate(
        self,
        sent: DataFrame,
        processor: StatefulProcessor,
        output: T.StructType,
        name: str,
        unpack: OfBatches,
        schema: T.StructType,
    ) -> DataFrame:
        """Run a processor on the rows for each `key_group`, and unpack what it emits.

        `output` is the schema of the emitted rows, whose reports are observed under `name`. `schema` is the schema of
        the result.
        """
        if (folder := _carried_by(sent.sparkSession)) is not None:
            from tvfsql.runtime.cluster.carried import carried_function, carried_processor

            processor, unpack = carried_processor(processor, folder), carried_function(unpack, folder)
        outputs = sent.groupBy("key_group").transformWithState(
            statefulProcessor=processor, outputStructType=output, outputMode="append", timeMode="None"
        )
        reports = F.collect_list("report").alias(REPORTS)
        return outputs.observe(name, reports).mapInArrow(unpack, schema)

    def aggregate(self, rows: DataFrame, results: Sequence[Column], keys: Sequence[str]) -> DataFrame:
        """The groups of the rows of a micro-batch, with results of all rows so far."""
        return rows.groupBy(*map(column_of, keys)).agg(*results)


def _carried_by(spark: SparkSession) -> Path | None:
    """The checkpoint of a stream over Spark Connect, which brings its code there. None for other streams."""
    folder = spark.conf.get(FOLDER, None)
    return Path(folder).parent if folder is not None and of_connect(spark) else None


_execution: ContextVar[Execution] = ContextVar("execution", default=Execution())  # noqa: B039  # it has no state


def execution() -> Execution:
    """The execution of the query that is being built."""
    return _execution.get()


@contextmanager
def built_for(other: Execution) -> Iterator[None]:
    """Queries that are built inside this block are run by `other`."""
    token = _execution.set(other)
    try:
        yield
    finally:
        _execution.reset(token)
