"""Flink's functions of numbers."""

from __future__ import annotations

from collections.abc import Callable

from tvfsql.bind.flink.function import Function, same
from tvfsql.plan.types import UNKNOWN, SqlType, is_decimal, is_float, is_integer

DOUBLES = (
    "SQRT LN LOG10 LOG2 EXP SIN SINH COS COSH TAN TANH COT ASIN ACOS ATAN DEGREES RADIANS".split()
)  # fmt: skip
OTHER_SEED = "a seed gives other numbers than in Flink"


def precision(kind: SqlType) -> tuple[int, int]:
    """Digits of a DECIMAL, and how many of them are after the point."""
    digits, scale = kind.removeprefix("decimal(").removesuffix(")").split(",")
    return int(digits), int(scale)


def _like_argument(spark: str) -> Callable[..., str | None]:
    """A function whose result has the type of its argument."""

    def template(kind: SqlType, *_: SqlType) -> str | None:
        return None if kind == UNKNOWN else f"CAST({spark} AS {kind.upper()})"

    return template


def _whole(name: str) -> Callable[..., str | None]:
    """CEIL and FLOOR: of floating-point numbers they stay such, beyond the range of BIGINT, too."""

    def template(kind: SqlType) -> str | None:
        if is_float(kind):  # a BIGINT holds all that have a fraction
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
    """The type of a DECIMAL cut to so many digits after the point, with room for one more before it."""
    if not is_decimal(kind):
        return kind
    digits, had = precision(kind)
    kept = max(0, min(scale, had))
    return f"decimal({min(max(digits - had + kept, 1) + 1, 38)},{kept})"


def truncated(scale: int) -> Callable[..., str | None]:
    """Digits cut off towards zero. Spark's CEIL and FLOOR to digits are exact for DECIMALs alone."""

    def template(kind: SqlType, *_: SqlType) -> str | None:
        if not is_decimal(kind) and not is_integer(kind):
            return None
        cut = f"IF({{0}} < 0, CEIL({{0}}, {scale}), FLOOR({{0}}, {scale}))"
        return f"CAST({cut} AS {scaled(kind, scale).upper()})"

    return template


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
    same("UUID()", "string"),
    same("BIN(integer)", "string"),
    same("HEX(value)", "string"),
    same("UNHEX(string)", "binary"),
)
