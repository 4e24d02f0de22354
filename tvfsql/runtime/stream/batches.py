"""One stream that fills several tables: its micro-batches are computed once, and split to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

from pyspark.sql import DataFrame

from tvfsql.runtime.stream.control import FOLDER
from tvfsql.runtime.stream.counts import count_given

FILES = "batch-????????-?????????-"  # how the names of a micro-batch's files begin: the stream, its number

Write = Callable[[DataFrame, int], None]  # what writes the rows of a micro-batch, given its number
Part = tuple[Callable[[DataFrame], DataFrame], Write]  # what makes the rows of a table, and what writes them


def to_tables(*parts: Part, late: Part | None = None) -> Write:
    """What writes a micro-batch into several tables, those that get some rows of it. Rows of all but `late` are counted
    as rowsOut. Run again, after a kill between two tables, it gives each of them the same rows."""

    def write(rows: DataFrame, number: int) -> None:
        held = rows.persist()  # else it would be computed for each table
        try:
            if late is not None:
                _give(held, number, late)
            given = sum(_give(held, number, part) for part in parts)
        finally:
            held.unpersist()
        count_given(rows.sparkSession.conf.get(FOLDER, "") or "", number, given)

    return write


def _give(rows: DataFrame, number: int, part: Part) -> int:
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
    """Add the rows of micro-batch `number` to a folder. Written again, after a kill, they replace what was there.

    The names of its files begin with the stream (its control folder, in short) and the number. They are written
    aside, in a folder that readers pass over, and then moved.
    """
    stream = crc32(str(rows.sparkSession.conf.get(FOLDER, "")).encode())
    before = f"batch-{stream:08x}-{number:09d}-"
    jvm: Any = rows.sparkSession._jvm
    hadoop = jvm.org.apache.hadoop.fs.Path
    folder, aside = hadoop(path), hadoop(path, f"_{before}")
    files = folder.getFileSystem(rows.sparkSession._jsparkSession.sessionState().newHadoopConf())
    writer = rows.write.format(format).options(**dict(options or {})).mode("overwrite")
    writer.partitionBy(*partition_by).save(str(aside.toString()))
    for file in _files(files, folder):
        if file.getName().startswith(before):
            files.delete(file, False)
    root = aside.makeQualified(files.getUri(), files.getWorkingDirectory()).toUri()
    for file in _files(files, aside):
        if file.getName().startswith("part-"):
            below = root.relativize(file.getParent().toUri()).getPath()
            target = hadoop(folder, below) if below else folder
            files.mkdirs(target)
            files.rename(file, hadoop(target, before + file.getName()))
    files.delete(aside, True)


def _files(files: Any, folder: Any) -> list[Any]:
    """The paths of all files below a folder, none if there is no such folder."""
    if not files.exists(folder):
        return []
    found, listed = [], files.listFiles(folder, True)
    while listed.hasNext():
        found.append(listed.next().getPath())
    return found
