"""Refuses arguments of aggregates and of functions with OVER that Spark could only reject. `bind/aggregates/calls.py`
does it for aggregates by window or group, which do not reach Spark as calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from tvfsql.bind.flink.functions.arguments import NO_TEXT, family_of
from tvfsql.bind.flink.lowered_call import USER
from tvfsql.bind.flink.operators.cast_pairs import class_of, has_cast
from tvfsql.bind.flink.over import TYPED
from tvfsql.bind.flink.refused_operands import MOMENTS
from tvfsql.errors import BindError, Span, from_to, wrong_number
from tvfsql.plan.aggregate.function import Accepts
from tvfsql.plan.aggregate.table import AGGREGATES, ALIASES
from tvfsql.plan.values.types import DOUBLE, NULL, STRING, UNKNOWN, SqlType, is_integer

TypeOf = Callable[[exp.Expr], SqlType]
CALLS = {**TYPED, exp.Min: "MIN", exp.Max: "MAX", exp.LogicalAnd: "BOOL_AND", exp.LogicalOr: "BOOL_OR"}
# Those that sqlglot knows by name only, with the arguments whose types count. With OVER Spark takes other types than we
# do where values only need an order: COLLECT_LIST and ANY_VALUE take all, MIN_BY any first argument.
NAMED = {
    name: slice(row.operands)
    for name, row in AGGREGATES.items()
    if row.accepts not in (Accepts.ANY, Accepts.ORDERED) or name in ("COLLECT_SET", "MODE")
} | {"MIN_BY": slice(1, 2), "MAX_BY": slice(1, 2)}


def require_arguments(node: exp.Expr, type_of: TypeOf) -> None:
    """Raise BindError for an argument of a type that the call does not take, and for a column in place of a number."""
    match node:
        case exp.GroupConcat():
            _require_texts(node, type_of)
        case exp.Anonymous(expressions=[number]) if node.name.upper() == "NTILE":
            _require_number("NTILE", number, "NTILE(4)", type_of)
        case exp.Anonymous(expressions=arguments) if (name := node.name.upper()) in ("LAG", "LEAD"):
            _require_other_row(name, arguments, type_of)
        case exp.Anonymous(expressions=arguments) if (name := _name(node)) in NAMED and USER not in node.meta:
            for argument in arguments[NAMED[name]]:
                value = argument.expressions[0] if isinstance(argument, exp.Distinct) else argument
                _require(name, AGGREGATES[name].accepts, value, type_of)
        case _ if (called := CALLS.get(type(node))) and isinstance(node.this, exp.Expr):
            distinct = isinstance(node.this, exp.Distinct)
            _require(called, AGGREGATES[called].accepts, node.this.expressions[0] if distinct else node.this, type_of)


def _name(call: exp.Anonymous) -> str:
    name = call.name.upper()
    return ALIASES.get(name, name)


def _require(name: str, accepts: Accepts, value: exp.Expr, type_of: TypeOf) -> None:
    kind = type_of(value)
    if kind == NULL or accepts.takes(kind):
        return
    text = value.sql(dialect="spark")
    castable = accepts is Accepts.NUMBER and has_cast(kind, DOUBLE)
    raise BindError(
        f"{name} takes a {accepts.value}, but {text} is {kind.flink}",
        hint=f"{name}(CAST({text} AS DOUBLE))" if castable else None,
    )


def _require_texts(call: exp.GroupConcat, type_of: TypeOf) -> None:
    value = call.this
    while isinstance(value, exp.Distinct | exp.Order):
        value = value.expressions[0] if isinstance(value, exp.Distinct) else value.this
    kind, text = type_of(value), value.sql(dialect="spark")
    if family_of(kind) in NO_TEXT:
        raise no_text(text, kind)
    separator = call.args.get("separator")
    if separator is not None and separator.find(exp.Column):
        raise no_separator(text)


def no_text(value: str, kind: SqlType, span: Span | None = None) -> BindError:
    """The error for a value of LISTAGG that Spark makes no text of."""
    hint = f"LISTAGG(CAST({value} AS STRING))" if has_cast(kind, STRING) else None
    return BindError(f"LISTAGG takes a STRING, but {value} is {kind.flink}", span=span, hint=hint)


def no_separator(value: str, span: Span | None = None) -> BindError:
    """The error for a separator of LISTAGG that is computed."""
    return BindError("the separator of LISTAGG must be a string literal", span=span, hint=f"LISTAGG({value}, ';')")


def _require_other_row(name: str, arguments: Sequence[exp.Expr], type_of: TypeOf) -> None:
    if not 1 <= len(arguments) <= 3:
        raise wrong_number(name, from_to(1, 3), len(arguments), 1)
    value = arguments[0]
    offset, default = [*arguments[1:], None, None][:2]
    if offset is not None:
        _require_number(f"the offset of {name}", offset, f"{name}(x, 1)", type_of)
    if default is None:
        return
    kind, other = type_of(value), type_of(default)
    if isinstance(value.unnest(), exp.Null) and not isinstance(default.unnest(), exp.Null):
        raise BindError(f"{name} of a NULL without a type has no default", hint=f"{name}(CAST(NULL AS INT), 1, 0)")
    alike = class_of(kind) == class_of(other) or {kind, other} <= {*MOMENTS}
    if alike or UNKNOWN in (kind, other) or STRING in (kind, other) or NULL in (kind, other):
        return
    problem = f"the default of {name} is {other.flink}, its values are {kind.flink}"
    raise BindError(problem, hint=f"CAST(... AS {kind.flink})" if has_cast(other, kind) else None)


def _require_number(what: str, value: exp.Expr, hint: str, type_of: TypeOf) -> None:
    if value.find(exp.Column, exp.Null) or not (is_integer(type_of(value)) or type_of(value) == UNKNOWN):
        raise BindError(f"{what} must be a whole number, and not a column", hint=hint)
