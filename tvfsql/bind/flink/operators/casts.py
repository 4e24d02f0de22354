"""CAST and TRY_CAST with Flink's results where Spark's differ: text, wall-clock times, lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import made
from tvfsql.bind.flink.operators.cast_types import Target
from tvfsql.bind.flink.time.digits import digits_of
from tvfsql.bind.flink.time.fields import date_of
from tvfsql.bind.flink.time.formats import read, read_date
from tvfsql.bind.flink.time.wall_clock import CLOCK, EPOCH, INSTANT, instant_at, wall_clock
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.types import (
    INTEGERS,
    UNKNOWN,
    SqlType,
    ddl,
    fields,
    is_decimal,
    is_number,
    parts_of,
    shown,
    split_kinds,
)

OTHER = "[\\\\p{ASCII}&&[^.0-9]]"


def as_text(value: str, kind: SqlType, digits: int = 3, depth: int = 0) -> str | None:
    """Return SQL for Flink's text of a value; None if Spark's text is the same. `digits` is the number of digits of a
    second in a time.
    """
    inner = f"x{depth}"
    match kind.partition("<")[0]:
        case "boolean":
            return f"UPPER(CAST({value} AS STRING))"
        case "timestamp" | "timestamp_ntz":
            shown = f"CAST({wall_clock(value) if kind == INSTANT else value} AS STRING)"  # without trailing zeros
            if digits == 0:
                return f"LEFT({shown}, 19)"
            return f"RPAD(IF(CHAR_LENGTH({shown}) = 19, CONCAT({shown}, '.'), {shown}), {20 + digits}, '0')"
        case "interval day to second":
            sign = f"CASE WHEN {value} < INTERVAL '0' DAY THEN '-' WHEN {value} IS NOT NULL THEN '+' END"
            length = f"ABS({value} + INTERVAL '0 00:00:00' DAY TO SECOND)"
            millis = f"CAST(EXTRACT(SECOND FROM {length}) * 1000 AS INT)"
            parts = [f"EXTRACT({unit} FROM {length})" for unit in ("DAY", "HOUR", "MINUTE")]
            seconds = f"{millis} DIV 1000, {millis} % 1000"
            return f"CONCAT({sign}, FORMAT_STRING('%d %02d:%02d:%02d.%03d', {', '.join(parts)}, {seconds}))"
        case "interval year to month":
            sign = f"CASE WHEN {value} < INTERVAL '0' MONTH THEN '-' WHEN {value} IS NOT NULL THEN '+' END"
            length = f"ABS({value} + INTERVAL '0-0' YEAR TO MONTH)"
            months = f"EXTRACT(YEAR FROM {length}), EXTRACT(MONTH FROM {length})"
            return f"CONCAT({sign}, FORMAT_STRING('%d-%02d', {months}))"
        case "array":
            item = _or_null(inner, kind[6:-1], digits, depth)
            return f"CONCAT('[', ARRAY_JOIN(TRANSFORM({value}, {inner} -> {item}), ', '), ']')"
        case "map":
            key, held = split_kinds(kind[4:-1])
            key_text, held_text = (
                _or_null(f"{inner}.{part}", of, digits, depth) for part, of in (("key", key), ("value", held))
            )
            pair = f"CONCAT({key_text}, '=', {held_text})"
            return f"CONCAT('{{', ARRAY_JOIN(TRANSFORM(MAP_ENTRIES({value}), {inner} -> {pair}), ', '), '}}')"
        case "struct":
            fields = [part.partition(":") for part in split_kinds(kind[7:-1])]
            texts = [_or_null(f"{value}.{name}", of, digits, depth) for name, _, of in fields]
            return f"IF({value} IS NULL, NULL, CONCAT('(', CONCAT_WS(', ', {', '.join(texts)}), ')'))"
    return None


def _or_null(value: str, kind: SqlType, digits: int, depth: int) -> str:
    return f"COALESCE({as_text(value, kind, digits, depth + 1) or f'CAST({value} AS STRING)'}, 'NULL')"


def as_texts(values: Sequence[exp.Expr], type_of: Callable[[exp.Expr], SqlType]) -> None:
    """Replace the parts of a text that are no STRING by what CAST makes of them, where Spark makes another text."""
    for value in values:
        text = as_text("{0}", type_of(value), digits_of(value))
        if text is not None:
            value.replace(made(text, [value.copy()], "string"))


def cast(source: SqlType, digits: int, target: Target, *, attempt: bool) -> str | None:
    """Return SQL for CAST({0} AS target); None if Spark's own CAST gives the same. `digits` is the number of digits of
    a second in a time. Raises UnsupportedError for values inside an unknown type.
    """
    if source == UNKNOWN and target.parts and target.has_lengths:
        raise UnsupportedError(
            f"a CAST to {shown(target.kind)} with lengths needs a value of a known type", hint="CAST(x AS VARCHAR(3))"
        )
    word = "TRY_CAST" if attempt else "CAST"
    kind, length = target.kind, target.length
    if kind == "string":
        text = as_text("{0}", source, digits) or (f"{word}({{0}} AS STRING)" if length is not None else None)
        if length is None or text is None:
            return text
        return f"RPAD({text}, {length}, ' ')" if target.fixed else f"LEFT({text}, {length})"
    if source.startswith(("array<", "map<", "struct<")):
        return _inside(source, digits, target, attempt=attempt)
    if kind == "binary":
        made = f"{word}({{0}} AS BINARY)"
        if length is None:
            return None
        return f"RPAD({made}, {length}, X'00')" if target.fixed else f"LEFT({made}, {length})"
    if kind in (CLOCK, INSTANT):
        return _time(source, digits, target, word, attempt=attempt)
    if source in (CLOCK, INSTANT) and kind == "date":
        return f"CAST({wall_clock('{0}')} AS DATE)" if source == INSTANT else date_of("{0}")
    if source == "string":
        return _read(kind, word)
    if kind in INTEGERS and is_number(source):
        # Flink does not turn values that do not fit into NULL
        return f"CAST({{0}} AS {kind.upper()})" if attempt else None
    if is_decimal(kind) and is_number(source):
        return f"TRY_CAST({{0}} AS {kind.upper()})"  # NULL if the value does not fit
    return None


def _inside(source: SqlType, digits: int, target: Target, *, attempt: bool) -> str | None:
    """CAST of an array, map or row to another: each value inside is cast. If TRY_CAST cannot read one, all is NULL."""
    olds = parts_of(source)
    if source.partition("<")[0] != target.kind.partition("<")[0]:
        return None
    if len(olds) != len(target.parts):
        raise BindError(f"a ROW of {len(olds)} fields cannot be cast to one of {len(target.parts)}", hint="ROW(a, b)")
    templates = [cast(old, digits, new, attempt=attempt) for old, new in zip(olds, target.parts, strict=True)]
    if not any(templates):
        return None

    def value(at: int, name: str) -> str:
        template = templates[at] or f"{'TRY_CAST' if attempt else 'CAST'}({{0}} AS {ddl(target.parts[at].kind)})"
        return template.replace("{0}", name)

    def unread(*names: str) -> str:
        readers = [at for at, old in enumerate(olds) if attempt and (old == "string" or "<" in old)]
        return " OR ".join(f"({names[at]} IS NOT NULL AND {value(at, names[at])} IS NULL)" for at in readers)

    if source.startswith("array<"):
        made, values, failed = f"TRANSFORM({{0}}, item -> {value(0, 'item')})", "{0}", unread("item")
    elif source.startswith("map<"):
        values, failed = "MAP_ENTRIES({0})", unread("item.key", "item.value")
        pair = f"STRUCT({value(0, 'item.key')}, {value(1, 'item.value')})"
        made = f"MAP_FROM_ENTRIES(TRANSFORM({values}, item -> {pair}))"
    else:
        names = [f"{{0}}.{quoted(name)}" for name in fields(source)]
        parts = (f"{value(at, names[at])} AS {quoted(new)}" for at, new in enumerate(fields(target.kind)))
        nothing = " OR ".join(filter(None, ("{0} IS NULL", unread(*names))))
        return f"IF({nothing}, NULL, STRUCT({', '.join(parts)}))"
    return f"IF(EXISTS({values}, item -> {failed}), NULL, {made})" if failed else made


def _read(kind: SqlType, word: str) -> str | None:
    """Parse a text as a value."""
    if kind in INTEGERS:
        whole = "REGEXP_REPLACE(TRIM({0}), '^([+-]?)\\\\.', '$10.')"
        digits = f"REGEXP_REPLACE({whole}, '^([+-]?[0-9]+)\\\\.[0-9]*$', '$1')"
        return f"{word}({digits} AS {kind.upper()})"
    if kind == "float":  # the digits of a FLOAT; Spark uses those of a DOUBLE
        return f"{word}(IF({{0}} RLIKE '^\\\\s*[+-]?[iI][nN][fF]\\\\s*$', 'inf?', {{0}}) AS FLOAT)"
    if kind == "double":
        return f"{word}(IF({{0}} RLIKE '^\\\\s*[+-]?[iI][nN][fF]\\\\s*$', 'inf?', {{0}}) AS DOUBLE)"
    if kind == "date":
        return read_date(word)
    if is_decimal(kind):
        return _read_decimal(kind, word)
    if kind == "boolean":
        return f"{word}(IF({{0}} RLIKE '^\\\\s|\\\\s$', '?', {{0}}) AS BOOLEAN)"
    return None


def _read_decimal(kind: SqlType, word: str) -> str | None:
    """Parse a text of up to 18 bytes as a DECIMAL of up to 18 digits: digits may be missing, and one other character
    may follow them. It is no number if its last digit has more than 18 places less than the DECIMAL. Longer texts, and
    longer DECIMALs, are parsed as in Spark.
    """
    precision, scale = map(int, kind[8:-1].split(","))
    if precision > 18:
        return None
    blank, fraction = "[ \\\\n\\\\t]", "(\\\\.[0-9]*)?"
    plain = f"([0-9]{{0,{precision - scale}}}){fraction}{OTHER}?"
    with_exponent = f"([0-9]*){fraction}[eE](?![+-]$)([+-])?([0-9]*){OTHER}?"
    pattern = f"'^{blank}*(?!{blank}|$|[+-]$)([+-])?(?:{plain}|{with_exponent}){blank}*$'"
    fraction_of, exponent = (f"REGEXP_EXTRACT({{0}}, {pattern}, {group})" for group in (5, 7))
    places = f"TRY_CAST({exponent} AS BIGINT) + CHAR_LENGTH(TRIM(LEADING '.' FROM {fraction_of}))"
    too_small = f"{{0}} RLIKE '[eE]-' AND {places} > {scale + 18}"
    number = f"{{0}} RLIKE {pattern} AND NOT COALESCE({too_small}, FALSE)"
    digits = f"IF({number}, REGEXP_REPLACE({{0}}, {pattern}, '$10$2$3$4$5E$60$7'), CONCAT('?', {{0}}))"
    return f"{word}(IF(OCTET_LENGTH({{0}}) > 18, {{0}}, {digits}) AS {kind.upper()})"


def _time(source: SqlType, digits: int, target: Target, word: str, *, attempt: bool) -> str | None:
    """CAST to a TIMESTAMP or TIMESTAMP_LTZ, of a time that has so many digits of a second."""
    made, length = "{0}", target.length
    text = source == "string"
    as_clock = "{0}" if source == CLOCK else f"{word}({{0}} AS TIMESTAMP_NTZ)"
    if text and attempt:
        as_clock = read("{0}", millis=False)
    if source == INSTANT and target.kind == CLOCK:
        made = wall_clock("{0}")
    elif target.kind == INSTANT and source != INSTANT:
        made = instant_at(as_clock)
    elif target.kind != source:
        made = as_clock
    if length is not None and length < (6 if text else digits):
        width = "INTERVAL '1' SECOND" if length == 0 else f"INTERVAL '0.{'0' * (length - 1)}1' SECOND"
        cut = f"TIME_BUCKET({width}, {made})"
        if text or target.kind == INSTANT or length >= 3:
            return cut
        towards_1970 = f"TIME_BUCKET({width}, {made} + {width} - INTERVAL '0.000001' SECOND)"
        return f"IF({made} < {EPOCH}, {towards_1970}, {cut})"
    return None if made.startswith(f"{word}(") or made == "{0}" else made
