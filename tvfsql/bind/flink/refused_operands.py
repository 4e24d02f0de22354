"""Refuses operands of types that neither Flink nor Spark accepts, when a query is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan.values.types import UNKNOWN, SqlType, is_integer, is_number, shown

TypeOf = Callable[[exp.Expr], SqlType]
NUMBER, MOMENT = "number", "moment"
MOMENTS = ("date", "timestamp", "timestamp_ntz")
CLASSES = ("boolean", "binary", "time", "array", "map", "struct")  # comparable with themselves alone
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
    match node:
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.NullSafeEQ() | exp.NullSafeNEQ():
            _require_comparable(node.left, [node.right], type_of)
        case exp.Between():
            _require_comparable(node.this, [node.args["low"], node.args["high"]], type_of)
        case exp.In() if not node.args.get("query") and not isinstance(node.this, exp.Tuple):
            _require_comparable(node.this, node.expressions, type_of)
        case exp.Connector():
            _require_condition(node.left, node.key.upper(), type_of)
            _require_condition(node.right, node.key.upper(), type_of)
        case exp.Not():
            _require_condition(node.this, "NOT", type_of)
        case exp.Div():
            _require_known(node, type_of)
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
        if found and found != known and ("string" not in (found, known) or "boolean" in (found, known)):
            hint = HINTS.get(known) or HINTS.get(found)
            raise BindError(f"{_article(shown(kind))} cannot be compared with {_article(shown(second))}", hint=hint)


def _require_known(node: exp.Div, type_of: TypeOf) -> None:
    """Raise UnsupportedError if / may divide integers or not, because the type of an operand is not known."""
    sides = [side for side in (node.left, node.right) if not isinstance(side.unnest(), exp.Null)]
    kinds = [type_of(side) for side in sides]
    if UNKNOWN in kinds and all(kind == UNKNOWN or is_integer(kind) for kind in kinds):
        raise UnsupportedError(
            "an integer divided by an integer is an integer, but the type of an operand is only known to Spark",
            hint="CAST(x AS DOUBLE) / y, or CAST(x AS BIGINT) / y",
        )


def require_known_argument(function: str, kind: SqlType, span: Span | None = None) -> None:
    """Raise UnsupportedError for an aggregate whose result depends on the type of its argument, if it is UNKNOWN."""
    if kind == UNKNOWN and function.startswith(("AVG", "STDDEV", "VAR")):
        raise UnsupportedError(
            f"the result of {function} depends on the type of its argument, which is only known to Spark",
            span=span,
            hint=f"{function}(CAST(x AS DOUBLE))",
        )


def _require_condition(value: exp.Expr, where: str, type_of: TypeOf) -> None:
    kind = type_of(value)
    if (found := _class_of(kind)) and found not in ("boolean", "string"):
        hint = "x <> 0" if found == NUMBER else "x IS NOT NULL"
        raise BindError(f"{where} needs a BOOLEAN, not {_article(shown(kind))}", hint=hint)


def _class_of(kind: SqlType) -> str:
    """A name for the types that can be compared with this one; "" if that is not certain."""
    if is_number(kind):
        return NUMBER
    if kind in MOMENTS:
        return MOMENT
    if kind == "string":
        return "string"
    name = kind.partition("<")[0].partition("(")[0]
    return name if name in CLASSES else ""


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AI" else f"a {kind}"
