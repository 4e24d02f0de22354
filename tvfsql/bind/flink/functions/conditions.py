"""Flink's conditional functions and type functions."""

from __future__ import annotations

from tvfsql.bind.flink.function import Function
from tvfsql.bind.flink.operators.common_type import common_type
from tvfsql.plan.values.types import STRING, SqlType


def _common(*kinds: SqlType) -> SqlType:
    return common_type(kinds, "GREATEST")


def _null_if_any_is(name: str) -> Function:
    """GREATEST or LEAST: NULL if any argument is NULL."""

    def template(*kinds: SqlType) -> str:
        arguments = [f"{{{i}}}" for i in range(len(kinds))]
        if len(arguments) == 1:
            return arguments[0]
        missing = " OR ".join(f"{argument} IS NULL" for argument in arguments)
        return f"IF({missing}, NULL, {name}({', '.join(arguments)}))"

    return Function(f"{name}(value, ...)", template, _common)


CONDITIONS = (
    Function("TYPEOF(value)", "", STRING, "is rejected if it is not certain whether a value can be NULL"),
    _null_if_any_is("GREATEST"),
    _null_if_any_is("LEAST"),
    Function("IFNULL(value, otherwise)", "COALESCE({0}, {1})", _common),
)
