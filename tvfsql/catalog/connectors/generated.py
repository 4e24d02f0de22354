"""The connectors `nexmark` and `datagen`: rows that are made, not stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvfsql.catalog.connectors.connector import Connector
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.plan import datagen, nexmark
from tvfsql.plan.generated import Rows
from tvfsql.plan.node import Field
from tvfsql.plan.table_options import TableOptions
from tvfsql.plan.types import is_time, shown

GENERATED = ("datagen", "nexmark")


@dataclass(frozen=True)
class Generated(Connector):
    """A table whose rows are made: `rows` of them, None: without end. Only the columns that are read are made."""

    rows: int | None = None

    @property
    def takes_schema(self) -> bool:
        return True

    @property
    def endless(self) -> bool:
        return self.rows is None

    def refuse_batch(self, table: str) -> None:
        if self.endless:
            raise UnsupportedError(
                f"table {table} has no end, so a batch of it would never be done",
                hint=f"'number-of-rows' = '1000' in the WITH clause of {table}, or --mode streaming",
            )

    def refuse_insert(self, table: str, metadata: Mapping[str, str], overwrite: bool, span: Span) -> None:
        raise BindError(
            f"{table} can only be read: its connector is {self.name}",
            span=span,
            hint="INSERT INTO a table whose connector is filesystem, kafka, print or blackhole",
        )


def generated(name: str, options: TableOptions, columns: Sequence[Field], places: Mapping[str, Span]) -> Generated:
    """The rows that a WITH clause describes, of a table with these columns (their names' places). Raises BindError."""
    if name == "nexmark":
        spec = nexmark.Nexmark.of(options)
        rows = spec.rows(options)
        _check_columns(spec.table, columns, places)
    else:
        rows = Rows.of(options)
        datagen.datagen(options, columns, places)
    options.refuse_unread(name)
    return Generated(name, name, None, tuple(options.given.items()), rows.number)


def _check_columns(table: str, columns: Sequence[Field], places: Mapping[str, Span]) -> None:
    known = {field.name: field.type for field in nexmark.TABLES[table]}
    for field in columns:
        kind = known.get(field.name)
        if kind is None:
            hint = did_you_mean(field.name, known)
            raise BindError(f"nexmark's {table} has no column {field.name}", span=places[field.name], hint=hint)
        if field.type != kind and not (is_time(field.type) and is_time(kind)):
            raise BindError(
                f"column {field.name} of nexmark's {table} is {shown(kind)}, not {shown(field.type)}",
                span=places[field.name],
                hint=f"{field.name} {shown(kind)}",
            )
