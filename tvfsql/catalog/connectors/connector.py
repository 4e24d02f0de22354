"""The interface of connectors: a Spark format, a path and options. Rejects unknown options."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tvfsql.catalog.connectors.changes import Changes
from tvfsql.catalog.connectors.ignored import ignored_names
from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.node import Field
from tvfsql.plan.start_mode import Place, StartMode
from tvfsql.plan.tables.file_order import TIME, FileOrder
from tvfsql.plan.tables.internal_columns import ARRIVAL, OF_MESSAGE
from tvfsql.plan.tables.options import DEDUPLICATE
from tvfsql.plan.values.types import BIGINT, INT, STRING, TIMESTAMP_LTZ, SqlType

FORMATS = ("avro", "csv", "json", "orc", "parquet", "text")
BLACKHOLE = "blackhole"
SINKS_ONLY = ("print", BLACKHOLE)
ENDLESS = ("rate", "socket")
LIMITS = ("maxfilespertrigger", "maxbytespertrigger")  # options that divide files among micro-batches
VISIBLE = "[^._]*"  # the names that Spark reads, as a pattern
IS_PATTERN = re.compile(r"[*?{}[\]\\,]")
OF_A_FILE = re.compile(r"\.(?:avro|csv|tsv|jsonl?|ndjson|orc|parquet|text|txt|gz|bz2|zst|lz4|snappy)$", re.IGNORECASE)
IN_PARTS = ("filesystem", "kafka", "managed", "spark-catalog", "upsert-kafka", *SINKS_ONLY)
# The order of rows in files: by the time at which their file was written, its name, and their place in it
OF_FILES = {
    Field(f"{ARRIVAL}written", TIMESTAMP_LTZ): "_metadata.file_modification_time",
    Field(f"{ARRIVAL}file", STRING): "_metadata.file_path",
    Field(f"{ARRIVAL}block", BIGINT): "_metadata.file_block_start",
}
BY_NAME = {field: sql for field, sql in OF_FILES.items() if not field.name.endswith("written")}


@dataclass(frozen=True)
class Connector:
    """Where a table's rows are stored: a Spark format, a path if it has one, and Spark's options, in order.

    `written` are the options that only writing uses. Of files: a stream of them is endless if it looks for new ones
    `every` so many ms (0: it ends), and only those whose absolute path matches `pattern` are read (a regular
    expression; "": all). A stream reads them in this `order`; None: by modification time.
    """

    name: str
    format: str
    path: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    written: tuple[tuple[str, str], ...] = ()
    every: int = field(default=0, kw_only=True)
    pattern: str = field(default="", kw_only=True)
    order: FileOrder | None = field(default=None, kw_only=True)

    @property
    def streamed_path(self) -> str | None:
        """The path for a stream. Spark's file streams read folders and patterns, so a single file becomes a pattern
        that only matches that file; and a folder whose files should be `in_order` one that matches all of them.
        """
        if self.in_order:
            return os.path.join(self.path or "", VISIBLE)
        if self.path is None or not os.path.isfile(self.path.removeprefix("file:")) or IS_PATTERN.search(self.path):
            return self.path
        folder, name = os.path.split(self.path)
        return os.path.join(folder, f"{{{name}}}")

    @property
    def in_order(self) -> bool:
        """Whether a stream should read its files in order of name where they were modified at the same time, as after
        a copy. Spark lists the files of a pattern in that order, but those of a local folder in any. It only matters
        where a limit divides the files among micro-batches. A folder that Spark's sinks write is read by their log.
        """
        folder = (self.path or "").removeprefix("file:")
        limited = any(key.lower() in LIMITS for key, _ in self.options)
        own = any(key.lower() in ("cleansource", "recursivefilelookup") for key, _ in self.options)
        if self.order is not None:  # tvfsql lists the files
            return False
        if self.name != "filesystem" or not limited or own or IS_PATTERN.search(folder) or not os.path.isdir(folder):
            return False
        names = os.listdir(folder)
        return "_spark_metadata" not in names and any(os.path.isfile(os.path.join(folder, name)) for name in names)

    @property
    def is_folder(self) -> bool:
        """Whether its path is that of a folder: it is one on this machine, or its name is not that of a file."""
        path = (self.path or "").removeprefix("file:")
        named = os.path.isfile(path) or OF_A_FILE.search(path)
        return self.name == "filesystem" and (os.path.isdir(path) or not named)

    @property
    def has_folders(self) -> bool:
        """Whether the folders of its columns of PARTITIONED BY are those in its path."""
        whole = any(key.lower() == "recursivefilelookup" for key, _ in self.options)
        return self.of_files and (self.is_folder or self.name == "managed") and not whole

    @property
    def columns_of_folders(self) -> frozenset[str]:
        """The names before `=` in the names of its subfolders on this machine, such as `day` of `day=1`."""
        path = (self.path or "").removeprefix("file:")
        if not (self.is_folder and os.path.isdir(path)):
            return frozenset()
        return frozenset(found.name.partition("=")[0] for found in Path(path).glob("*=*") if found.is_dir())

    @property
    def counts_rows(self) -> bool:
        """Whether Spark's sink counts the rows of each micro-batch, as those of files and `foreachBatch` do not."""
        return self.name == BLACKHOLE

    @property
    def reads_columns(self) -> bool:
        """Whether a reader takes only the columns that it needs, so that to read them again costs little."""
        return self.format in ("orc", "parquet")

    @property
    def of_files(self) -> bool:
        """Whether Spark reads it from files, and lists them itself."""
        return self.format in (*FORMATS, "xml")

    @property
    def takes_schema(self) -> bool:
        """Whether Spark reads it with a given schema; other sources have a schema of their own."""
        return self.of_files

    @property
    def endless(self) -> bool:
        """Whether it is unbounded, so that reading it is a stream unless batch mode is asked for."""
        return self.name in ENDLESS or self.every > 0

    @property
    def package(self) -> str | None:
        """The Spark package that it needs; None if Spark itself has it."""
        return "spark-avro_2.13" if self.format == "avro" else None

    def notes(self, table: str) -> tuple[str, ...]:
        """Lines to tell the user who creates the table."""
        return ()

    def started(self, mode: StartMode) -> Connector | None:
        """The same source, which a new stream reads from the place of `mode` on; None if it cannot start there."""
        return self if mode.place in (Place.BEGINNING, None) else None

    @property
    def partitioned(self) -> bool:
        """Whether each of its partitions is a channel with its own watermark."""
        return False

    @property
    def readable(self) -> bool:
        return self.name not in SINKS_ONLY

    @property
    def takes_micro_batches(self) -> bool:
        """Whether one stream can write to it and to other tables with the same guarantees as a stream of its own."""
        return self.name in IN_PARTS

    @property
    def by_number(self) -> str:
        """The name of the table, if it recognises a repeated micro-batch by its number, so that a stream can write to
        it only once in each micro-batch; else "".
        """
        return ""

    @property
    def replaces_by(self) -> tuple[str, ...]:
        """The primary key by which a written row replaces an earlier one; none if rows are added."""
        return ()

    @property
    def conflicts(self) -> tuple[str, ...]:
        """What an INSERT can do with a row whose primary key another row has."""
        return (DEDUPLICATE,)

    @property
    def changes(self) -> Changes | None:
        """The format of its messages if they are changes; else None."""
        return None

    @property
    def is_changelog(self) -> bool:
        """Whether its rows are changes."""
        return self.changes is not None

    @property
    def arrival(self) -> Mapping[Field, str] | None:
        """The columns that tell in which order its rows have come, as in `Table.arrival`; None if nothing tells it."""
        if not self.of_files or (self.order is not None and self.order.by == TIME):
            return None
        return {**(OF_FILES if self.order is None else BY_NAME), **self.arrival_in_message}

    @property
    def arrival_in_message(self) -> Mapping[Field, str]:
        """The column for the place of a change in its message, if a message can have several; no SQL makes it."""
        return {Field(OF_MESSAGE, INT): ""} if self.changes is not None and self.changes.several else {}

    def reads_changes(self, streaming: bool) -> bool:
        """Whether a query of this mode reads the changes of a changelog. Otherwise it reads the rows that result."""
        return True

    @property
    def writing(self) -> tuple[tuple[str, str], ...]:
        """Spark's options for writing."""
        return tuple((dict(self.options) | dict(self.written)).items())

    @property
    def metadata(self) -> Mapping[str, tuple[SqlType, ...]]:
        """The possible metadata columns, each with the types that it can be read as."""
        return {}

    def refuse_batch(self, table: str) -> None:
        """Raise UnsupportedError, naming the table, if only a stream can read it."""

    def refuse_stream(self, table: str) -> None:
        """Raise UnsupportedError, naming the table, if no stream can read it."""

    def refuse_insert(self, table: str, metadata: Mapping[str, str], overwrite: bool, span: Span) -> None:
        """Raise BindError if rows cannot be written this way. `metadata` has the metadata columns that the INSERT
        fills, `span` is the place of the table's name.
        """


def refuse_unknown(
    given: Mapping[str, str],
    known: Mapping[str, str] | tuple[str, ...],
    spans: Mapping[str, Span],
    name: str,
    also: tuple[str, ...] = (),
) -> None:
    """Raise BindError for an option that is neither in `known` nor in `also`."""
    for key in given:
        if key not in known:
            hint = did_you_mean(key, (*known, *also), rare=ignored_names(name.partition(" ")[0]))
            raise BindError(f"connector {name} has no option {key}", span=spans[key], hint=hint)
