"""ROUND and TRUNCATE: to a number of digits that a literal, or a column, has."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made, made, runtime_call
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import STRING, UNKNOWN, Decimal, SqlType, is_decimal, is_float, is_integer, is_number

TypeOf = Callable[[exp.Expr], SqlType]


def rounded(node: exp.Round, type_of: TypeOf) -> Made | None:
    """ROUND. Of a DECIMAL to at least as many digits as it has it keeps the type; Spark would add a digit."""
    kind, digits = type_of(node.this), node.args.get("decimals")
    if digits is None:
        return None
    if _literal(digits) is None:
        return _by_column("rounded", node.this, digits, kind)
    if not is_decimal(kind) or int(_literal(digits) or 0) < kind.scale:
        return None
    return made("{0}", [node.this], kind)


def truncated(node: exp.Anonymous, type_of: TypeOf) -> Made | None:
    """TRUNCATE(x, digits): rounds towards zero."""
    number, digits = node.expressions
    kind, scale = type_of(number), _literal(digits)
    if scale is None:
        return _by_column("truncated", number, digits, kind)
    template = cut_to(int(scale))(kind)
    if template is None:
        raise UnsupportedError(f"TRUNCATE takes a number, not {kind.flink}", hint="TRUNCATE(CAST(x AS DOUBLE), 2)")
    return made(template, [number], scaled(kind, int(scale)))


def rounded_type(kind: SqlType, digits: exp.Expr | None) -> SqlType:
    """The type of a ROUND that Spark computes, to as many digits as a literal says, or to none."""
    number = "0" if digits is None else _literal(digits)
    return scaled(kind, int(number)) if number is not None and is_number(kind) else UNKNOWN


def _literal(digits: exp.Expr) -> str | None:
    sign = "-" if isinstance(digits, exp.Neg) else ""
    number = digits.this if sign else digits
    return sign + number.name if isinstance(number, exp.Literal) and number.is_int else None


def _by_column(name: str, number: exp.Expr, digits: exp.Expr, kind: SqlType) -> Made:
    """To as many digits as an expression says, on the digits of the number as printed. The type is the number's."""
    if not is_number(kind):
        raise UnsupportedError(f"{kind.flink} cannot be rounded", hint="ROUND(CAST(x AS DOUBLE), digits)")
    text = runtime_call(name, [exp.cast(number.copy(), "string"), exp.cast(digits.copy(), "int")], STRING)
    cast = f"CAST({{0}} AS {kind.ddl})"
    if is_decimal(kind):  # Flink's result is wrong
        negative = "RAISE_ERROR('a DECIMAL rounded to a negative number of digits that is not a literal')"
        cast = f"IF({{1}} < 0, {negative}, {cast})"
    return made(cast, [text, digits], kind)


def scaled(kind: SqlType, scale: int) -> SqlType:
    """The type of a DECIMAL rounded to `scale` digits after the point, with room for one more digit before it."""
    if not isinstance(kind, Decimal):
        return kind
    digits, had = kind.precision, kind.scale
    if scale < 0:
        return Decimal(max(digits - had, 0) + 1, 0)
    if scale > had:
        return kind
    kept = max(0, min(scale, had))
    return Decimal(min(1 + digits - had + kept, 38), kept)


def cut_to(scale: int) -> Callable[..., str | None]:
    """Cut digits off towards zero. Spark's CEIL and FLOOR to a number of digits are exact only for DECIMALs."""

    def template(kind: SqlType, *_: SqlType) -> str | None:
        if is_float(kind):  # works on its digits as printed
            exact = "CAST(CAST({0} AS STRING) AS DECIMAL(38, 18))"
            cut = f"CAST(IF({{0}} < 0, CEIL({exact}, {scale}), FLOOR({exact}, {scale})) AS {kind.ddl})"
            return cut if scale < 0 else f"IF(ABS({{0}}) < 4503599627370496, {cut}, {{0}})"
        if is_integer(kind) and scale < 0:
            return f"CAST(({{0}} DIV {10**-scale}L) * {10**-scale}L AS {kind.ddl})"
        if not is_decimal(kind) and not is_integer(kind):
            return None
        cut = f"IF({{0}} < 0, CEIL({{0}}, {scale}), FLOOR({{0}}, {scale}))"
        return f"CAST({cut} AS {scaled(kind, scale).ddl})"

    return template
