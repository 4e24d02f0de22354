"""What streams need on a cluster and over Spark Connect, and what they cannot do there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.runtime.cluster.asked import is_local
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

SHARED = "a folder that all machines see, such as --checkpoint hdfs://HOST/checkpoint or /mnt/shared/checkpoint"


def refuse_functions(writer: DataStreamWriter) -> None:
    """Raise UnsupportedError if a stream over Spark Connect calls a function for each micro-batch.

    The server would call it in a process of its own, without the counters, the files and the output of this one.
    """
    if of_connect(writer) and writer._write_proto.HasField("foreach_batch"):  # type: ignore[attr-defined]
        raise UnsupportedError(
            "over Spark Connect a stream fills one table, with the connector filesystem, kafka or a source of Spark",
            hint="another connector; or for a statement set, SET 'table.optimizer.reuse-sub-plan-enabled' = 'false'",
        )


def refuse_user_functions(spark: SparkSession) -> None:
    """Raise UnsupportedError over Spark Connect, whose workers do not get the code of functions in streams."""
    if of_connect(spark):
        raise UnsupportedError(
            "a stream with Python functions does not run over Spark Connect",
            hint="--master URL of the cluster, or --mode batch",
        )


def require_streams(spark: SparkSession, folders: Sequence[Place | None]) -> None:
    """Check that streams with these checkpoints (None: a temporary folder) can run on this Spark.

    Raises DataError for a stream without a checkpoint on a cluster, whose other machines do not have its temporary
    folder.
    """
    if None in folders and (of_connect(spark) or not is_local(str(spark.sparkContext.master))):
        raise DataError("a stream on a cluster needs a checkpoint that all its machines see", hint=SHARED)
