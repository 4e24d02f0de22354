"""Flink's numeric functions."""

from __future__ import annotations

from collections.abc import Callable

from tvfsql.bind.flink.function import Function, same
from tvfsql.errors import UnsupportedError
from tvfsql.plan.types import UNKNOWN, SqlType, is_decimal, is_float, is_integer, shown

DOUBLES = (
    "SQRT LN LOG10 LOG2 EXP SIN SINH COS COSH TAN TANH COT ASIN ACOS ATAN DEGREES RADIANS".split()
)  # fmt: skip
# with an odd number of digits the first one is ignored
ODD = "IF(CHAR_LENGTH({0}) % 2 = 0, UNHEX({0}), CONCAT(X'00', UNHEX(SUBSTRING({0}, 2))))"
OTHER_SEED = "a seed gives other numbers than in Flink"


def precision(kind: SqlType) -> tuple[int, int]:
    """The precision and scale of a DECIMAL."""
    digits, scale = kind.removeprefix("decimal(").removesuffix(")").split(",")
    return int(digits), int(scale)


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


def scaled(kind: SqlType, scale: int) -> SqlType:
    """The type of a DECIMAL rounded to `scale` digits after the point, with room for one more digit before it."""
    if not is_decimal(kind):
        return kind
    digits, had = precision(kind)
    if scale < 0:
        return f"decimal({max(digits - had, 0) + 1},0)"
    kept = max(0, min(scale, had))
    return f"decimal({min(max(digits - had + kept, 1) + 1, 38)},{kept})"


def truncated(scale: int) -> Callable[..., str | None]:
    """Cut digits off towards zero. Spark's CEIL and FLOOR to a number of digits are exact only for DECIMALs."""

    def template(kind: SqlType, *_: SqlType) -> str | None:
        if is_float(kind):  # works on its digits as printed
            exact = "CAST(CAST({0} AS STRING) AS DECIMAL(38, 18))"
            return f"CAST(IF({{0}} < 0, CEIL({exact}, {scale}), FLOOR({exact}, {scale})) AS {kind.upper()})"
        if is_integer(kind) and scale < 0:
            return f"CAST(({{0}} DIV {10**-scale}L) * {10**-scale}L AS {kind.upper()})"
        if not is_decimal(kind) and not is_integer(kind):
            return None
        cut = f"IF({{0}} < 0, CEIL({{0}}, {scale}), FLOOR({{0}}, {scale}))"
        return f"CAST({cut} AS {scaled(kind, scale).upper()})"

    return template


def _hash_code(kind: SqlType) -> str:
    """HASH_CODE, with Java's values."""
    match kind:
        case "tinyint" | "smallint" | "int":
            return "INT({0})"
        case "bigint":
            low = "(({0} ^ SHIFTRIGHTUNSIGNED({0}, 32)) & 4294967295L)"
            return f"INT(IF({low} > 2147483647L, {low} - 4294967296L, {low}))"
        case "boolean":
            return "IF({0}, 1231, 1237)"
        case "date":
            return "UNIX_DATE({0})"
    raise UnsupportedError(f"HASH_CODE cannot take {shown(kind)}", hint="HASH_CODE of an INT, BOOLEAN, DATE or STRING")


NUMBERS = (
    *(same(f"{name}(numeric)", "double") for name in DOUBLES),
    Function("POWER(base, exponent)", "POWER({0}, {1})", "double"),
    Function("LOG(numeric)", "LN({0})", "double"),
    same("LOG(base, numeric)", "double"),
    same("ATAN2(y, x)", "double"),
    same("PI()", "double"),
    same("E()", "double"),
    Function("CEIL(numeric)", _whole("CEIL"), _whole_type),
    Function("CEILING(numeric)", _whole("CEIL"), _whole_type),
    Function("FLOOR(numeric)", _whole("FLOOR"), _whole_type),
    Function("TRUNCATE(numeric)", truncated(0), lambda kind: scaled(kind, 0)),
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
