"""Where the files of a path or a URL are: on a local disk, or on another file system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tvfsql.errors import DataError, OtherMode, UnsupportedError
from tvfsql.runtime.cluster.asked import is_local
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import URL, LocalPlace, Place
from tvfsql.runtime.cluster.hadoop_files import Hadoop, HadoopPlace, default_file_system

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def place_of(text: str | Path | Place, spark: Callable[[], SparkSession]) -> Place:
    """The place that a path or a URL names. Places that are not local are reached through the Spark that `spark`
    gives, when they are first used."""
    if isinstance(text, Path):
        return LocalPlace(text)
    if not isinstance(text, str):
        return text
    if not URL.match(text):
        return LocalPlace(Path(text))
    if text.startswith("file:"):
        return LocalPlace(Path(unquote(urlsplit(text).path)))
    return HadoopPlace(text, Hadoop(text, spark))


def table_place(path: str, spark: SparkSession) -> Place | None:
    """The place of a table's files. Spark finds a path without a scheme on its default file system. None: only a Spark
    Connect server sees it."""
    default = path if URL.match(path) else default_file_system(spark)
    if not default or path.startswith("file:"):
        return LocalPlace(Path(path.removeprefix("file:")))
    return None if of_connect(spark) else HadoopPlace(path, Hadoop(default, lambda: spark))


# What streams need on a cluster and over Spark Connect, and what they cannot do there.


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
            hint=OtherMode("batch", "--master URL of the cluster"),
        )


def require_streams(spark: SparkSession, folders: Sequence[Place | None]) -> None:
    """Check that streams with these checkpoints (None: a temporary folder) can run on this Spark.

    Raises DataError for a stream without a checkpoint on a cluster, whose other machines do not have its temporary
    folder.
    """
    if None in folders and (of_connect(spark) or not is_local(str(spark.sparkContext.master))):
        raise DataError("a stream on a cluster needs a checkpoint that all its machines see", hint=SHARED)
