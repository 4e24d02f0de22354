"""Refuses operands of types that neither Flink nor Spark accepts, when a query is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from tvfsql.bind.flink.operators.cast_pairs import epoch_time
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan.values.types import (
    DATE,
    INTERVAL_MONTHS,
    INTERVAL_SECONDS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    UNKNOWN,
    SqlType,
    has_map,
    is_integer,
    is_number,
)

TEXTS = (exp.DataType.Type.CHAR, exp.DataType.Type.VARCHAR, exp.DataType.Type.TEXT)
TypeOf = Callable[[exp.Expr], SqlType]
NUMBER, MOMENT = "number", "moment"
MOMENTS = (DATE, TIMESTAMP, TIMESTAMP_LTZ)
INTERVALS = (INTERVAL_MONTHS.root, INTERVAL_SECONDS.root)
CLASSES = ("boolean", "binary", "time", "array", "map", "struct", *INTERVALS)  # comparable with themselves alone
# what to write instead of a value of this class
HINTS = {
    MOMENT: "TIMESTAMP '2020-01-01 00:00:00'",
    "boolean": "b = TRUE",
    "array": "a[1], or ARRAY_CONTAINS(a, x)",
    "map": "m['key']",
    "struct": "r.field",
}


def require_types(node: exp.Expr, type_of: TypeOf) -> None:
    """Raise BindError if values of two classes are compared, or if a condition is not BOOLEAN. A STRING can be compared
    with all but a BOOLEAN, because it is cast.
    """
    if isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE):
        for side in (node.left, node.right):
            if has_map(kind := type_of(side)):
                raise BindError(f"{_article(kind.flink)} has no order", hint="m['key'] < 1")
    match node:
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.NullSafeEQ() | exp.NullSafeNEQ():
            _require_comparable(node.left, [node.right], type_of)
        case exp.Between():
            _require_comparable(node.this, [node.args["low"], node.args["high"]], type_of)
        case exp.In() if not node.args.get("query") and not isinstance(node.this, exp.Tuple):
            _require_comparable(node.this, node.expressions, type_of)
        case exp.Nullif() if not same_elements(one := type_of(node.this), other := type_of(node.expression)):
            raise BindError(f"{_article(one.flink)} cannot be compared with {_article(other.flink)}")
        case exp.Connector():
            _require_condition(node.left, node.key.upper(), type_of)
            _require_condition(node.right, node.key.upper(), type_of)
        case exp.Filter():
            _require_condition(node.expression.this, "FILTER (WHERE ...)", type_of)
        case exp.Not():
            _require_condition(node.this, "NOT", type_of)
        case exp.Div():
            _require_known(node, type_of)
        case exp.Add() | exp.Mul() | exp.Mod():
            _require_all_known(node, [node.left, node.right], "the type of the result", type_of)
        case exp.Ceil() | exp.Floor():
            _require_all_known(node, [node.this], "the type of the result", type_of)
        case exp.Cast() if node.to.this in TEXTS:
            _require_all_known(node, [node.this], "the text", type_of)
        case exp.Case() if node.this is not None:
            _require_comparable(node.this, [branch.this for branch in node.args["ifs"]], type_of)
        case exp.If() if not isinstance(node.parent, exp.Case):
            _require_condition(node.this, "IF", type_of)
        case exp.If(parent=exp.Case(this=None)):
            _require_condition(node.this, "WHEN", type_of)


def _require_comparable(one: exp.Expr, others: Iterable[exp.Expr], type_of: TypeOf) -> None:
    kind = type_of(one)
    if not (known := _class_of(kind)):
        return
    for other in others:
        second = type_of(other)
        found = _class_of(second)
        if {kind, second} == {DATE, TIMESTAMP_LTZ}:
            raise BindError(
                "a DATE cannot be compared with a TIMESTAMP_LTZ: it is not certain in which zone the day begins",
                hint="CAST(dt AS TIMESTAMP_LTZ(3)), or CAST(ts AS DATE)",
            )
        if not same_elements(kind, second):
            raise BindError(f"{_article(kind.flink)} cannot be compared with {_article(second.flink)}")
        if found and found != known and ("string" not in (found, known) or "boolean" in (found, known)):
            hint = _as_moment(one, other, type_of) or HINTS.get(known) or HINTS.get(found)
            raise BindError(f"{_article(kind.flink)} cannot be compared with {_article(second.flink)}", hint=hint)


def same_elements(one: SqlType, other: SqlType) -> bool:
    """Whether two intervals, or the elements of two arrays, maps or rows, can be compared, if that is certain."""
    if {one.root, other.root} == {*INTERVALS}:
        return False
    if one.root != other.root or one.root not in ("array", "map", "struct") or len(one.parts) != len(other.parts):
        return True
    pairs = zip(one.parts, other.parts, strict=True)
    return all(same_elements(*pair) and ("" in (of := [*map(_class_of, pair)]) or len({*of}) == 1) for pair in pairs)


def _as_moment(one: exp.Expr, other: exp.Expr, type_of: TypeOf) -> str | None:
    """What to write instead of a column of numbers that is compared with a moment; None for anything else."""
    for number, moment in ((one, other), (other, one)):
        kind = type_of(number)
        if isinstance(number.unnest(), exp.Column) and is_integer(kind) and type_of(moment) in MOMENTS:
            instant = epoch_time(number.unnest().name, kind)
            return f"CAST({instant} AS DATE)" if type_of(moment) == DATE else instant
    return None


def _require_known(node: exp.Div, type_of: TypeOf) -> None:
    """Raise UnsupportedError if / may divide integers or not, because the type of an operand is not known."""
    sides = [side for side in (node.left, node.right) if not isinstance(side.unnest(), exp.Null)]
    kinds = [type_of(side) for side in sides]
    if UNKNOWN in kinds and all(kind == UNKNOWN or is_integer(kind) for kind in kinds):
        raise UnsupportedError(
            "an integer divided by an integer is an integer, but the type of an operand is only known to Spark",
            hint="CAST(x AS DOUBLE) / y, or CAST(x AS BIGINT) / y",
        )


def _require_all_known(node: exp.Expr, values: Iterable[exp.Expr], what: str, type_of: TypeOf) -> None:
    """Raise UnsupportedError if an operator over a value whose type only Spark knows would mean what it means in Spark.
    The bodies of lambda functions, which only Spark has, do.
    """
    for value in values:
        plain = value.unnest()
        if type_of(value) != UNKNOWN or isinstance(plain, exp.Null | exp.Placeholder) or node.find_ancestor(exp.Lambda):
            continue
        raise UnsupportedError(
            f"{what} depends on the type of {_short(plain)}, which is only known to Spark",
            hint=f"CAST({_short(plain)} AS DOUBLE), or another type",
        )


def _short(tree: exp.Expr) -> str:
    text = tree.sql(dialect="spark")
    return text if len(text) <= 40 else "x"


def require_known_argument(function: str, kind: SqlType, span: Span | None = None) -> None:
    """Raise UnsupportedError for an aggregate whose result depends on the type of its argument, if it is UNKNOWN."""
    if kind == UNKNOWN and function.startswith(("AVG", "STDDEV", "VAR", "SUM")):
        raise UnsupportedError(
            f"the result of {function} depends on the type of its argument, which is only known to Spark",
            span=span,
            hint=f"{function}(CAST(x AS DOUBLE))",
        )


def _require_condition(value: exp.Expr, where: str, type_of: TypeOf) -> None:
    kind = type_of(value)
    if (found := _class_of(kind)) and found not in ("boolean", "string"):
        hint = "x <> 0" if found == NUMBER else "x IS NOT NULL"
        raise BindError(f"{where} needs a BOOLEAN, not {_article(kind.flink)}", hint=hint)


def _class_of(kind: SqlType) -> str:
    """A name for the types that can be compared with this one; "" if that is not certain."""
    if is_number(kind):
        return NUMBER
    if kind in MOMENTS:
        return MOMENT
    return kind.root if kind == STRING or kind.root in CLASSES else ""


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AI" else f"a {kind}"
