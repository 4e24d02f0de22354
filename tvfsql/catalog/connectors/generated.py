"""The connectors `nexmark` and `datagen`, which generate rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvfsql.catalog.connectors.connector import Connector
from tvfsql.catalog.connectors.ignored import ignored_names
from tvfsql.errors import BindError, OtherMode, Span, UnsupportedError, did_you_mean
from tvfsql.plan.node import Field
from tvfsql.plan.synthetic import datagen, faker, nexmark
from tvfsql.plan.synthetic.tables import Rows
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values.types import SqlType, fields, is_time

GENERATED = ("datagen", "faker", "nexmark")


@dataclass(frozen=True)
class Generated(Connector):
    """A table whose rows are generated: `rows` of them; None: unbounded. Only columns that are read are generated.
    `stories` are faker expressions for which names from elsewhere are substituted.
    """

    rows: int | None = None
    stories: tuple[str, ...] = ()

    def notes(self, table: str) -> tuple[str, ...]:
        names = ", ".join(dict.fromkeys(self.stories))
        return (f"table {table} uses other names and words in place of {names}",) if names else ()

    @property
    def takes_schema(self) -> bool:
        return True

    @property
    def arrival(self) -> Mapping[Field, str]:
        return {}

    @property
    def endless(self) -> bool:
        return self.rows is None

    def refuse_batch(self, table: str) -> None:
        if self.endless:
            raise UnsupportedError(
                f"table {table} is unbounded, so a batch query would never end",
                hint=OtherMode("streaming", f"'number-of-rows' = '1000' in CREATE TABLE {table}"),
            )

    def refuse_insert(self, table: str, metadata: Mapping[str, str], overwrite: bool, span: Span) -> None:
        raise BindError(
            f"{table} is read-only: its connector is {self.name}",
            span=span,
            hint="use the connector filesystem, kafka, print or blackhole",
        )


def generated(name: str, options: TableOptions, columns: Sequence[Field], places: Mapping[str, Span]) -> Generated:
    """Return the generated table that a WITH clause describes. `places` are the spans of the columns' names. Raises
    BindError.
    """
    stories: tuple[str, ...] = ()
    if name == "nexmark":
        spec = nexmark.Nexmark.of(options)
        rows = spec.rows(options)
        _check_columns(spec.table, columns, places)
    elif name == "faker":
        rows = Rows.of(options)
        faker.start_of(options)
        stories = faker.stories_in(faker.columns_of(options, columns, places), options)
        for computed in places.keys() - {field.name for field in columns}:  # computed columns are not generated
            options.text(f"fields.{computed}.expression", "")
    else:
        rows = Rows.of(options)
        datagen.datagen(options, columns, places)
    options.refuse_unread(rare=ignored_names(name))
    return Generated(name, name, None, tuple(options.given.items()), rows=rows.number, stories=stories)


def _fits(given: SqlType, known: SqlType) -> bool:
    """Whether a column can have type `given` where the table has `known`: kinds of time, and rows with some of the
    fields.
    """
    inside = fields(known)
    if inside:
        return all(name in inside and _fits(kind, inside[name]) for name, kind in fields(given).items())
    return given == known or (is_time(given) and is_time(known))


def _check_columns(table: str, columns: Sequence[Field], places: Mapping[str, Span]) -> None:
    known = {field.name: field.type for field in nexmark.TABLES[table]}
    for field in columns:
        kind = known.get(field.name)
        if kind is None:
            hint = did_you_mean(field.name, known)
            raise BindError(f"nexmark's {table} has no column {field.name}", span=places[field.name], hint=hint)
        inside = fields(kind)
        for name in fields(field.type) if inside else ():
            if name not in inside:
                hint = did_you_mean(name, inside)
                raise BindError(f"nexmark's {field.name} has no field {name}", span=places[field.name], hint=hint)
        if not _fits(field.type, kind):
            raise BindError(
                f"column {field.name} of nexmark's {table} is {kind.flink}, not {field.type.flink}",
                span=places[field.name],
                hint=f"{field.name} {kind.flink}",
            )
