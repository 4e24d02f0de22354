"""Registers DataFrames and tables of other libraries as tables of a catalog: temporary views of Spark by that name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tvfsql.bind.statements.table import bind_watermark
from tvfsql.catalog import Catalog, Table, TableColumn
from tvfsql.catalog.table_options import op_column
from tvfsql.emit.columns import reference
from tvfsql.errors import BindError, TvfSqlError
from tvfsql.plan.node import Field, Node, instances
from tvfsql.plan.values.spark_types import of_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Registration:
    """A DataFrame that was registered in a catalog, of which copies have the same `identity`."""

    identity: object
    frame: DataFrame

    def is_replaced(self, by: Registration) -> bool:
        """Whether its temporary view is now that of another catalog, with another DataFrame."""
        return by.identity is not self.identity and by.frame is not self.frame


# What each Spark's temporary views were registered for last, by names in lower case
_VIEWS: WeakKeyDictionary[SparkSession, dict[str, Registration]] = WeakKeyDictionary()


def register(
    catalog: Catalog, spark: Callable[[], SparkSession], name: str, data: Any, watermark: str | None, op: str | None
) -> None:
    """Add `data` to the catalog as `name`. See `Session.register` for accepted data and errors."""
    from tvfsql.runtime.frames.arrow_tables import arrow_of, frame_of
    from tvfsql.runtime.host.spark_catalog import has_temporary_view
    from tvfsql.syntax.parser import parse_watermark

    if not all(part.strip() for part in name.split(".")):
        raise BindError(f"{name!r} is not a valid table name", hint="orders, or catalog.database.orders")
    if name.count(".") > 2:
        raise BindError(f"the name {name} has more than three parts", hint="catalog.database.table")
    is_sparks = hasattr(data, "createOrReplaceTempView")  # Spark has two DataFrame classes
    table = None if is_sparks else arrow_of(data)
    frame: DataFrame = data if table is None else frame_of(spark(), table)
    columns = tuple(TableColumn(column, of_spark(kind)) for column, kind in frame.dtypes)
    mark = None
    if watermark is not None:
        try:
            mark = bind_watermark(parse_watermark(watermark), columns)
        except TvfSqlError as error:
            raise error.within(watermark) from error.__cause__
    changes = op_column(op, [Field(part.name, part.type) for part in columns], None) if op else None
    views = _VIEWS.setdefault(frame.sparkSession, {})
    if name.lower() not in views and has_temporary_view(frame.sparkSession, reference(name)):
        message = f"Spark has a temporary view {name} of the program, which register() does not replace"
        raise BindError(message, hint=f'spark.catalog.dropTempView("{name}"), or another name')
    registered = Registration(catalog.identity, frame)
    catalog.add(Table(name, columns, None, mark, op=changes, registered=registered), replace=True)
    frame.createOrReplaceTempView(reference(name))
    views[name.lower()] = registered


def drop_view(table: Table, spark: SparkSession) -> None:
    """Drop the temporary view of a registered table, unless another session has replaced it."""
    if not _is_replaced(table, spark):
        _VIEWS.get(spark, {}).pop(table.name.lower(), None)
        spark.catalog.dropTempView(table.name)


def refuse_replaced(plans: Sequence[Node], spark: SparkSession) -> None:
    """Raise BindError if a plan reads a registered table whose temporary view is that of another session now."""
    for table in instances(tuple(plans), Table):
        if table.registered is not None and _is_replaced(table, spark):
            message = f"another session on this Spark has registered another DataFrame as {table.name}"
            raise BindError(message, hint=f'register("{table.name}", ...) again, or under another name')


def _is_replaced(table: Table, spark: SparkSession) -> bool:
    now = _VIEWS.get(spark, {}).get(table.name.lower())
    return now is not None and isinstance(table.registered, Registration) and table.registered.is_replaced(now)
