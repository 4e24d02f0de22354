"""Which columns of its inputs a query that Spark plans computes its columns from, found by sqlglot."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError
from sqlglot.lineage import Node, lineage

from tvfsql.plan.analysis.lineage import AGGREGATION, HOW, IDENTITY, TRANSFORMATION, Origin
from tvfsql.plan.nodes import SparkSql
from tvfsql.plan.values.names import backticked


def origins(query: SparkSql) -> dict[str, dict[Origin, str]] | None:
    """For each column, the inputs and their columns, and how it is made of them; None if that cannot be found out."""
    sql = query.sql
    for name in query.names:
        sql = sql.replace(f"{{{name}}}", backticked(name))
    schema = {
        name: {field.name: field.type.spark or "STRING" for field in input.schema}
        for name, input in zip(query.names, query.inputs, strict=True)
    }
    try:
        tree = parse_one(sql, dialect="spark")
        names = tree.named_selects if isinstance(tree, exp.Query) else []
        if len(names) != len(query.columns):
            return None
        return {
            column: dict(_leaves(lineage(name, tree, schema, dialect="spark"), IDENTITY))
            for column, name in zip(query.columns, names, strict=True)
        }
    except (SqlglotError, ValueError, KeyError):
        return None


def _leaves(node: Node, how: str) -> Iterator[tuple[Origin, str]]:
    """The columns of inputs that an expression reads. `how` are the expressions above made of it."""
    if not node.downstream and isinstance(node.source, exp.Table):
        yield (node.source.name, exp.to_column(node.name, dialect="spark").name), how
    made = node.expression.unalias()
    if made.find(exp.AggFunc) and not made.find(exp.Window, exp.Query):
        how = AGGREGATION
    elif not isinstance(made, exp.Column):
        how = max(how, TRANSFORMATION, key=HOW.index)
    for below in node.downstream:
        yield from _leaves(below, how)
