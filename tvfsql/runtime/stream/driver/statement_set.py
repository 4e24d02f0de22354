"""One stream that fills several tables: each micro-batch is computed once, and then split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

from pyspark.sql import DataFrame

from tvfsql.runtime.stream.progress.counts import counter
from tvfsql.runtime.stream.time.execution import FOLDER

FILES = "batch-????????-?????????-"  # prefix of a micro-batch's files: a hash of the stream, and the number

Write = Callable[[DataFrame, int], None]  # writes the rows of a micro-batch, whose number is passed
Part = tuple[Callable[[DataFrame], DataFrame], Write]  # makes the rows of a table, and writes them


def to_tables(*parts: Part, late: Part | None = None) -> Write:
    """Returns a function that writes a micro-batch to several tables, skipping tables that get no rows.

    The rows of all tables except `late` count as rowsOut. If it is repeated after a kill between two tables, it writes
    the same rows to each of them.
    """

    def write(rows: DataFrame, number: int) -> None:
        cached = rows.persist()  # otherwise each table would compute it again
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
    """Write the rows of one table. Returns their number."""
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
    """Add the rows of micro-batch `number` to a folder. Repeated after a kill, this replaces the files of the first
    try.

    File names begin with a hash of the stream's control folder and the number. Files are written to a folder that
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
    """The paths of the files below a folder whose names have this prefix; none if the folder does not exist.

    Folders that readers ignore are skipped, since other streams may create and delete theirs at any time.
    """
    found = []
    for status in files.listStatus(folder) if files.exists(folder) else ():
        path, name = status.getPath(), status.getPath().getName()
        if status.isFile():
            found += [path] if name.startswith(prefix) else []
        elif not name.startswith(("_", ".")) or "=" in name:  # names of partition folders may begin with an underscore
            found += _files(files, path, prefix)
    return found
