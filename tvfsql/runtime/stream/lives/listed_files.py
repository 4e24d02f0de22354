"""The files of tables that a stream reads in another order than that of their modification times.

Spark sorts the files of a folder by the time of their last modification, except where a list says which files a folder
has and when they were modified: the log that Spark's own sink of files writes. So each such table is a folder in the
checkpoint that has only this log, and tvfsql writes it: the files, wherever they are, each with its place in the order
for a time. Spark reads them as those of any folder, with its own decoders, limits and log of what it has read, so a
resumed stream reads the same files. Nothing in the list has to be remembered: it is written anew when a stream starts,
and again and again while one without end runs.

Source: Spark's FileStreamSource and MetadataLogFileIndex. docs/sql/connectors.md#order-of-files.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tvfsql.plan.tables.file_order import FileOrder, Key
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import LOG, LocalPlace, Place, for_spark

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

ENTRY, VERSION = "0", "v1"  # of Spark's log: the one file that it has here, and its first line
LISTING, REST = 0.2, 4  # between two lists of the files of a table, at least: seconds, and times as long as one took
PATTERN = re.compile(r"[*?{}[\]\\]")
LENGTH = re.compile(r".*; isDirectory=(?:true|false); length=(\d+);", re.DOTALL)
PREFIX = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?")  # of a URI, before the path
END = "\0"  # no name of a file has it


@dataclass
class ListedFiles:
    """The files of `table`, whose folder, file or pattern of paths is `path`, in an order. `folder` is the one that
    Spark reads. `options` are those of Spark that say which files there are, and `pattern` is a regular expression of
    Java for their absolute paths ("": all).
    """

    spark: SparkSession
    table: str
    path: str
    order: FileOrder
    options: Mapping[str, str]
    folder: Place
    pattern: str = ""
    written: list[str] | None = None
    matches: dict[str, bool] = field(default_factory=dict)  # whether a file matches `pattern`
    last: tuple[Key, str] | None = None  # of the files that have been read, the last one in this order
    warned: bool = False

    def write(self) -> None:
        """Write the list of the files that there are now. Raises DataError if the place of a file is unknown."""
        found = [(path_of(uri), uri, size) for uri, size in listing(self)]
        chosen = [each for each in found if self.chosen(each[0])]
        entries = sorted((self.order.key(self.below(path)), uri, size) for path, uri, size in chosen)
        lines = [_entry(uri, size, number) for number, (_, uri, size) in enumerate(entries, 1)]
        if lines != self.written:
            (self.folder / LOG).make()
            (self.folder / LOG / ENTRY).write("\n".join([VERSION, *lines]), durable=False)
            self.written = lines

    @cached_property
    def root(self) -> str:
        """The path of the folder of the table, or of its only file."""
        plain = plain_part(self.path)
        if of_connect(self.spark):
            return os.path.abspath(PREFIX.sub("", plain))
        java: JavaObject = self.spark._jvm
        path = java.org.apache.hadoop.fs.Path(plain)
        files = path.getFileSystem(self.spark._jsparkSession.sessionState().newHadoopConf())
        return PREFIX.sub("", str(files.makeQualified(path).toString())).rstrip("/")

    def below(self, path: str) -> str:
        """The path of a file below the folder of the table, which is what is compared."""
        return path.removeprefix(f"{self.root}/") if path != self.root else path.rpartition("/")[2]

    def owns(self, path: str) -> bool:
        """Whether a file may be one of this table."""
        return (path == self.root or path.startswith(f"{self.root}/")) and self.chosen(path)

    def chosen(self, path: str) -> bool:
        """Whether the path of a file matches `pattern`. Over Spark Connect, whose Java is out of reach, only rows are
        compared with it."""
        if not self.pattern or of_connect(self.spark):
            return True
        if path not in self.matches:
            java: JavaObject = self.spark._jvm
            self.matches[path] = bool(java.java.util.regex.Pattern.matches(self.pattern, path))
        return self.matches[path]

    def read(self, paths: Iterable[str]) -> str:
        """Take the paths of the files that a micro-batch has read. Returns a warning, once, if files that are behind
        them in the order had been read before."""
        known = (path for path in paths if self.owns(path) and self.order.knows(self.below(path)))
        found = sorted((self.order.key(self.below(path)), path) for path in known)
        if not found:
            return ""
        before, self.last = self.last, max(found[-1], self.last or found[-1])
        if before is None or found[0] >= before or self.warned:
            return ""
        self.warned = True
        return (
            f"{found[0][1]} of {self.table} has come after {before[1]} was read, which is behind it in the order by "
            f"{self.order.by}: it was read next, and its rows may be late"
        )


@dataclass
class FileLists:
    """The lists of one run of a stream. `place` is their folder in the checkpoint; None: nowhere, in which case they
    are in temporary folders, until the process ends."""

    place: Place | None = None
    lists: dict[tuple[Any, ...], ListedFiles] = field(default_factory=dict)
    listed: float = field(default_factory=time.monotonic)
    took: float = 0.0  # seconds

    def of_table(
        self,
        spark: SparkSession,
        table: str,
        path: str,
        order: FileOrder,
        options: Mapping[str, str],
        pattern: str = "",
    ) -> ListedFiles:
        """The list of a table. It is the same for one that is read twice."""
        key = (path, order, tuple(options.items()), pattern)
        if key not in self.lists:
            folder = self._folder(len(self.lists) + 1)
            self.lists[key] = ListedFiles(spark, table, path, order, options, folder, pattern)
            self.lists[key].write()
        return self.lists[key]

    def _folder(self, number: int) -> Place:
        if self.place is not None:
            return self.place / str(number)
        _temporary.append(TemporaryDirectory(prefix="tvfsql-", ignore_cleanup_errors=True))
        return LocalPlace(Path(_temporary[-1].name).resolve())

    def list_again(self, every: float) -> None:
        """Write the lists again, at most every so many seconds, and a fifth of the time at most."""
        began = time.monotonic()
        if self.lists and began - self.listed >= max(every, LISTING, REST * self.took):
            for each in self.lists.values():
                each.write()
            self.listed = time.monotonic()
            self.took = self.listed - began

    def read(self, paths: Iterable[str]) -> None:
        """Take the paths of the files that have been read, by a micro-batch or by all earlier runs. Prints a warning
        for a table whose files have not been read in order."""
        known = [*paths] if self.lists else []
        for each in self.lists.values():
            if warning := each.read(known):
                erased = "\r\x1b[K" if sys.stderr.isatty() else ""  # a progress line
                print(f"{erased}warning: {warning}", file=sys.stderr)


_temporary: list[TemporaryDirectory[str]] = []
_lists: ContextVar[FileLists | None] = ContextVar("lists", default=None)


@contextmanager
def listing_files(lists: FileLists) -> Iterator[None]:
    """Queries that are built inside this block keep the lists of their files in `lists`."""
    token = _lists.set(lists)
    try:
        yield
    finally:
        _lists.reset(token)


def listed_files(
    spark: SparkSession, path: str, table: str, by: str, formatter: str = "", pattern: str = "", **options: str
) -> str:
    """The folder in which Spark finds the files of a path in this order. `pattern`: a regular expression for their
    absolute paths; "": all. `options`: those of Spark that say which files there are. Raises DataError.
    """
    lists = _lists.get() or FileLists()
    return for_spark(lists.of_table(spark, table, path, FileOrder(by, formatter), options, pattern).folder)


def listing(files: ListedFiles) -> list[tuple[str, int]]:
    """The URI of each file that there is now, as Spark writes it in its log, and its size in bytes. Spark lists them,
    so they are the ones that it would read by itself."""
    reader = files.spark.read.format("binaryFile").options(**files.options)
    try:
        found = reader.load(files.path)
    except AnalysisException as error:
        again = files.written is not None or PATTERN.search(files.path)
        if error.getCondition() == "PATH_NOT_FOUND" and again:
            return []
        raise
    if of_connect(files.spark):
        sizes = {PREFIX.sub("", row["path"]): row["length"] for row in found.select("path", "length").collect()}
        return [(uri, sizes.get(path_of(uri), 1)) for uri in found.inputFiles()]
    location = found._jdf.queryExecution().analyzed().collectLeaves().apply(0).relation().location()
    java: JavaObject = files.spark._jvm
    writer = java.com.fasterxml.jackson.databind.ObjectMapper()  # one call for all files
    uris = json.loads(writer.writeValueAsString(location.inputFiles()))
    statuses = str(location.allFiles().mkString(END)).split(END)
    return [(uri, _length(status)) for uri, status in zip(uris, statuses, strict=bool(uris))]


def plain_part(path: str) -> str:
    """A path up to the folder before the first pattern in it."""
    pattern = PATTERN.search(path)
    if pattern is None:
        return path
    folder, slash, _ = path[: pattern.start()].rpartition("/")
    return folder or ("/" if slash else ".")


def path_of(uri: str) -> str:
    """The path of a file of a URI, without the file system."""
    return unquote(without_system(uri))


def without_system(path: str) -> str:
    return PREFIX.sub("", path)


def _length(status: str) -> int:
    found = LENGTH.match(status)
    return int(found[1]) if found else 1


def _entry(uri: str, size: int, number: int) -> str:
    """A line of the log of Spark's sink of files."""
    told = {"path": uri, "size": size, "isDir": False, "modificationTime": number}
    return json.dumps(told | {"blockReplication": 1, "blockSize": 1, "action": "add"})
