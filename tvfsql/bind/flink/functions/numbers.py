"""Flink's numeric functions."""

from __future__ import annotations

import re
from collections.abc import Callable

from tvfsql.bind.flink.function import Function, same
from tvfsql.bind.flink.functions.rounding import cut_to, scaled
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

DOUBLES = (
    "SQRT EXP SIN SINH COS COSH TAN TANH COT ASIN ACOS ATAN DEGREES RADIANS".split()
)  # fmt: skip
# with an odd number of digits the first one is ignored
ODD = "IF(CHAR_LENGTH({0}) % 2 = 0, UNHEX({0}), CONCAT(X'00', UNHEX(SUBSTRING({0}, 2))))"
OTHER_SEED = "a seed gives other numbers than in Flink"


def _like_argument(spark: str) -> Callable[..., str | None]:
    """A function whose result has the type of its argument."""

    def template(kind: SqlType, *_: SqlType) -> str | None:
        return None if kind == types.UNKNOWN else f"CAST({spark} AS {kind.ddl})"

    return template


def _whole(name: str) -> Callable[..., str | None]:
    """CEIL and FLOOR: floating-point numbers stay floating-point, also beyond the range of BIGINT."""

    def template(kind: SqlType) -> str | None:
        if types.is_float(kind):  # every number with a fraction fits into a BIGINT
            return f"IF(ABS({{0}}) < 4503599627370496, CAST({name}({{0}}) AS {kind.ddl}), {{0}})"
        if types.is_decimal(kind):
            return f"CAST({name}({{0}}) AS DECIMAL({kind.precision}, 0))"
        return f"CAST({name}({{0}}) AS {kind.ddl})" if types.is_integer(kind) else None

    return template


def _whole_type(kind: SqlType) -> SqlType:
    return types.Decimal(kind.precision, 0) if types.is_decimal(kind) else kind


def _first(kind: SqlType, *_: SqlType) -> SqlType:
    return kind


def _logarithm(name: str) -> Callable[..., str]:
    """LN, LOG10 and LOG2: -Infinity of zero and NaN below; Spark has NULL there."""

    def template(kind: SqlType = types.UNKNOWN, hole: str = "{0}") -> str:
        if re.fullmatch(r"[1-9]\d*", kind.literal or ""):
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
    match kind.root:
        case "tinyint" | "smallint" | "int":
            return "INT({0})"
        case "bigint":
            low = "(({0} ^ SHIFTRIGHTUNSIGNED({0}, 32)) & 4294967295L)"
            return f"INT(IF({low} > 2147483647L, {low} - 4294967296L, {low}))"
        case "boolean":
            return "CASE {0} WHEN TRUE THEN 1231 WHEN FALSE THEN 1237 END"
        case "date":
            return "UNIX_DATE({0})"
    raise UnsupportedError(f"HASH_CODE cannot take {kind.flink}", hint="HASH_CODE of an INT, BOOLEAN, DATE or STRING")


NUMBERS = (
    *(same(f"{name}(numeric)", types.DOUBLE) for name in DOUBLES),
    Function("POWER(base, exponent)", "POWER({0}, {1})", types.DOUBLE),
    *(Function(f"{name}(numeric)", _logarithm(name), types.DOUBLE) for name in ("LN", "LOG10", "LOG2")),
    Function("LOG(numeric)", _logarithm("LN"), types.DOUBLE),
    Function("LOG(base, numeric)", _logarithm_of_base, types.DOUBLE),
    same("ATAN2(y, x)", types.DOUBLE),
    same("PI()", types.DOUBLE),
    same("E()", types.DOUBLE),
    Function("CEIL(numeric)", _whole("CEIL"), _whole_type),
    Function("CEILING(numeric)", _whole("CEIL"), _whole_type),
    Function("FLOOR(numeric)", _whole("FLOOR"), _whole_type),
    Function("TRUNCATE(numeric)", cut_to(0), lambda kind: scaled(kind, 0)),
    Function("SIGN(numeric)", _like_argument("SIGN({0})"), _first),
    same("RAND()", types.DOUBLE),
    same("RAND(seed)", types.DOUBLE),
    Function("RAND_INTEGER(bound)", "CAST(FLOOR(RAND() * {0}) AS INT)", types.INT),
    Function("RAND_INTEGER(seed, bound)", "CAST(FLOOR(RAND({0}) * {1}) AS INT)", types.INT, OTHER_SEED),
    Function("HASH_CODE(value)", _hash_code, types.INT, takes="s i l d p b dt tm ts"),
    same("UUID()", types.STRING),
    same("BIN(integer)", types.STRING),
    same("HEX(value)", types.STRING, takes="s i l"),
    Function("UNHEX(string)", ODD, types.BYTES),
)
