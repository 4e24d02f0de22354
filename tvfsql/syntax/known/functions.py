"""The functions that sqlglot parses into classes of its own. Any other function reaches Spark under its name, as
written.

A function is listed here if tvfsql needs its class: for its type, its partials, or the keywords between its
parentheses. `names` are its SQL names; sqlglot knows no other function names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from tvfsql.syntax.known.clauses import Known, Table, known


@dataclass(frozen=True)
class Function:
    """A function by its SQL names, and the arguments of its node that are understood."""

    names: tuple[str, ...]
    node: Known


def _called(names: str, arguments: str = "this", by: str = "same") -> Function:
    return Function(tuple(names.split()), known(arguments, by))


AGGREGATE = "plan.aggregate.table"
FUNCTIONS: Mapping[type[exp.Expr], Function] = {
    # aggregates
    exp.ApproxDistinct: _called("APPROX_COUNT_DISTINCT", "this accuracy", AGGREGATE),
    exp.ArrayAgg: _called("ARRAY_AGG", "this nulls_excluded", AGGREGATE),
    exp.Avg: _called("AVG", by=AGGREGATE),
    exp.Count: _called("COUNT", "this expressions big_int", AGGREGATE),
    exp.FirstValue: _called("FIRST_VALUE", by=AGGREGATE),
    exp.LastValue: _called("LAST_VALUE", by=AGGREGATE),
    exp.First: _called("FIRST", by=AGGREGATE),
    exp.Last: _called("LAST", by=AGGREGATE),
    exp.GroupConcat: _called("LISTAGG STRING_AGG", "this separator", AGGREGATE),
    exp.LogicalAnd: _called("BOOL_AND", by=AGGREGATE),
    exp.LogicalOr: _called("BOOL_OR", by=AGGREGATE),
    exp.Max: _called("MAX", by=AGGREGATE),
    exp.Min: _called("MIN", by=AGGREGATE),
    exp.Stddev: _called("STDDEV", by=AGGREGATE),
    exp.StddevPop: _called("STDDEV_POP", by=AGGREGATE),
    exp.StddevSamp: _called("STDDEV_SAMP", by=AGGREGATE),
    exp.Sum: _called("SUM", by=AGGREGATE),
    exp.Variance: _called("VARIANCE VAR_SAMP", by=AGGREGATE),
    exp.VariancePop: _called("VAR_POP", by=AGGREGATE),
    # about grouping sets, and over neighbouring rows
    exp.Grouping: _called("GROUPING", "expressions", "bind.grouping_sets"),
    exp.GroupingId: _called("GROUPING_ID", "expressions", "bind.grouping_sets"),
    exp.DenseRank: _called("DENSE_RANK", "", "bind.rank"),
    exp.Rank: _called("RANK", "", "bind.rank"),
    exp.RowNumber: _called("ROW_NUMBER", "", "bind.rank"),
    # rows made from one value
    exp.Explode: _called("EXPLODE"),
    exp.FUNCTION_BY_NAME["EXPLODE_OUTER"]: _called("EXPLODE_OUTER"),
    exp.Posexplode: _called("POSEXPLODE"),
    exp.PosexplodeOuter: _called("POSEXPLODE_OUTER"),
    exp.Inline: _called("INLINE"),
    exp.Stack: _called("STACK", "this expressions"),
    # with keywords between their parentheses
    exp.Ceil: _called("CEIL CEILING", "this decimals to"),
    exp.Extract: _called("EXTRACT", "this expression"),
    exp.Floor: _called("FLOOR", "this decimals to"),
    exp.Overlay: _called("OVERLAY", "this expression from_ for_"),
    exp.StrPosition: _called("POSITION", "this substr position"),
    exp.Substring: _called("SUBSTRING SUBSTR", "this start length"),
    exp.TimestampAdd: _called("TIMESTAMPADD", "this expression unit"),
    exp.TimestampDiff: _called("TIMESTAMPDIFF", "this expression unit"),
    exp.Trim: _called("TRIM", "this expression position"),
    # without parentheses
    exp.CurrentDate: _called("CURRENT_DATE", ""),
    exp.CurrentTimestamp: _called("CURRENT_TIMESTAMP", ""),
    exp.CurrentUser: _called("CURRENT_USER", ""),
    exp.SessionUser: _called("SESSION_USER", ""),
    # with the type of their arguments
    exp.Abs: _called("ABS"),
    exp.Coalesce: _called("COALESCE", "this expressions"),
    exp.Concat: _called("CONCAT", "expressions safe"),
    exp.Nullif: _called("NULLIF", "this expression"),
    exp.Round: _called("ROUND", "this decimals"),
    exp.BitwiseLeftShift: _called("SHIFTLEFT", "this expression"),
    exp.BitwiseRightShift: _called("SHIFTRIGHT", "this expression"),
    # all others
    exp.Anonymous: Function((), known("this expressions")),
    exp.Filter: Function((), known("this expression", AGGREGATE)),
    exp.WithinGroup: Function((), known("this expression")),
    exp.IgnoreNulls: Function((), known("this")),
    exp.RespectNulls: Function((), known("this")),
}
# parsed into operators: ARRAY(1), IF(a, b, c), MOD(a, b), STRUCT(a AS x)
OPERATORS = ("ARRAY", "IF", "MOD", "STRUCT")
NAMES = frozenset(name for function in FUNCTIONS.values() for name in function.names) | {*OPERATORS}
# functions with their own syntax between the parentheses
WORDS = frozenset(["CAST", "TRY_CAST"])
NODES: Table = {kind: function.node for kind, function in FUNCTIONS.items()}
