"""Expressions as PySpark code: plain names if possible, functions of PySpark if one fits, else F.expr."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tvfsql.emit.python_module import Chain, literal
from tvfsql.plan.aggregate.call import whole
from tvfsql.plan.aggregate.columns import AggCall, PartialColumn
from tvfsql.plan.nodes import Item, Order
from tvfsql.plan.values.scalar import Scalar

SIMPLE = re.compile(
    r"(count|sum|min|max|avg|bool_and|bool_or|stddev_pop|stddev_samp|var_pop|var_samp)\((\*|`[^`]+`|\w+)\)"
)
CAST = re.compile(r"CAST\((.*) AS ([A-Z_]+(?:\(\d+,\d+\))?)\)")


def name(column: str) -> str:
    """A column's name as Python string text that PySpark reads as that column."""
    return literal(reference(column))


def reference(column: str) -> str:
    """A column's name, in backticks if PySpark would split it."""
    return column if re.fullmatch(r"[\w$]+", column) else "`" + column.replace("`", "``") + "`"


def names(columns: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(name, columns))


def item(part: Item) -> str | Chain:
    """A column of a select()."""
    return (
        part_text(part.scalar)
        if part.scalar.column == part.name
        else value(part.scalar).then("alias", literal(part.name))
    )


def part_text(scalar: Scalar) -> str | Chain:
    return name(scalar.column) if scalar.column is not None else value(scalar)


def value(scalar: Scalar) -> Chain:
    """An expression as a Column."""
    if scalar.column is not None:
        return Chain("F").then("col", name(scalar.column))
    if re.fullmatch(r"[^\W\d]\w*\.\w+", scalar.sql):
        return Chain("F").then("col", literal(scalar.sql))
    return Chain("F").then("expr", literal(scalar.sql))


def aggregate(call: AggCall) -> Chain:
    """An aggregate over rows, as an argument of agg()."""
    return _aggregate(whole(call)).then("alias", literal(call.name))


def partial(part: PartialColumn) -> Chain:
    """A partial of a slice, as an argument of agg()."""
    return _aggregate(part.scalar).then("alias", literal(part.name))


def _aggregate(scalar: Scalar) -> Chain:
    text = scalar.sql
    cast = CAST.fullmatch(text)
    simple = SIMPLE.fullmatch(cast.group(1) if cast else text)
    column = next(iter(scalar.columns), None)
    if simple is None or (column is None and simple.group(2) != "*"):  # count(NULL) is not count(*)
        return Chain("F").then("expr", literal(text))
    made = Chain("F").then(simple.group(1), name(column) if column is not None else '"*"')
    return made.then("cast", literal(cast.group(2).lower())) if cast else made


def order(key: Order) -> str | Chain:
    """A key of an orderBy(). Spark's own default puts NULLs first when ascending and last when descending."""
    if not key.descending and key.nulls_first:
        return part_text(key.scalar)
    return value(key.scalar).then(key.direction)


def condition(parts: Iterable[Scalar]) -> str:
    """The conjunction of conditions as Python string text."""
    several = list(parts)
    texts = [
        part.sql if part.atomic or len(several) == 1 or " OR " not in part.sql.upper() else f"({part.sql})"
        for part in several
    ]
    return literal(" AND ".join(texts))
