"""One stream that fills several tables: its micro-batches are computed once, and split to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

from pyspark.sql import DataFrame

from tvfsql.runtime.stream.progress.counts import counter
from tvfsql.runtime.stream.time.control_channel import FOLDER

FILES = "batch-????????-?????????-"  # how the names of a micro-batch's files begin: the stream, its number

Write = Callable[[DataFrame, int], None]  # what writes the rows of a micro-batch, written its number
Part = tuple[Callable[[DataFrame], DataFrame], Write]  # what makes the rows of a table, and what writes them


def to_tables(*parts: Part, late: Part | None = None) -> Write:
    """Returns a function that writes a micro-batch to several tables, skipping those without rows in it.

    The rows of all tables but `late` count as rowsOut. Repeated after a kill between two tables, it writes the same
    rows to each of them.
    """

    def write(rows: DataFrame, number: int) -> None:
        cached = rows.persist()  # else it would be computed for each table
        try:
            if late is not None:
                _written(cached, number, late)
            written = sum(_written(cached, number, part) for part in parts)
        finally:
            cached.unpersist()
        if sent is not None:
            sent[number] = written

    sent = counter()
    return write


def _written(rows: DataFrame, number: int, part: Part) -> int:
    """How many rows the table got."""
    of, write = part
    made = of(rows)
    if count := made.count():
        write(made, number)
    return count


def write_files(
    rows: DataFrame,
    number: int,
    path: str,
    format: str,
    *,
    options: Mapping[str, str] | None = None,
    partition_by: Sequence[str] = (),
) -> None:
    """Add the rows of micro-batch `number` to a folder. If it is repeated after a kill, they replace the old files.

    File names begin with the stream (a hash of its control folder) and the number. Files are written to a folder that
    readers ignore, and then moved.
    """
    stream = crc32(str(rows.sparkSession.conf.get(FOLDER, "")).encode())
    before = f"batch-{stream:08x}-{number:09d}-"
    jvm: Any = rows.sparkSession._jvm
    hadoop = jvm.org.apache.hadoop.fs.Path
    folder, aside = hadoop(path), hadoop(path, f"_{before}")
    files = folder.getFileSystem(rows.sparkSession._jsparkSession.sessionState().newHadoopConf())
    writer = rows.write.format(format).options(**dict(options or {})).mode("overwrite")
    writer.partitionBy(*partition_by).save(str(aside.toString()))
    for file in _files(files, folder, before):
        files.delete(file, False)
    root = aside.makeQualified(files.getUri(), files.getWorkingDirectory()).toUri()
    for file in _files(files, aside, "part-"):
        below = root.relativize(file.getParent().toUri()).getPath()
        target = hadoop(folder, below) if below else folder
        files.mkdirs(target)
        files.rename(file, hadoop(target, before + file.getName()))
    files.delete(aside, True)


def _files(files: Any, folder: Any, prefix: str) -> list[Any]:
    """The paths of the files below a folder whose names have this prefix; none if there is no such folder.

    Folders that readers ignore are skipped: other streams create and delete theirs meanwhile.
    """
    found = []
    for status in files.listStatus(folder) if files.exists(folder) else ():
        path, name = status.getPath(), status.getPath().getName()
        if status.isFile():
            found += [path] if name.startswith(prefix) else []
        elif not name.startswith(("_", ".")) or "=" in name:  # a partition's folder may begin with an underscore
            found += _files(files, path, prefix)
    return found
