"""A table of Spark's own catalogs: a Hive metastore, Unity, Glue, Iceberg's REST catalog and others.

Queries that name such a table need no CREATE TABLE; with one they need no Spark until they run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvfsql.catalog.connectors.connector import Connector
from tvfsql.errors import IN_BATCH, BindError, Span, UnsupportedError
from tvfsql.plan.tables.options import DEDUPLICATE, NOTHING
from tvfsql.plan.values.scalar import quoted

SPARK_CATALOG = "spark-catalog"
TABLE, FORMAT = "table-name", "format"
FEED = "changelog.feed"
FLAGS = {"true": True, "false": False}
DELTA = "delta"
MERGED = (DELTA, "iceberg")  # formats whose rows can be replaced
VIEW, TEMPORARY_VIEW = "view", "temporary view"
_PART = re.compile(r"[^`.\s]+|`(?:[^`]|``)+`")


@dataclass(frozen=True)
class SparkCatalog(Connector):
    """`table` is Spark's name of it. `exact`: Spark has the same columns. `view` says what kind of view it is, "" for a
    table. `keys` is the primary key by which rows are replaced; `op` is then the column of operations, which is not
    stored. With `feed`, streams read the changes of its rows.
    """

    table: str = ""
    exact: bool = False
    view: str = ""
    keys: tuple[str, ...] = ()
    op: str | None = None
    feed: bool = False
    conflict: str = ""  # of an INSERT

    @property
    def conflicts(self) -> tuple[str, ...]:
        return (DEDUPLICATE, NOTHING)  # Delta finds out that a micro-batch is repeated after its rows have been read

    @property
    def is_changelog(self) -> bool:
        return self.feed

    def reads_changes(self, streaming: bool) -> bool:
        return streaming or any(key.lower().startswith(("starting", "ending")) for key, _ in self.options)

    @property
    def reads_columns(self) -> bool:
        return True  # Delta and Iceberg are Parquet, and nearly all tables of Hive are

    @property
    def takes_schema(self) -> bool:
        return False

    @property
    def by_number(self) -> str:
        return self.table

    @property
    def replaces_by(self) -> tuple[str, ...]:
        return self.keys

    def refuse_batch(self, table: str) -> None:
        if self.op:
            problem = (
                f"{table} cannot be read by this declaration: its changes are applied, and {self.op} is not stored"
            )
            raise UnsupportedError(problem, hint="another CREATE TABLE, without changelog.op")

    def refuse_stream(self, table: str) -> None:
        self.refuse_batch(table)
        if self.view == VIEW:
            raise UnsupportedError(f"{table} is a view of Spark, which streams cannot read", hint=IN_BATCH)

    def refuse_insert(self, table: str, metadata: Mapping[str, str], overwrite: bool, span: Span) -> None:
        if self.view:
            raise BindError(f"{table} is a {self.view} of Spark, which INSERT cannot fill", span=span)
        if self.feed:
            hint = f"another CREATE TABLE, without '{FEED}'"
            raise BindError(f"{table} is read-only: it declares the changes of a table", span=span, hint=hint)
        if self.keys and overwrite:
            hint = f"INSERT INTO, or leave out the PRIMARY KEY of {table}"
            raise BindError("INSERT OVERWRITE does not work with a primary key", span=span, hint=hint)


def spark_catalog(
    given: Mapping[str, str], spans: Mapping[str, Span], called: str, key: Sequence[str] = (), op: str | None = None
) -> SparkCatalog:
    """Return the table that a WITH clause names; by default Spark's table of the same name. Other options are Spark's
    for reading. `key` is its primary key, `op` its column of operations. Raises BindError.
    """
    table = given.get(TABLE, ".".join(map(quoted, called.split("."))))
    if not re.fullmatch(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*", table):
        raise BindError(f"{table} is not the name of a table", span=spans[TABLE], hint=f"'{TABLE}' = 'db.orders'")
    feed = _feed(given, spans, op)
    others = tuple((key, value) for key, value in given.items() if key not in (TABLE, FORMAT, FEED))
    format, keys = given.get(FORMAT, "").lower(), tuple(key)
    if keys and format and format not in MERGED:
        hint = f"leave out PRIMARY KEY, or '{FORMAT}' = '{MERGED[0]}'"
        raise BindError(f"rows of format {format} cannot be replaced by PRIMARY KEY", span=spans[FORMAT], hint=hint)
    op = op if keys else None
    return SparkCatalog(SPARK_CATALOG, format, None, others, table=table, keys=keys, op=op, feed=feed)


def _feed(given: Mapping[str, str], spans: Mapping[str, Span], op: str | None) -> bool:
    """Whether streams read the changes of the table. Raises BindError."""
    text = given.get(FEED, "false").lower()
    if text not in FLAGS:
        raise BindError(f"{FEED} cannot be {text!r}", span=spans[FEED], hint="'true' or 'false'")
    if FLAGS[text] and op is not None:
        problem = f"{FEED} needs no column of operations"
        raise BindError(problem, span=spans[FEED], hint=f"leave out 'changelog.op' and {op}")
    if FLAGS[text] and FORMAT not in given:
        raise BindError(f"{FEED} needs the format of the table", span=spans[FEED], hint=f"'{FORMAT}' = '{DELTA}'")
    return FLAGS[text]


def options_of(name: str, format: str) -> Sequence[tuple[str, str]]:
    """The WITH clause of Spark's table of that name."""
    found = [("connector", SPARK_CATALOG), (TABLE, ".".join(map(quoted, name.split("."))))]
    return [*found, *([(FORMAT, format)] if format else [])]
