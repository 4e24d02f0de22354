"""The clauses of a query: those that are understood, FROM to LIMIT, joins, WITH, set operations; and those that are
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

# When a node of sqlglot's trees is understood.

SAME = "same"  # Spark reads it as Flink does

# The allowed values of an argument: anything that is itself understood (None), or these values or kinds of node.
Values = tuple[str, ...] | tuple[type[exp.Expr], ...] | tuple[exp.DType, ...] | None


@dataclass(frozen=True)
class Known:
    """The arguments of a kind of node that are understood. `by` says what gives them their meaning: SAME, or the module
    that rewrites them. An argument that is not listed must not be set.
    """

    arguments: Mapping[str, Values]
    by: str = SAME


Table = Mapping[type[exp.Expr], Known]


def known(arguments: str = "", by: str = SAME, **limited: Values) -> Known:
    """Make a Known. `arguments` are names separated by spaces; `limited` are those that may only have certain
    values.
    """
    return Known({**dict.fromkeys(arguments.split()), **limited}, by)


QUERY = "bind.query"
RELATION = "bind.relation"
AFTER = "with_ order limit offset"  # clauses around a whole query
SIDES = ("", "LEFT", "RIGHT", "FULL")
KINDS = ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI")
QUERIES = (exp.Select, exp.Subquery, exp.Union, exp.Intersect, exp.Except, exp.Values)

CLAUSES: Table = {
    exp.Select: known(f"{AFTER} expressions distinct from_ joins laterals where group having qualify windows", QUERY),
    exp.Subquery: known(f"{AFTER} alias", QUERY, this=(*QUERIES, exp.Table)),
    exp.Union: known(f"{AFTER} distinct", QUERY, this=QUERIES, expression=QUERIES),
    exp.Intersect: known(f"{AFTER} distinct", QUERY, this=QUERIES, expression=QUERIES),
    exp.Except: known(f"{AFTER} distinct", QUERY, this=QUERIES, expression=QUERIES),
    exp.With: known("expressions recursive", QUERY),  # RECURSIVE is refused by syntax.sql
    exp.CTE: known("alias", QUERY, this=QUERIES),
    exp.Distinct: known("expressions", QUERY),
    exp.From: known("this", RELATION),
    exp.Join: known("this on using", RELATION, side=SIDES, kind=KINDS, method=("NATURAL",)),
    exp.Table: known("alias db catalog joins sample version", RELATION, this=(exp.Identifier, exp.Explode, exp.Stack)),
    exp.TableAlias: known("this columns", RELATION),
    exp.Version: known("expression", RELATION, this=("TIMESTAMP",), kind=("AS OF",)),  # only in a join: syntax.sql
    exp.TableSample: known("percent size"),
    exp.Values: known("expressions alias", "syntax.sql"),
    exp.Lateral: known("this view outer alias"),
    exp.Unnest: known("expressions alias offset", "bind.unnest"),
    exp.Where: known("this", QUERY),
    exp.Group: known("expressions", QUERY),
    exp.GroupingSets: known("expressions", "syntax.grouping"),
    exp.Cube: known("expressions", "syntax.grouping"),
    exp.Rollup: known("expressions", "syntax.grouping"),
    exp.Having: known("this", QUERY),
    exp.Qualify: known("this", QUERY),
    exp.Order: known("expressions", QUERY),
    exp.Ordered: known("this desc nulls_first", QUERY),
    exp.Limit: known("expression", QUERY),
    exp.Offset: known("expression", QUERY),
    exp.Window: known("this partition_by order spec alias", over=("OVER",)),
    exp.WindowSpec: known(
        "start end", kind=("ROWS", "RANGE"), start_side=("PRECEDING", "FOLLOWING"), end_side=("PRECEDING", "FOLLOWING")
    ),
}


# Clauses that sqlglot parses and tvfsql refuses: their SQL names, and what to write instead.


Words = tuple[str, str | None]

# By the kind of node and the argument that is set; "" is the node itself.
REFUSED: Mapping[tuple[type[exp.Expr], str], Words] = {
    (exp.Version, "this"): ("reading a VERSION of a table", None),
    (exp.Version, "kind"): ("reading several versions of a table", None),
    (exp.Table, "when"): ("reading a table AS OF a time", None),
    (exp.Table, "changes"): ("CHANGES of a table", None),
    (exp.Table, "ordinality"): ("WITH ORDINALITY", None),
    (exp.Table, "hints"): ("this hint", None),
    (exp.Table, "pivots"): ("PIVOT", "SUM(x) FILTER (WHERE k = 'a') AS a, ..."),
    (exp.Table, "this"): ("this table function", None),
    (exp.Interval, "fraction_in_string"): ("a fraction in an INTERVAL of this form", "INTERVAL '1.5' SECOND"),
    (exp.Lateral, "ordinality"): ("WITH ORDINALITY", None),
    (exp.Lateral, "cross_apply"): ("APPLY", "CROSS JOIN LATERAL"),
    (exp.Select, "distribute"): ("DISTRIBUTE BY", None),
    (exp.Select, "sort"): ("SORT BY", "ORDER BY"),
    (exp.Select, "cluster"): ("CLUSTER BY", None),
    (exp.Select, "pivots"): ("PIVOT", "SUM(x) FILTER (WHERE k = 'a') AS a, ..."),
    (exp.Select, "locks"): ("FOR UPDATE", None),
    (exp.Select, "into"): ("SELECT INTO", "INSERT INTO t SELECT ..."),
    (exp.Select, "kind"): ("SELECT AS", "SELECT"),
    (exp.Select, "hint"): ("this hint", None),
    (exp.Select, "match"): ("MATCH_RECOGNIZE", None),
    (exp.Select, "connect"): ("CONNECT BY", None),
    (exp.Subquery, "pivots"): ("PIVOT", "SUM(x) FILTER (WHERE k = 'a') AS a, ..."),
    (exp.Subquery, "this"): ("this expression in place of a table", None),
    (exp.Union, "this"): ("this expression in place of a query", None),
    (exp.Subquery, "sample"): ("TABLESAMPLE of a query", None),
    (exp.Union, "by_name"): ("UNION BY NAME", "UNION ALL, with the columns in the same order"),
    (exp.Limit, "limit_options"): ("LIMIT with TIES or PERCENT", "LIMIT 10"),
    (exp.Fetch, ""): ("FETCH WITH TIES or PERCENT", "LIMIT 10"),
    (exp.Group, "rollup"): ("WITH ROLLUP", "GROUP BY ROLLUP (a, b)"),
    (exp.Group, "cube"): ("WITH CUBE", "GROUP BY CUBE (a, b)"),
    (exp.Group, "totals"): ("WITH TOTALS", "GROUP BY ROLLUP (a, b)"),
    (exp.Distinct, "on"): ("DISTINCT ON", "ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) = 1"),
    (exp.CTE, "materialized"): ("MATERIALIZED", "WITH t AS (SELECT ...)"),
    (exp.Join, "method"): ("this kind of join", "JOIN ... ON, or JOIN ... USING (k)"),
    (exp.Join, "kind"): ("this kind of join", "JOIN ... ON, or JOIN ... USING (k)"),
    (exp.Join, "hint"): ("this hint", None),
    (exp.Join, "match_condition"): ("ASOF JOIN", None),
    (exp.Is, "expression"): ("this kind of IS", "IS NULL, IS TRUE, IS DISTINCT FROM"),
    (exp.Any, ""): ("ANY, except in = ANY and > ANY (SELECT ...),", "NOT a = ALL (SELECT ...)"),
    (exp.All, ""): ("ALL, except in <> ALL and > ALL (SELECT ...),", "a > (SELECT MAX(b) FROM t)"),
    (exp.WindowSpec, "exclude"): ("EXCLUDE in a frame", None),
    (exp.AtTimeZone, ""): ("AT TIME ZONE", "CONVERT_TIMEZONE('UTC', 'Europe/Berlin', ts)"),
    (exp.JSONExtract, ""): ("the JSON path operator", "JSON_VALUE(x, '$.a')"),
    (exp.JSONExtractScalar, ""): ("the JSON path operator", "JSON_VALUE(x, '$.a')"),
    (exp.ColumnDef, "constraints"): ("NOT NULL of a field of ROW in CAST", "CAST(x AS ROW<a INT>)"),
    (exp.Values, "order"): ("ORDER BY of VALUES", "SELECT * FROM (VALUES (2), (1)) AS t (a) ORDER BY a"),
    (exp.Values, "limit"): ("LIMIT of VALUES", "SELECT * FROM (VALUES (2), (1)) AS t (a) LIMIT 1"),
    (exp.Placeholder, ""): ("a placeholder", None),
    (exp.Parameter, ""): ("a parameter", None),
    (exp.Kwarg, ""): ("a named argument", "f(1)"),
    (exp.Dot, "expression"): ("a function name with a catalog or database", "f(x)"),
    (exp.Order, "this"): ("ORDER BY in this function", "LISTAGG(x, ',') WITHIN GROUP (ORDER BY y)"),
    (exp.Max, "expressions"): ("MAX of several values", "GREATEST(a, b)"),
    (exp.Min, "expressions"): ("MIN of several values", "LEAST(a, b)"),
    (exp.CurrentTimestamp, "this"): ("CURRENT_TIMESTAMP with a number of digits", "CURRENT_TIMESTAMP"),
    (exp.DataType, "this"): ("this type", "SHOW CREATE TABLE t shows the types of a table"),
    (exp.Cast, "format"): ("CAST with a FORMAT", "TO_TIMESTAMP(x, 'yyyy-MM-dd HH:mm:ss')"),
    (exp.ByteString, ""): ("a byte string", None),
    (exp.RawString, ""): ("a string with the prefix r", "'...'"),
    (exp.Introducer, ""): ("a string with a character set", "'...'"),
}  # fmt: skip
# Words that begin a clause. They are names only in backticks. (Flink reserves more.)
RESERVED = frozenset(
    "all and as between by case cross distinct else except exists fetch for from full group having in inner intersect "
    "into is join lateral left like limit match_recognize natural not null offset on or order outer over partition "
    "qualify right select tablesample then union unnest using values when where window with".split()
)
