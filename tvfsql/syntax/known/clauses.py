"""The query clauses that are understood: FROM to LIMIT, joins, WITH, set operations."""

from __future__ import annotations

from sqlglot import exp

from tvfsql.syntax.known.known import Table, known

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
