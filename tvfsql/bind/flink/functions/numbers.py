"""Flink's numeric functions."""

from __future__ import annotations

import re
from collections.abc import Callable

from tvfsql.bind.flink.function import Function, literal_of, same
from tvfsql.bind.flink.functions.rounding import cut_to, precision, scaled
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import UNKNOWN, SqlType, is_decimal, is_float, is_integer, shown

DOUBLES = (
    "SQRT EXP SIN SINH COS COSH TAN TANH COT ASIN ACOS ATAN DEGREES RADIANS".split()
)  # fmt: skip
# with an odd number of digits the first one is ignored
ODD = "IF(CHAR_LENGTH({0}) % 2 = 0, UNHEX({0}), CONCAT(X'00', UNHEX(SUBSTRING({0}, 2))))"
OTHER_SEED = "a seed gives other numbers than in Flink"


def _like_argument(spark: str) -> Callable[..., str | None]:
    """A function whose result has the type of its argument."""

    def template(kind: SqlType, *_: SqlType) -> str | None:
        return None if kind == UNKNOWN else f"CAST({spark} AS {kind.upper()})"

    return template


def _whole(name: str) -> Callable[..., str | None]:
    """CEIL and FLOOR: floating-point numbers stay floating-point, also beyond the range of BIGINT."""

    def template(kind: SqlType) -> str | None:
        if is_float(kind):  # every number with a fraction fits into a BIGINT
            return f"IF(ABS({{0}}) < 4503599627370496, CAST({name}({{0}}) AS {kind.upper()}), {{0}})"
        if is_decimal(kind):
            return f"CAST({name}({{0}}) AS DECIMAL({precision(kind)[0]}, 0))"
        return f"CAST({name}({{0}}) AS {kind.upper()})" if is_integer(kind) else None

    return template


def _whole_type(kind: SqlType) -> SqlType:
    return f"decimal({precision(kind)[0]},0)" if is_decimal(kind) else kind


def _first(kind: SqlType, *_: SqlType) -> SqlType:
    return kind


def _logarithm(name: str) -> Callable[..., str]:
    """LN, LOG10 and LOG2: -Infinity of zero and NaN below; Spark has NULL there."""

    def template(kind: SqlType = UNKNOWN, hole: str = "{0}") -> str:
        if re.fullmatch(r"[1-9]\d*", literal_of(kind) or ""):
            return f"{name}({hole})"
        below = f"WHEN {hole} = 0 THEN DOUBLE('-Infinity') WHEN {hole} < 0 THEN DOUBLE('NaN')"
        return f"CASE WHEN {hole} > 0 THEN {name}({hole}) {below} END"

    return template


def _logarithm_of_base(base: SqlType, number: SqlType) -> str:
    """LOG(base, x), the quotient of natural logarithms."""
    over, under = _logarithm("LN")(number, "{1}"), _logarithm("LN")(base, "{0}")
    return f"IF({{0}} > 0 AND {{1}} > 0, LOG({{0}}, {{1}}), {over} * POWER({under}, -1))"


def _hash_code(kind: SqlType) -> str:
    """HASH_CODE, with Java's values."""
    match kind:
        case "tinyint" | "smallint" | "int":
            return "INT({0})"
        case "bigint":
            low = "(({0} ^ SHIFTRIGHTUNSIGNED({0}, 32)) & 4294967295L)"
            return f"INT(IF({low} > 2147483647L, {low} - 4294967296L, {low}))"
        case "boolean":
            return "CASE {0} WHEN TRUE THEN 1231 WHEN FALSE THEN 1237 END"
        case "date":
            return "UNIX_DATE({0})"
    raise UnsupportedError(f"HASH_CODE cannot take {shown(kind)}", hint="HASH_CODE of an INT, BOOLEAN, DATE or STRING")


NUMBERS = (
    *(same(f"{name}(numeric)", "double") for name in DOUBLES),
    Function("POWER(base, exponent)", "POWER({0}, {1})", "double"),
    *(Function(f"{name}(numeric)", _logarithm(name), "double") for name in ("LN", "LOG10", "LOG2")),
    Function("LOG(numeric)", _logarithm("LN"), "double"),
    Function("LOG(base, numeric)", _logarithm_of_base, "double"),
    same("ATAN2(y, x)", "double"),
    same("PI()", "double"),
    same("E()", "double"),
    Function("CEIL(numeric)", _whole("CEIL"), _whole_type),
    Function("CEILING(numeric)", _whole("CEIL"), _whole_type),
    Function("FLOOR(numeric)", _whole("FLOOR"), _whole_type),
    Function("TRUNCATE(numeric)", cut_to(0), lambda kind: scaled(kind, 0)),
    Function("SIGN(numeric)", _like_argument("SIGN({0})"), _first),
    same("RAND()", "double"),
    same("RAND(seed)", "double"),
    Function("RAND_INTEGER(bound)", "CAST(FLOOR(RAND() * {0}) AS INT)", "int"),
    Function("RAND_INTEGER(seed, bound)", "CAST(FLOOR(RAND({0}) * {1}) AS INT)", "int", OTHER_SEED),
    Function("HASH_CODE(value)", _hash_code, "int"),
    same("UUID()", "string"),
    same("BIN(integer)", "string"),
    same("HEX(value)", "string"),
    Function("UNHEX(string)", ODD, "binary"),
)
