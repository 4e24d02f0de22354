"""What a connector provides: a Spark format, a path and options. Rejects options that it does not know."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from tvfsql.catalog.connectors.changes import Changes
from tvfsql.catalog.connectors.ignored import ignored_names
from tvfsql.errors import BindError, Span, did_you_mean

FORMATS = ("avro", "csv", "json", "orc", "parquet", "text")
SINKS_ONLY = ("print", "blackhole")
ENDLESS = ("rate", "socket")
IN_PARTS = ("filesystem", "kafka", "managed", "upsert-kafka", *SINKS_ONLY)


@dataclass(frozen=True)
class Connector:
    """Where a table's rows are: a Spark format, a path if it has one, and Spark's options, in order.

    `written` are those of writing only."""

    name: str
    format: str
    path: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    written: tuple[tuple[str, str], ...] = ()

    @property
    def streamed_path(self) -> str | None:
        """The path as a stream takes it: Spark's file streams read folders and patterns, so a file is the pattern that
        it alone matches."""
        if (
            self.path is None
            or not os.path.isfile(self.path.removeprefix("file:"))
            or re.search(r"[*?{}[\]\\,]", self.path)
        ):
            return self.path
        folder, name = os.path.split(self.path)
        return os.path.join(folder, f"{{{name}}}")

    @property
    def takes_schema(self) -> bool:
        """Whether Spark reads it by the columns that it is told; others have columns of their own."""
        return self.format in (*FORMATS, "xml")

    @property
    def endless(self) -> bool:
        """Whether its rows never end, so that reading them is a stream unless batch is asked for."""
        return self.name in ENDLESS

    @property
    def package(self) -> str | None:
        """The package of Spark's that it needs, if Spark itself does not have it."""
        return None

    def notes(self, table: str) -> tuple[str, ...]:
        """What whoever creates the table is to know: a line each."""
        return ()

    @property
    def partitioned(self) -> bool:
        """Whether its partitions are channels, each with a watermark of its own."""
        return False

    @property
    def readable(self) -> bool:
        return self.name not in SINKS_ONLY

    @property
    def takes_micro_batches(self) -> bool:
        """Whether one stream may write to it and to other tables, with the guarantees of a stream of its own."""
        return self.name in IN_PARTS

    @property
    def changes(self) -> Changes | None:
        """The format of its messages if these are changes of rows."""
        return None

    @property
    def writing(self) -> tuple[tuple[str, str], ...]:
        """Spark's options of writing."""
        return (*self.options, *self.written)

    @property
    def metadata(self) -> Mapping[str, tuple[str, ...]]:
        """What may be a metadata column, each with the types that it is read as."""
        return {}

    def refuse_batch(self, table: str) -> None:
        """Raise UnsupportedError, naming the table, if only a stream can read it."""

    def refuse_insert(self, table: str, metadata: Mapping[str, str], overwrite: bool, span: Span) -> None:
        """Raise BindError if rows cannot be written like this. `metadata` has the columns that the INSERT fills and
        that are metadata, `span` is the place of the table's name."""


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
