"""Files of micro-batches: each row is in one of them, even if a micro-batch is repeated after a kill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from pyspark.sql import DataFrame, SparkSession

from tvfsql.errors import DataError
from tvfsql.runtime.host.input_checks import check_input
from tvfsql.runtime.host.stream_id import run_id, stream_id

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

FILES = "batch-????????-?????????-"  # prefix of a micro-batch's files: a hash of the stream, and the number

# By stream and folder: the run that writes there, and the last micro-batch that had files there when the run began to.
_last: dict[tuple[int, str], tuple[str, int]] = {}


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

    File names begin with a hash of the stream's id, and the number. Files are written to a
    folder that readers ignore, and then moved.

    A query that fails ends, so within a run no micro-batch is repeated: the files of an earlier try are of an earlier
    run. So the folder is listed when a run first writes to it; and after that as long as it had files of this number
    then, which are those of several micro-batches if an older checkpoint was put back.
    """
    check_input(rows)
    spark = rows.sparkSession
    stream = crc32(" ".join(stream_id(spark)).encode())
    before = f"batch-{stream:08x}-{number:09d}-"
    jvm: JavaObject = spark._jvm
    hadoop = jvm.org.apache.hadoop.fs.Path
    folder, aside = hadoop(path), hadoop(path, f"_{before}")
    files = _system_of(folder, spark)
    writer = rows.write.format(format).options(**dict(options or {})).mode("overwrite")
    writer.partitionBy(*partition_by).save(str(aside.toString()))
    for file in _of_earlier_runs(spark, files, folder, stream, number):
        files.delete(file, False)
    root = aside.makeQualified(files.getUri(), files.getWorkingDirectory()).toUri()
    for file in _files(files, aside, "part-"):
        below = root.relativize(file.getParent().toUri()).getPath()
        target = hadoop(folder, below) if below else folder
        files.mkdirs(target)
        if not files.rename(file, hadoop(target, before + file.getName())):  # HDFS reports some errors only so
            raise DataError(f"the file {file.toString()} cannot be moved to {target.toString()}")
    files.delete(aside, True)


def exists(spark: SparkSession, path: str, name: str) -> bool:
    """Whether a folder has an entry of that name."""
    jvm: JavaObject = spark._jvm
    place = jvm.org.apache.hadoop.fs.Path(path, name)
    return bool(_system_of(place, spark).exists(place))


def _system_of(path: JavaObject, spark: JavaObject) -> JavaObject:
    """The file system of a path."""
    return path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())


def _of_earlier_runs(
    spark: SparkSession, files: JavaObject, folder: JavaObject, stream: int, number: int
) -> list[JavaObject]:
    """The paths of the files of a micro-batch that an earlier run of the stream has left in a folder."""
    run, place = run_id(spark), (stream, str(folder.toString()))
    known, last = _last.get(place, (None, number))
    if run is not None and known == run and last < number:
        return []
    prefix = f"batch-{stream:08x}-"
    found = [(int(file.getName().split("-")[2]), file) for file in _files(files, folder, prefix)]
    if run is not None:
        _last[place] = run, max((of for of, _ in found), default=-1)
    return [file for of, file in found if of == number]


def _files(files: JavaObject, folder: JavaObject, prefix: str) -> list[JavaObject]:
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
