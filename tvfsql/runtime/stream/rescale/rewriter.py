"""Writes the state of a stream anew, with Spark's StateRewriter, as a micro-batch of its own.

Spark's own repartitioning does the same, but moves whole key groups only. Here Spark calls a function of this process
with the state of each operator as a DataFrame, which is then divided by Spark's workers. Source: Spark's
OfflineStateRepartitionRunner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from tvfsql.runtime.cluster.files import Place, for_spark
from tvfsql.runtime.stream.checkpoint.parallelism import TASKS
from tvfsql.runtime.stream.checkpoint.unfinished_rescale import Rescale
from tvfsql.runtime.stream.rescale.division import Division, Part
from tvfsql.runtime.stream.rescale.state_rows import batch_of, read, rows_of, written

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

PARTS = T.StructType(
    [
        T.StructField("target", T.IntegerType()),
        T.StructField("source", T.IntegerType()),
        T.StructField("kind", T.StringType()),
        T.StructField("name", T.StringType()),
        T.StructField("data", T.BinaryType()),
    ]
)


def rewrite(spark: SparkSession, stream: Place, rescale: Rescale, division: Division | None) -> None:
    """Write the state for the micro-batch of `rescale`, and commit it. `division`: None moves whole key groups."""
    folder, number = stream / "spark", rescale.micro_batch
    _write_offsets(folder, number, rescale.tasks)
    java: JavaObject = spark._jvm
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    for key, value in stream.writing.items():
        settings.set(key, value)
    start_callbacks: Callable[[Any], None] = ensure_callback_server_started
    start_callbacks(spark.sparkContext._gateway)
    java.org.apache.spark.sql.execution.streaming.state.StateRewriter(
        spark._jsparkSession,
        number - 1,
        number,
        for_spark(folder.resolved()),
        settings,
        java.scala.Option.empty(),
        java.scala.Option.apply(_Divide(spark, rescale.tasks, division)),
        java.scala.Option.empty(),
    ).run()
    _write_metadata(folder, number, rescale.tasks)
    (folder / "commits" / str(number)).write((folder / "commits" / str(number - 1)).read() or "")


@dataclass
class _Divide:
    """The function that Spark calls with the state of each operator. Implements Scala's `DataFrame => DataFrame`."""

    spark: SparkSession
    tasks: int
    division: Division | None

    def apply(self, state: Any) -> Any:
        rows = DataFrame(state, self.spark)
        if self.division is not None:
            rows = divided(rows, self.division)
        return rows.repartition(self.tasks, "partition_key")._jdf

    class Java:
        implements = ("scala.Function1",)


def divided(state: DataFrame, division: Division) -> DataFrame:
    """The rows of the state of an operator, in other key groups. Columns as in `state_rows`."""
    split, join = Split(division), Join(division, to_arrow_schema(state.schema))

    def split_group(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return split(key, batches)

    def join_group(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return join(key, batches)

    parts = state.groupBy(F.col("partition_key.key_group")).applyInArrow(split_group, PARTS)
    return parts.groupBy("target").applyInArrow(join_group, state.schema)


@dataclass(frozen=True)
class Split:
    """The parts of a key group, for `applyInArrow`."""

    division: Division

    def __call__(self, key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state = read(row for batch in batches for row in rows_of(batch))
        schema = to_arrow_schema(PARTS)
        for part in self.division.split(key[0].as_py(), state):
            columns = [pa.array([value], kind) for value, kind in zip(part, schema.types, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass(frozen=True)
class Join:
    """The state of a key group from its parts, for `applyInArrow`."""

    division: Division
    schema: pa.Schema

    def __call__(self, key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        label = key[0].as_py()
        parts = [Part(**row) for batch in batches for row in batch.to_pylist()]
        for row in written(label, self.division.join(label, parts)):
            yield batch_of(label, [row], self.schema)


def _write_offsets(folder: Place, number: int, tasks: int) -> None:
    """The offsets of the micro-batch before, with another number of tasks."""
    version, settings, *offsets = ((folder / "offsets" / str(number - 1)).read() or "").split("\n")
    told = json.loads(settings)
    told["conf"][TASKS] = str(tasks)
    (folder / "offsets" / str(number)).write("\n".join([version, json.dumps(told), *offsets]))


def _write_metadata(folder: Place, number: int, tasks: int) -> None:
    """What Spark knows about each operator as of this micro-batch: as before, with another number of tasks."""
    for log, version, told in _metadata(folder, number):
        for store in told["stateStoreInfo"]:
            store["numPartitions"] = tasks
        (log / str(number)).write(f"{version}\n{json.dumps(told)}")


def _metadata(folder: Place, number: int | None = None) -> Iterator[tuple[Place, str, dict[str, Any]]]:
    """For each operator its log of metadata, and the version and content of its last entry before a micro-batch."""
    for operator in filter(str.isdigit, (folder / "state").names()):
        log = folder / "state" / operator / "_metadata" / "v2"
        last = max(int(name) for name in log.names() if name.isdigit() and (number is None or int(name) < number))
        version, text = ((log / str(last)).read() or "").split("\n", 1)
        yield log, version, json.loads(text)
