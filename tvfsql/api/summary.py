"""SUMMARIZE: one row of figures for each column of a table or query, from one aggregate over all its rows.

The row of each column is an element of an array of ROWs, so that the rows are read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvfsql.errors import Span
from tvfsql.plan.values import types
from tvfsql.plan.values.names import backticked
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax import statements
from tvfsql.syntax.parameters import Filled

COLUMNS = ("column", "type", "min", "max", "approx_distinct", "mean", "nulls", "rows")
NOTHING = "CAST(NULL AS STRING)"


def rows_of(asked: statements.Summarize, sql: str) -> Filled:
    """The query of the rows that a SUMMARIZE is about, with its places in the script."""
    keyword = asked.keyword
    select = "" if asked.is_query else "SELECT * FROM"
    start = Span(keyword.start, keyword.start + len(select))
    return Filled(sql, " " * keyword.start + select + sql[keyword.end : asked.span.end], ((start, keyword),))


def summary_of(query: str, columns: Sequence[tuple[str, SqlType]]) -> str:
    """The SQL that summarizes the rows of a query, whose columns and types are these.

    Rows: column, type, min, max, mean STRING; approx_distinct, nulls, rows BIGINT. `approx_distinct` counts distinct
    values with an HyperLogLog sketch, without NULLs.
    """
    facts, rows = ["COUNT(*) AS `rows`"], list[str]()
    for i, (name, kind) in enumerate(columns):
        facts += [f"{call} AS `{i}_{fact}`" for fact, call in _facts(backticked(name), kind)]
        known = {fact for fact, _ in _facts(backticked(name), kind)}
        figures = [f"`{i}_{fact}`" if fact in known else NOTHING for fact in ("min", "max")]
        figures.append(f"`{i}_distinct`" if "distinct" in known else "CAST(NULL AS BIGINT)")
        figures.append(f"`{i}_mean`" if "mean" in known else NOTHING)
        rows.append(f"ROW({_text(name)}, {_text(kind.flink)}, {', '.join(figures)}, `rows` - `{i}_present`, `rows`)")
    names = ", ".join(map(backticked, COLUMNS))
    return (
        f"WITH `summarized` AS ({query}\n), `facts` AS (SELECT {', '.join(facts)} FROM `summarized`) "
        f"SELECT `each`.* FROM `facts` CROSS JOIN UNNEST(ARRAY[{', '.join(rows)}]) AS `each` ({names})"
    )


def _facts(column: str, kind: SqlType) -> Iterator[tuple[str, str]]:
    yield "present", f"COUNT({column})"
    if kind.parts or kind == types.VARIANT or isinstance(kind, types.VarBinary):
        return
    yield "distinct", f"CAST(HLL_SKETCH_ESTIMATE(HLL_SKETCH_AGG(CAST({column} AS STRING))) AS BIGINT)"
    if kind != types.BOOLEAN:
        yield "min", f"CAST(MIN({column}) AS STRING)"
        yield "max", f"CAST(MAX({column}) AS STRING)"
    if kind in types.INTEGERS or types.is_float(kind) or isinstance(kind, types.Decimal):
        yield "mean", _digits(f"AVG(CAST({column} AS DOUBLE))")


def _digits(mean: str) -> str:
    """A DOUBLE as text, with digits alone where CAST would write a power of ten, such as 1.76E12 of milliseconds."""
    large = f"ABS({mean}) >= 1E7 AND ABS({mean}) < 1E18"
    return f"CASE WHEN {large} THEN CAST(CAST({mean} AS DECIMAL(38, 3)) AS STRING) ELSE CAST({mean} AS STRING) END"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
