"""Tables and joins in FROM: which of sqlglot's trees have a node of `ast`."""

from __future__ import annotations

from sqlglot import exp

JOINS = {
    ("", ""): "inner",
    ("", "INNER"): "inner",
    ("", "CROSS"): "cross",
    ("LEFT", ""): "left",
    ("LEFT", "OUTER"): "left",
    ("RIGHT", ""): "right",
    ("RIGHT", "OUTER"): "right",
    ("FULL", ""): "full",
    ("FULL", "OUTER"): "full",
    ("LEFT", "SEMI"): "semi",
    ("LEFT", "ANTI"): "anti",
}
OF_TABLES = {"this", "alias", "db", "catalog"}  # arguments of a table without clauses of Spark's own


def is_plain(source: exp.Expr) -> bool:
    """Whether it is a table, a subquery or VALUES, without clauses that only Spark knows."""
    source = without_parentheses(source)
    if isinstance(source, exp.Values):
        return True
    return (
        isinstance(source, exp.Table | exp.Subquery)
        and isinstance(source.this, exp.Identifier | exp.Query)
        and not {key for key, value in source.args.items() if value} - OF_TABLES
    )


def kind_of(join: exp.Join) -> str | None:
    """The kind of a join; None if only Spark knows it."""
    return JOINS.get((join.side.upper(), join.kind.upper())) if not join.method or is_natural(join) else None


def is_natural(join: exp.Join) -> bool:
    return str(join.method).upper() == "NATURAL"


def is_unnest(source: exp.Expr) -> bool:
    return isinstance(source, exp.Unnest) and len(source.expressions) == 1


def without_parentheses(source: exp.Expr) -> exp.Expr:
    """A table or VALUES in parentheses is itself, under the outermost alias."""
    inner, alias = source, source.args.get("alias")
    while isinstance(inner, exp.Subquery) and isinstance(inner.this, exp.Subquery | exp.Table | exp.Values):
        inner = inner.this
        alias = alias or inner.args.get("alias")
    if not isinstance(inner, exp.Table | exp.Values) or inner is source:
        return source
    inner = inner.copy()
    inner.set("alias", alias.copy() if alias else None)
    return inner


def as_of(source: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """A joined table without its FOR SYSTEM_TIME AS OF, and the time in it."""
    version = source.args.get("version") if isinstance(source, exp.Table) else None
    if version is None:
        return source, None
    table = source.copy()
    table.set("version", None)
    return table, version.expression
