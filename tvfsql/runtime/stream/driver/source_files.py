"""The files that a micro-batch read: which of them were missing. The files of tables that it looks up: Spark lists them
once, and here they are listed again.

Spark's file streams list the files of a micro-batch in a log, and read missing ones as empty, without an error. We look
before its rows are written, where a function of ours writes them: Spark has decided then which files it reads, and a
file that is deleted later is an error of the task that reads it. Spark's own sinks call no function of ours. So there
we look after the micro-batch has ended: a file that is missing then was missing before, or was deleted during the
micro-batch. Spark has committed it then, so the checkpoint notes what was missing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.errors import DataError, OtherMode, UnsupportedError
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.cluster.places import place_of
from tvfsql.runtime.stream.progress.files_read import ReadFile

FILE_RELATION = "HadoopFsRelation"
NOTE = "missing.json"  # in a checkpoint: files that were missing in a run that failed because of that
LISTING = 1.0  # seconds between two lists of the files of a table that is looked up


def missing_files(read: Iterable[ReadFile], spark: Callable[[], SparkSession]) -> list[str]:
    """The files of these that do not exist. Over Spark Connect only local ones are looked for: others are out of
    reach."""
    files = [*read]
    gone = [file.path for file in files if file.local and not os.path.exists(file.path)]
    others = [file.uri for file in files if not file.local]
    if others and not of_connect(spark()):
        gone += missing_in(others, lambda folder: place_of(folder, spark).names())
    return gone


def missing_in(uris: Sequence[str], names: Callable[[str], Collection[str]]) -> list[str]:
    """The files that are not among the `names` of their folder. Each folder is listed once."""
    by_folder: dict[str, list[str]] = {}
    for uri in uris:
        by_folder.setdefault(uri.rpartition("/")[0], []).append(uri)
    listed = {folder: {*names(folder)} for folder in by_folder}
    return [uri for uri in uris if uri.rpartition("/")[2] not in listed[uri.rpartition("/")[0]]]


def refuse_missing(checkpoint: Place, missing: Sequence[str]) -> DataError:
    """The error of a run of which files were missing. The checkpoint notes them, so later runs do not go on without a
    word."""
    with suppress(OSError, DataError):
        (checkpoint / NOTE).write(json.dumps({"files": [*missing]}) + "\n")
    return _error(missing)


def refuse_unread(missing: Sequence[str]) -> DataError:
    """The error of a run that has written nothing of the micro-batch that should have read these files."""
    others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return DataError(
        f"the file {missing[0]}{others} was deleted before it was read: nothing of its micro-batch was written",
        hint="restore it; or go on without its rows: SET 'tvfsql.source.missing-files' = 'COUNT'",
    )


def missing_before(checkpoint: Place, *, counts: bool) -> int:
    """How many files were missing in earlier runs, and have not been counted. With `counts` they are from now on.
    Without, raises DataError if there are any."""
    note = checkpoint / NOTE
    text = note.read()
    if text is None:
        return 0
    try:
        files = [str(file) for file in json.loads(text)["files"]]
    except (ValueError, KeyError, TypeError):
        files = []
    if not counts:
        raise _error(files or ["of an earlier run"])
    note.delete()
    return len(files)


def _error(missing: Sequence[str]) -> DataError:
    others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return DataError(
        f"the file {missing[0]}{others} was deleted before it was read: its rows are not in the result",
        hint="use a new --checkpoint, or continue with SET 'tvfsql.source.missing-files' = 'COUNT'",
    )


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
            hint=OtherMode("batch", "--master URL of the cluster"),
        )
    plan = writer._df._jdf.queryExecution().analyzed()
    leaves = plan.collectLeaves()
    of_files = (leaves.apply(i) for i in range(leaves.size()))
    relations = (leaf.relation() for leaf in of_files if leaf.getClass().getSimpleName() == "LogicalRelation")
    return FilesLookedUp([each.location() for each in relations if each.getClass().getSimpleName() == FILE_RELATION])
