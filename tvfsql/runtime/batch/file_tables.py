"""Rows that batch adds to a table of files, or puts in the place of its rows, are those that readers see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import LOG, WITHOUT_LOG, is_ignored
from tvfsql.runtime.cluster.places import table_place

CHECKSUM = re.compile(r"^\.(.+)\.crc$")  # of a file on a local disk


def refuse_file_log(spark: SparkSession, path: str) -> None:
    """Raise DataError if Spark's log of a stream's files in the folder would hide files that batch adds, or if its
    stream would hide them when it resumes. At URLs that only a Spark Connect server sees nothing is checked.
    """
    folder = table_place(path, spark)
    if folder is not None and (folder / LOG).exists():
        raise DataError(
            f"the folder {path} is filled by a stream, and Spark's log of the stream's files hides all others",
            hint=WITHOUT_LOG,
        )


@contextmanager
def replaced_files(spark: SparkSession, path: str) -> Iterator[None]:
    """Delete the files that a folder has now, after the block has added the new ones.

    Spark's mode `overwrite` deletes them before the query runs, which may read them, or fail. Here they stay if the
    block raises; a process that is killed between its commit and the last deletion leaves old rows beside the new ones.
    Raises DataError as `refuse_file_log`, and UnsupportedError over Spark Connect.
    """
    refuse_file_log(spark, path)
    folder = None if of_connect(spark) else table_place(path, spark)
    if folder is None:
        raise UnsupportedError(
            "over Spark Connect INSERT OVERWRITE needs a table that is partitioned: this process cannot delete the old "
            f"files in {path}",
            hint="PARTITIONED BY, or --master URL of the cluster",
        )
    before = [file for file in folder.below() if not is_ignored(CHECKSUM.sub(r"\1", file.name))]
    yield
    try:
        for file in before:
            file.delete()
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}"
        raise DataError(
            f"{path} has its new rows, but an old file cannot be deleted: {reason}", hint="delete the file"
        ) from error
