"""The files that a micro-batch read: which of them were missing. The files of tables that it looks up: Spark lists them
once, and here they are listed again.

Spark's file streams list the files of a micro-batch in a log, and read missing ones as empty, without an error. We look
after the micro-batch has ended. So a file that is missing then was missing before, or was deleted during the
micro-batch.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.errors import UnsupportedError
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.progress.files_read import files_read

FILE_RELATION = "HadoopFsRelation"
LISTING = 1.0  # seconds between two lists of the files of a table that is looked up


def missing_files(progress: Mapping[str, Any], checkpoint: Place, control: Place) -> list[str]:
    """The local files that a micro-batch should have read, by its progress report, and that do not exist."""
    return [
        file.path for file in files_read(progress, checkpoint, control) if file.local and not os.path.exists(file.path)
    ]


@dataclass
class FilesLookedUp:
    """The lists of files (of Java) of the tables that a stream looks up."""

    lists: Sequence[Any] = ()
    listed: float = field(default_factory=time.monotonic)

    def list_again(self) -> None:
        """Make the next micro-batch read the files that there are now; at most every LISTING seconds."""
        if self.lists and time.monotonic() - self.listed >= LISTING:
            for files in self.lists:
                files.refresh()
            self.listed = time.monotonic()


def files_looked_up(writer: DataStreamWriter, tables: Sequence[str]) -> FilesLookedUp:
    """The files of these tables in the rows that a writer writes. Raises UnsupportedError over Spark Connect, where
    their lists are out of reach.
    """
    if not tables:
        return FilesLookedUp()
    if of_connect(writer):
        raise UnsupportedError(
            f"over Spark Connect a stream cannot look up {tables[0]}: it would see its files as of its start",
            hint="--master URL of the cluster, or --mode batch",
        )
    plan = writer._df._jdf.queryExecution().analyzed()
    leaves = plan.collectLeaves()
    of_files = (leaves.apply(i) for i in range(leaves.size()))
    relations = (leaf.relation() for leaf in of_files if leaf.getClass().getSimpleName() == "LogicalRelation")
    return FilesLookedUp([each.location() for each in relations if each.getClass().getSimpleName() == FILE_RELATION])
