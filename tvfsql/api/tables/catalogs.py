"""The tables of Spark's catalogs as tables of queries."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tvfsql.api.tables.dataframes import drop_view
from tvfsql.bind.statements.table import bind_table
from tvfsql.catalog import Table
from tvfsql.catalog.catalog import refuse_columns
from tvfsql.catalog.connectors import SparkCatalog
from tvfsql.catalog.connectors.spark_catalog import TEMPORARY_VIEW, VIEW, options_of
from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.runtime.host.warehouse import delete_folder
from tvfsql.syntax import ast, statements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tvfsql.runtime.host.spark_catalog import Described

NOWHERE = Span(0, 0)
VIEWS = {"VIEW": VIEW, "TEMPORARY": TEMPORARY_VIEW}


@dataclass
class SparkTables:
    """Asks Spark; the answers are kept during a statement. `spark` returns None if its catalogs must be empty."""

    spark: Callable[[], SparkSession | None]
    known: dict[str, Table | None] = field(default_factory=dict)
    described: dict[str, Described | None] = field(default_factory=dict)

    def table(self, name: str) -> Table | None:
        key = name.lower()
        if key not in self.known:
            found = self._described(identifier(name))
            self.known[key] = table_of(name, found) if found else None
        return self.known[key]

    def tables(self, database: str = "") -> tuple[str, ...]:
        from tvfsql.runtime.host.failures import translated
        from tvfsql.runtime.host.spark_catalog import tables_in

        spark = self.spark()
        with translated():
            return tables_in(spark, identifier(database) if database else "") if spark else ()

    def databases(self, catalog: str = "") -> tuple[str, ...]:
        from tvfsql.runtime.host.failures import translated
        from tvfsql.runtime.host.spark_catalog import databases_in

        spark = self.spark()
        with translated():
            return databases_in(spark, identifier(catalog) if catalog else "") if spark else ()

    def catalogs(self) -> tuple[str, ...]:
        from tvfsql.runtime.host.failures import translated
        from tvfsql.runtime.host.spark_catalog import catalogs_in

        spark = self.spark()
        with translated():
            return catalogs_in(spark) if spark else ()

    def forget(self) -> None:
        self.known.clear()
        self.described.clear()

    def drop_view(self, table: Table) -> None:
        if spark := self.spark():
            drop_view(table, spark)

    def checked(self, table: Table, span: Span) -> Table:
        """A declared table with what Spark says of it. `span` is the place of its name. Raises BindError."""
        connector = table.connector
        if not isinstance(connector, SparkCatalog) or (found := self._described(connector.table)) is None:
            return table
        kinds = {name.lower(): of_spark(kind) for name, kind in found.columns}
        for part in table.physical:
            if part.name.lower() not in kinds and part.name != connector.op:
                hint = did_you_mean(part.name, [name for name, _ in found.columns], otherwise="columns: ")
                raise BindError(f"{connector.table} of Spark has no column {part.name}", span=span, hint=hint)
        exact = all(kinds.get(part.name.lower()) == part.type for part in table.physical)
        view, format = VIEWS.get(found.kind, ""), connector.format or found.format
        return replace(table, connector=replace(connector, exact=exact, format=format, view=view))

    def _described(self, name: str) -> Described | None:
        from tvfsql.runtime.host.failures import translated
        from tvfsql.runtime.host.spark_catalog import described

        spark = self.spark()
        if spark is None:
            return None
        if name not in self.described:
            with translated():
                self.described[name] = described(spark, name)
        return self.described[name]


def identifier(name: str) -> str:
    """A name with dots as Spark's SQL text."""
    return ".".join(map(quoted, name.split(".")))


def table_of(name: str, found: Described) -> Table:
    """Spark's table under the name that a query uses."""
    columns = tuple(statements.Column(ast.Name(column, NOWHERE), of_spark(kind)) for column, kind in found.columns)
    options = tuple(statements.Option(key, value, NOWHERE) for key, value in options_of(name, found.format))
    table = bind_table(statements.CreateTable(ast.Name(name, NOWHERE), columns, None, options))
    assert isinstance(table.connector, SparkCatalog)
    refuse_columns(table)
    return replace(table, connector=replace(table.connector, exact=True, view=VIEWS.get(found.kind, "")))


# The storage of tables without a connector, for one session or permanently.


@dataclass
class Warehouse:
    """The folders of tables: below `root`, or in a temporary folder that only the user can read and that is deleted
    with this object. The names of folders are those of `folders.file_name`.
    """

    made: dict[str, int] = field(default_factory=dict)  # how many tables of each name were made in the temporary folder
    _temporary: TemporaryDirectory[str] | None = None

    def folder(self, root: str, name: str) -> str:
        """The folder of a new table. If `root` already has rows of a table of that name, the table has them."""
        if root:
            return os.path.join(root, name)
        if self._temporary is None:
            self._temporary = TemporaryDirectory(prefix="tvfsql-warehouse-", ignore_cleanup_errors=True)
        number = self.made[name] = self.made.get(name, 0) + 1
        # no table's name has a folder with %- and digits only
        return os.path.join(self._temporary.name, name if number == 1 else f"{name}%-{number}")

    def delete(self, path: str) -> str | None:
        """Delete a table's rows. Returns why they stay, such as `which is not on this machine`; None: they are gone."""
        return delete_folder(path)
