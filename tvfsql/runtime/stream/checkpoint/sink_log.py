"""Spark's log of the files that a stream writes into a folder gets the entries that Spark does not write.

Spark's sink for files adds an entry to the folder `_spark_metadata` in each micro-batch: `7`, or in every tenth one
`9.compact`, with the files of all entries so far. Readers and the next compaction need all entries from the last
compaction on. Two things leave entries out: a rescale, which is a micro-batch without a sink, and another folder in the
middle of a stream, whose log begins at a later number. Those entries are written here, without files. They are written
after the commit of their micro-batch, never before: Spark skips the rows of a micro-batch that the log has already.

Source: Spark's CompactibleFileStreamLog. Which micro-batches are compactions depends on the interval of the session,
and on the compactions that the log has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.plan.checkpoint.manifest import Manifest, Source
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import LISTED, LOG, Place, for_spark
from tvfsql.runtime.cluster.places import table_place
from tvfsql.runtime.stream.backfill import FOLDER as HISTORY
from tvfsql.runtime.stream.checkpoint.added_sources import Leaf, add_sources, refuse_other_log

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

INTERVAL, USUAL = "spark.sql.streaming.fileSink.log.compactInterval", "10"  # a setting of the session, its default
COMPACT = ".compact"
ENTRY = re.compile(rf"[0-9]+({re.escape(COMPACT)})?")
VERSION = "v1"  # the first line of an entry; the others are JSON, one for each file


def complete_logs(spark: SparkSession, last: int, folders: Iterable[str], new: Collection[str] = ()) -> None:
    """Complete Spark's logs of files in some folders of a stream whose last committed micro-batch is `last`.

    In the folders `new`, a log begins if there is none. Raises DataError if a log is damaged or cannot be written.
    Folders that only a Spark Connect server sees are left out.
    """
    usual = int(spark.conf.get(INTERVAL, USUAL) or USUAL)
    for path in dict.fromkeys((*folders, *new)):
        folder = table_place(path, spark)
        if folder is None:
            continue
        try:
            complete_log(folder / LOG, last, usual, begin=path in new)
        except OSError as error:
            reason = f"Spark's log of the files in {path} cannot be completed: {error.strerror}"
            raise DataError(reason, hint=f"check the folder {folder / LOG}") from error


def complete_log(log: Place, last: int, usual: int, *, begin: bool) -> None:
    """Write the entries of a log up to micro-batch `last`, in ascending order: after a kill, the next call goes on.
    `usual` is the interval of the session. A log without entries stays so unless it may `begin`."""
    names = log.names()
    entries = list(filter(ENTRY.fullmatch, names))
    if not entries and not begin:
        return
    if not entries:
        log.make(shared=True)
        for number in first_compactions(last, usual):
            entries.append(f"{number}{COMPACT}")
            _write(log, entries[-1], (), names)
    interval = interval_of([_number(name) for name in entries if name.endswith(COMPACT)], usual)
    for number in range(max(map(_number, entries), default=-1) + 1, last + 1):
        name = _name(number, interval)
        merged = range(max(0, number - interval), number) if name.endswith(COMPACT) else ()
        _write(log, name, [line for each in merged for line in _files(log / _name(each, interval))], names)


def interval_of(compactions: Sequence[int], usual: int) -> int:
    """The interval that Spark finds for a log with these compactions, in a session whose interval is `usual`."""
    ordered = sorted(compactions)
    if not ordered:
        return usual
    if len(ordered) > 1:
        return ordered[-1] - ordered[-2]
    size = ordered[0] + 1
    divisors = range(usual, size // 2 + 1) if usual < size // 2 else ()
    return next((number for number in divisors if size % number == 0), size)


def first_compactions(last: int, usual: int) -> list[int]:
    """The compactions with which a log begins whose next entry is that of micro-batch `last` + 1; none if it begins
    with micro-batch 0.

    The first one is the latest that tells Spark the usual interval by itself, so that a kill after it does not matter.
    With another one before it, sessions with another interval find the same.
    """
    count = (last + 1) // usual
    while count and interval_of([count * usual - 1], usual) != usual:
        count -= 1
    return [number * usual - 1 for number in (count, count - 1) if number > 0]


def _name(number: int, interval: int) -> str:
    return f"{number}{COMPACT}" if (number + 1) % interval == 0 else str(number)


def _number(name: str) -> int:
    return int(name.removesuffix(COMPACT))


def _files(entry: Place) -> list[str]:
    """The lines of the files of an entry. Raises DataError if it is missing or damaged."""
    try:
        version, *lines = (entry.read() or "").split("\n")
    except UnicodeDecodeError:
        version, lines = "", []
    if version != VERSION:
        what = "damaged" if entry.exists() else "missing"
        raise DataError(
            f"the entry {entry} of Spark's log of files is {what}",
            hint="restore the file; without it Spark does not know which files of the table are complete",
        )
    return lines


def _write(log: Place, name: str, lines: Sequence[str], names: Collection[str]) -> None:
    """Write an entry. A checksum that an earlier file of that name has left on a local disk is deleted."""
    if (checksum := f".{name}.crc") in names:
        (log / checksum).delete()
    (log / name).write("\n".join([VERSION, *lines]), shared=True)


# The sources of a query, as Spark numbers them in a checkpoint.


def add_tables(writer: DataStreamWriter, stream: Place, control: Place, manifest: Manifest | None) -> None:
    """Give the tables that a query adds to the checkpoint of a stream a place in Spark's log. Raises DataError if the
    checkpoint does not fit, and UnsupportedError."""
    if manifest is None or not any(source.since for source in manifest.sources) or of_connect(writer):
        return
    plan = writer._df._jdf.queryExecution().analyzed()
    leaves = plan.collectLeaves()
    found = [leaf for i in range(leaves.size()) if (leaf := leaves.apply(i)).isStreaming()]
    made, since, tables = list[Leaf](), 0, 0
    for leaf in found:
        path = _path(leaf)
        if path == for_spark(control):
            made.append(Leaf(_Relation(leaf), since, control=True))  # it follows the rows of its table
        elif path.startswith(f"{for_spark(stream / HISTORY)}/"):
            made.append(Leaf(_Relation(leaf)))
        else:
            source = manifest.sources[tables] if tables < len(manifest.sources) else None
            if source is None or not (_is_read(leaf, source) or path.startswith(f"{for_spark(stream / LISTED)}/")):
                break
            tables, since = tables + 1, source.since
            made.append(Leaf(_Relation(leaf), since))
    if len(made) != len(found) or tables != len(manifest.sources):
        names = ", ".join(source.table for source in manifest.sources)
        raise DataError(
            f"the checkpoint {stream} is of a stream of {names}, but Spark reads other tables, or in another order",
            hint="use a new folder",
        )
    add_sources(stream, made)


def _is_read(leaf: JavaObject, source: Source) -> bool:
    """Whether Spark reads this table, as far as it can be seen."""
    if source.connector == "filesystem":  # a single file, and a folder in order, are read as patterns in a folder
        folder = os.path.dirname(_path(leaf))
        return _path(leaf) == source.at or folder in (os.path.dirname(source.at), source.at.rstrip("/"))
    if source.connector == "kafka":
        options = leaf.extraOptions()
        return source.at in (options.get("subscribe"), options.get("subscribePattern"))
    return True


def refuse_adding(spark: SparkSession, stream: Place | None, manifest: Manifest | None) -> None:
    """Raise UnsupportedError if a stream with this manifest would add tables to its checkpoint, but cannot."""
    if stream is None or manifest is None or manifest.known is None:
        return
    if of_connect(spark):
        raise UnsupportedError(
            "over Spark Connect no table can be added to a checkpoint: the plan of the query is out of reach",
            hint="--master URL of the cluster, once; or use a new folder",
        )
    refuse_other_log(stream)


class _Relation:
    """A relation of Java, with its equality."""

    def __init__(self, relation: JavaObject) -> None:
        self.relation = relation

    def __hash__(self) -> int:
        return int(self.relation.hashCode())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Relation) and bool(self.relation.equals(other.relation))


def _path(leaf: JavaObject) -> str:
    """The path of a source of files; "" for others."""
    if leaf.getClass().getSimpleName() != "StreamingRelation":
        return ""
    path = leaf.dataSource().options().get("path")
    return str(path.get()) if path.isDefined() else ""
