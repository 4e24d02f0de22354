"""Flink's conditional functions and type functions."""

from __future__ import annotations

from tvfsql.bind.flink.function import Function
from tvfsql.plan.types import INTEGERS, ORDER, UNKNOWN, SqlType, is_integer


def common(*kinds: SqlType) -> SqlType:
    """The common type of several arguments, if it is certain."""
    known = {*kinds}
    if len(known) == 1:
        return known.pop()
    return INTEGERS[max(ORDER[kind] for kind in known)] if known and all(map(is_integer, known)) else UNKNOWN


def _null_if_any_is(name: str) -> Function:
    """GREATEST or LEAST: NULL if any argument is NULL."""

    def template(*kinds: SqlType) -> str:
        arguments = [f"{{{i}}}" for i in range(len(kinds))]
        if len(arguments) == 1:
            return arguments[0]
        missing = " OR ".join(f"{argument} IS NULL" for argument in arguments)
        return f"IF({missing}, NULL, {name}({', '.join(arguments)}))"

    return Function(f"{name}(value, ...)", template, common)


CONDITIONS = (
    Function("TYPEOF(value)", "", "string", "is rejected if it is not certain whether a value can be NULL"),
    _null_if_any_is("GREATEST"),
    _null_if_any_is("LEAST"),
    Function("IFNULL(value, otherwise)", "COALESCE({0}, {1})", common),
)
