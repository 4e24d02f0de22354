"""Flink's conditional functions, and those that tell of types."""

from __future__ import annotations

from tvfsql.bind.flink.function import Function, literal_of
from tvfsql.errors import UnsupportedError
from tvfsql.plan.types import INTEGERS, ORDER, UNKNOWN, SqlType, is_integer, shown


def common(*kinds: SqlType) -> SqlType:
    """The type of several arguments, where that is certain."""
    known = {*kinds}
    if len(known) == 1:
        return known.pop()
    return INTEGERS[max(ORDER[kind] for kind in known)] if known and all(map(is_integer, known)) else UNKNOWN


def _null_if_any_is(name: str) -> Function:
    """GREATEST and LEAST are NULL as soon as one argument is."""

    def template(*kinds: SqlType) -> str:
        arguments = [f"{{{i}}}" for i in range(len(kinds))]
        missing = " OR ".join(f"{argument} IS NULL" for argument in arguments)
        return f"IF({missing}, NULL, {name}({', '.join(arguments)}))"

    return Function(f"{name}(value, ...)", template, common)


def _type_name(kind: SqlType) -> str | None:
    """The type's name, as Flink gives it: with the length of a text, and whether it is NOT NULL."""
    literal = literal_of(kind)
    if kind == UNKNOWN or "struct<" in kind:
        raise UnsupportedError("the type of this is not known before Spark runs it", hint="TYPEOF(column)")
    if literal is not None:
        name = f"CHAR({len(literal)})" if kind == "string" else shown(kind)
        return f"'{name} NOT NULL'"
    return "'" + shown(kind).replace("'", "''") + "'"


CONDITIONS = (
    Function("TYPEOF(value)", _type_name, "string"),
    _null_if_any_is("GREATEST"),
    _null_if_any_is("LEAST"),
    Function("IFNULL(value, otherwise)", "COALESCE({0}, {1})", common),
)
