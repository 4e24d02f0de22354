"""Tables and views as statements have declared them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tvfsql.catalog.connectors import Connector
from tvfsql.catalog.connectors.connector import BLACKHOLE, SINKS_ONLY
from tvfsql.catalog.table_options import History
from tvfsql.plan.node import Field
from tvfsql.plan.tables.internal_columns import OF_ROW
from tvfsql.plan.values.scalar import Scalar, column, quoted
from tvfsql.plan.values.types import BIGINT, SqlType


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: read from the source, or computed from other columns (`scalar`).

    `metadata` is the connector's name for a column that is not part of the row itself; `virtual`: it is never written.
    `nullable`: it is not declared NOT NULL. `of_folder`: what INSERT computes a partition column from, which is read
    from names of folders.
    """

    name: str
    type: SqlType
    scalar: Scalar | None = None
    comment: str | None = None
    metadata: str | None = None
    virtual: bool = False
    nullable: bool = True
    of_folder: Scalar | None = None


@dataclass(frozen=True)
class Watermark:
    """A table's watermark: `scalar`, computed for each row from the time `column`.

    It advances once per micro-batch, or with each row if `on_event` (semantics.md#watermarks).
    """

    column: str
    scalar: Scalar
    on_event: bool = False


@dataclass(frozen=True)
class Table:
    """A table. `connector` is None for a registered DataFrame. `op` is the column with the operation if the table is a
    changelog; queries do not see it. `ignored` are options without effect. `definition` is the CREATE TABLE, which LIKE
    and ALTER TABLE start from; None for tables made otherwise. `history` is the table whose rows come before its own.
    `late_output` names the table for its late rows; "": none; None: the one that SET names. `registered` tells
    which DataFrame was registered, and in which catalog. `codes` are the operations that the values of `op` stand for;
    empty: they are operations.
    """

    name: str
    columns: tuple[TableColumn, ...]
    connector: Connector | None = None
    watermark: Watermark | None = None
    partitioned_by: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    idle_timeout: int | None = None  # ms without a row after which a channel is idle; None: the session's option
    op: str | None = None
    ignored: tuple[str, ...] = ()
    definition: object = field(default=None, compare=False, repr=False)
    history: History | None = None
    late_output: str | None = None
    primary_key: tuple[str, ...] = ()
    registered: object = field(default=None, compare=False, repr=False)
    codes: tuple[tuple[str, str], ...] = ()

    @property
    def physical(self) -> tuple[Field, ...]:
        """The columns that are read, not computed."""
        return tuple(Field(column.name, column.type) for column in self.columns if column.scalar is None)

    @property
    def of_folders(self) -> tuple[tuple[str, Scalar], ...]:
        """The partition columns that follow from other columns, with what these say of them."""
        return tuple((column.name, column.of_folder) for column in self.columns if column.of_folder is not None)

    @property
    def is_changelog(self) -> bool:
        """Whether its rows are changes, some of which retract earlier ones."""
        return self.op is not None or (self.connector is not None and self.connector.is_changelog)

    @property
    def takes_changes(self) -> bool:
        """Whether it can store changes: as they are, or as the rows that result from them."""
        connector = self.connector
        return self.op is not None or (
            connector is not None
            and (connector.name in SINKS_ONLY or connector.changes is not None or bool(connector.replaces_by))
        )

    @property
    def upserts(self) -> tuple[str, ...] | None:
        """The columns by which a new row replaces an earlier one; (): it keeps no row. None: it adds each row, or has
        to be told what a row does."""
        if self.op is not None or self.connector is None or self.connector.changes is not None:
            return None
        return () if self.connector.name == BLACKHOLE else self.connector.replaces_by or None

    def reads_changes(self, streaming: bool) -> bool:
        """Whether a query of this mode reads changes, not the rows that result from them."""
        return self.is_changelog and (self.connector is None or self.connector.reads_changes(streaming))

    def arrival(self, streaming: bool) -> dict[Field, str] | None:
        """The columns that tell in which order its rows have come, with their SQL over the rows as Spark reads them.
        None: nothing tells it. On a stream, rows that are equal in all of them come in order.
        """
        if self.connector is not None and self.connector.arrival is None:
            return None
        told = dict(self.connector.arrival or {}) if self.connector is not None else {}
        return told if streaming else {**told, Field(OF_ROW, BIGINT): "monotonically_increasing_id()"}

    def changed_by(self, op: str, codes: tuple[tuple[str, str], ...], key: tuple[str, ...]) -> Table:
        """The table as a changelog whose column `op` has these codes. `key`: each row replaces the one with the same
        values there."""
        return replace(self, op=op, codes=codes, primary_key=key or self.primary_key)

    @property
    def rowtime(self) -> Scalar | None:
        """The event time, as an expression over the stored columns; None without a watermark."""
        if self.watermark is None:
            return None
        known = {part.name: part.scalar for part in self.columns if part.scalar is not None}
        return known.get(self.watermark.column, column(self.watermark.column))

    @property
    def visible(self) -> tuple[TableColumn, ...]:
        """The columns that queries see."""
        return tuple(column for column in self.columns if column.name != self.op)

    @property
    def written(self) -> tuple[TableColumn, ...]:
        """The columns that an INSERT fills."""
        return tuple(column for column in self.columns if column.scalar is None and not column.virtual)

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines to tell the user who creates the table."""
        if self.connector is None:
            return ()
        found = () if self.partitioned_by else self.connector.columns_of_folders
        lost = ", ".join(quoted(field.name) for field in self.physical if field.name in found)
        line = f"table {self.name} reads {lost} from its files, not from names of folders: PARTITIONED BY ({lost})"
        return (*self.connector.notes(self.name), *((line,) if lost else ()))

    @property
    def metadata(self) -> dict[str, TableColumn]:
        """The metadata columns by name."""
        return {column.name: column for column in self.columns if column.metadata is not None}


@dataclass(frozen=True)
class View:
    """A named query, which each statement that reads it binds anew. `fields` are its columns as of CREATE VIEW, `sql`
    is the text of its query, and `definition` its CREATE VIEW. `tables` are the columns that the tables of a query with
    an asterisk had then: the asterisk stands for no others.
    """

    name: str
    fields: tuple[Field, ...]
    sql: str
    definition: object = field(default=None, compare=False, repr=False)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)
