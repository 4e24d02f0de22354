"""Registers DataFrames and tables of other libraries as tables of a catalog."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tvfsql.bind.statements.table import bind_watermark
from tvfsql.catalog import Catalog, Table, TableColumn
from tvfsql.catalog.changelog import op_column
from tvfsql.emit.columns import reference
from tvfsql.errors import BindError, TvfSqlError
from tvfsql.plan.node import Field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def register(
    catalog: Catalog, spark: Callable[[], SparkSession], name: str, data: Any, watermark: str | None, op: str | None
) -> None:
    """Add `data` to the catalog as `name`. See `Session.register` for accepted data and errors."""
    from tvfsql.runtime.frames.arrow_tables import arrow_of, frame_of
    from tvfsql.syntax.parser import parse_watermark

    if not all(part.strip() for part in name.split(".")):
        raise BindError(f"{name!r} is no name of a table", hint="orders, or catalog.database.orders")
    if name.count(".") > 2:
        raise BindError(f"the name {name} has more than three parts", hint="catalog.database.table")
    is_sparks = hasattr(data, "createOrReplaceTempView")  # Spark has two DataFrame classes
    table = None if is_sparks else arrow_of(data)
    frame: DataFrame = data if table is None else frame_of(spark(), table)
    columns = tuple(TableColumn(column, kind) for column, kind in frame.dtypes)
    mark = None
    if watermark is not None:
        try:
            mark = bind_watermark(parse_watermark(watermark), columns)
        except TvfSqlError as error:
            raise error.within(watermark) from error.__cause__
    frame.createOrReplaceTempView(reference(name))
    changes = op_column(op, [Field(part.name, part.type) for part in columns], None) if op else None
    catalog.add(Table(name, columns, None, mark, op=changes), replace=True)
