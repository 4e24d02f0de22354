"""CAST and TRY_CAST with Flink's results where Spark's differ: text, wall-clock times, lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import made
from tvfsql.bind.flink.time.fields import date_of
from tvfsql.bind.flink.time.formats import read, read_date
from tvfsql.bind.flink.time.wall_clock import CLOCK, EPOCH, INSTANT, instant_at, wall_clock
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.values import types
from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.types import SqlType

OTHER = "[\\\\p{ASCII}&&[^.0-9]]"


def as_text(value: str, kind: SqlType, depth: int = 0) -> str | None:
    """Return SQL for Flink's text of a value; None if Spark's text is the same."""
    inner = f"x{depth}"
    match kind:
        case types.Simple("boolean"):
            return f"UPPER(CAST({value} AS STRING))"
        case types.Timestamp(digits=digits) | types.TimestampLtz(digits=digits):
            shown = f"CAST({wall_clock(value) if kind == INSTANT else value} AS STRING)"  # without trailing zeros
            if digits == 0:
                return f"LEFT({shown}, 19)"
            return f"RPAD(IF(CHAR_LENGTH({shown}) = 19, CONCAT({shown}, '.'), {shown}), {20 + digits}, '0')"
        case types.Interval() if kind == types.INTERVAL_SECONDS:
            sign = f"CASE WHEN {value} < INTERVAL '0' DAY THEN '-' WHEN {value} IS NOT NULL THEN '+' END"
            length = f"ABS({value} + INTERVAL '0 00:00:00' DAY TO SECOND)"
            millis = f"CAST(EXTRACT(SECOND FROM {length}) * 1000 AS INT)"
            parts = [f"EXTRACT({unit} FROM {length})" for unit in ("DAY", "HOUR", "MINUTE")]
            seconds = f"{millis} DIV 1000, {millis} % 1000"
            return f"CONCAT({sign}, FORMAT_STRING('%d %02d:%02d:%02d.%03d', {', '.join(parts)}, {seconds}))"
        case types.Interval():
            sign = f"CASE WHEN {value} < INTERVAL '0' MONTH THEN '-' WHEN {value} IS NOT NULL THEN '+' END"
            length = f"ABS({value} + INTERVAL '0-0' YEAR TO MONTH)"
            months = f"EXTRACT(YEAR FROM {length}), EXTRACT(MONTH FROM {length})"
            return f"CONCAT({sign}, FORMAT_STRING('%d-%02d', {months}))"
        case types.Array(element):
            item = _or_null(inner, element, depth)
            return f"CONCAT('[', ARRAY_JOIN(TRANSFORM({value}, {inner} -> {item}), ', '), ']')"
        case types.Map(key, held):
            key_text, held_text = (
                _or_null(f"{inner}.{part}", of, depth) for part, of in (("key", key), ("value", held))
            )
            pair = f"CONCAT({key_text}, '=', {held_text})"
            return f"CONCAT('{{', ARRAY_JOIN(TRANSFORM(MAP_ENTRIES({value}), {inner} -> {pair}), ', '), '}}')"
        case types.Row(members):
            texts = [_or_null(f"{value}.{quoted(name)}", of, depth) for name, of in members]
            return f"IF({value} IS NULL, NULL, CONCAT('(', CONCAT_WS(', ', {', '.join(texts)}), ')'))"
    return None


def _or_null(value: str, kind: SqlType, depth: int) -> str:
    return f"COALESCE({as_text(value, kind, depth + 1) or f'CAST({value} AS STRING)'}, 'NULL')"


def as_texts(values: Sequence[exp.Expr], type_of: Callable[[exp.Expr], SqlType]) -> None:
    """Replace the parts of a text that are not STRING by what CAST makes of them, where Spark makes another text."""
    for value in values:
        text = as_text("{0}", type_of(value))
        if text is not None:
            value.replace(made(text, [value.copy()], types.STRING))


def cast(source: SqlType, kind: SqlType, *, attempt: bool) -> str | None:
    """Return SQL for CAST({0} AS kind); None if Spark's own CAST gives the same. Raises UnsupportedError for values
    inside an unknown type.
    """
    if source == types.UNKNOWN and kind.parts and any(map(_cuts, kind.walk())):
        raise UnsupportedError(
            f"a CAST to {kind.flink} with lengths needs a value of a known type", hint="CAST(x AS VARCHAR(3))"
        )
    word = "TRY_CAST" if attempt else "CAST"
    if isinstance(kind, types.VarChar):
        text = as_text("{0}", source)
        if not types.has_length(kind):
            return text
        text = text or f"{word}({{0}} AS STRING)"
        return f"RPAD({text}, {kind.length}, ' ')" if isinstance(kind, types.Char) else f"LEFT({text}, {kind.length})"
    if source.parts:
        return _inside(source, kind, attempt=attempt)
    if isinstance(kind, types.VarBinary):
        made = f"{word}({{0}} AS BINARY)"
        if not types.has_length(kind):
            return None
        return (
            f"RPAD({made}, {kind.length}, X'00')" if isinstance(kind, types.Binary) else f"LEFT({made}, {kind.length})"
        )
    if types.is_time(kind):
        return _time(source, kind, word, attempt=attempt)
    if source in (CLOCK, INSTANT) and kind == types.DATE:
        return f"CAST({wall_clock('{0}')} AS DATE)" if source == INSTANT else date_of("{0}")
    if source == types.STRING:
        return _read(kind, word)
    if kind in types.INTEGERS and types.is_number(source):
        # Flink does not turn values that do not fit into NULL
        return f"CAST({{0}} AS {kind.ddl})" if attempt else None
    if types.is_decimal(kind) and types.is_number(source):
        return f"TRY_CAST({{0}} AS {kind.ddl})"  # NULL if the value does not fit
    return None


def _cuts(kind: SqlType) -> bool:
    """Whether a CAST to it may change a value that Spark's does not."""
    return types.has_length(kind) or (types.is_time(kind) and kind.digits < types.MICROS)


def _inside(source: SqlType, target: SqlType, *, attempt: bool) -> str | None:
    """CAST of an array, map or row to another: each value inside is cast. If TRY_CAST cannot read one, all is NULL."""
    olds = source.parts
    if source.root != target.root:
        return None
    if len(olds) != len(target.parts):
        raise BindError(f"a ROW of {len(olds)} fields cannot be cast to one of {len(target.parts)}", hint="ROW(a, b)")
    templates = [cast(old, new, attempt=attempt) for old, new in zip(olds, target.parts, strict=True)]
    if not any(templates):
        return None

    def value(at: int, name: str) -> str:
        template = templates[at] or f"{'TRY_CAST' if attempt else 'CAST'}({{0}} AS {target.parts[at].ddl})"
        return template.replace("{0}", name)

    def unread(*names: str) -> str:
        readers = [at for at, old in enumerate(olds) if attempt and (old == types.STRING or old.parts)]
        return " OR ".join(f"({names[at]} IS NOT NULL AND {value(at, names[at])} IS NULL)" for at in readers)

    if isinstance(source, types.Array):
        made, values, failed = f"TRANSFORM({{0}}, item -> {value(0, 'item')})", "{0}", unread("item")
    elif isinstance(source, types.Map):
        values, failed = "MAP_ENTRIES({0})", unread("item.key", "item.value")
        pair = f"STRUCT({value(0, 'item.key')}, {value(1, 'item.value')})"
        made = f"MAP_FROM_ENTRIES(TRANSFORM({values}, item -> {pair}))"
    else:
        names = [f"{{0}}.{quoted(name)}" for name in types.fields(source)]
        parts = (f"{value(at, names[at])} AS {quoted(new)}" for at, new in enumerate(types.fields(target)))
        nothing = " OR ".join(filter(None, ("{0} IS NULL", unread(*names))))
        return f"IF({nothing}, NULL, STRUCT({', '.join(parts)}))"
    return f"IF(EXISTS({values}, item -> {failed}), NULL, {made})" if failed else made


def _read(kind: SqlType, word: str) -> str | None:
    """Parse a text as a value."""
    if kind in types.INTEGERS:
        whole = "REGEXP_REPLACE(TRIM({0}), '^([+-]?)\\\\.', '$10.')"
        digits = f"REGEXP_REPLACE({whole}, '^([+-]?[0-9]+)\\\\.[0-9]*$', '$1')"
        return f"{word}({digits} AS {kind.ddl})"
    if kind == types.FLOAT:  # the digits of a FLOAT; Spark uses those of a DOUBLE
        return f"{word}(IF({{0}} RLIKE '^\\\\s*[+-]?[iI][nN][fF]\\\\s*$', 'inf?', {{0}}) AS FLOAT)"
    if kind == types.DOUBLE:
        return f"{word}(IF({{0}} RLIKE '^\\\\s*[+-]?[iI][nN][fF]\\\\s*$', 'inf?', {{0}}) AS DOUBLE)"
    if kind == types.DATE:
        return read_date(word)
    if types.is_decimal(kind):
        return _read_decimal(kind, word)
    if kind == types.BOOLEAN:
        return f"{word}(IF({{0}} RLIKE '^\\\\s|\\\\s$', '?', {{0}}) AS BOOLEAN)"
    return None


def _read_decimal(kind: types.Decimal, word: str) -> str | None:
    """Parse a string of up to 18 bytes as a DECIMAL of up to 18 digits: digits may be missing, and one other character
    may follow them. It is not a number if its last digit has more than 18 places less than the DECIMAL. Longer strings,
    and longer DECIMALs, are parsed as in Spark.
    """
    precision, scale = kind.precision, kind.scale
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
    return f"{word}(IF(OCTET_LENGTH({{0}}) > 18, {{0}}, {digits}) AS {kind.ddl})"


def _time(source: SqlType, target: types.Timestamp | types.TimestampLtz, word: str, *, attempt: bool) -> str | None:
    """CAST to a TIMESTAMP or TIMESTAMP_LTZ."""
    made, length = "{0}", target.digits
    text = source == types.STRING
    as_clock = "{0}" if source == CLOCK else f"{word}({{0}} AS TIMESTAMP_NTZ)"
    if text and attempt:
        as_clock = read("{0}", millis=False)
    if source == INSTANT and target == CLOCK:
        made = wall_clock("{0}")
    elif target == INSTANT and source != INSTANT:
        made = instant_at(as_clock)
    elif target != source:
        made = as_clock
    if length < min(types.MICROS, source.digits if types.is_time(source) else types.MICROS if text else types.MILLIS):
        width = "INTERVAL '1' SECOND" if length == 0 else f"INTERVAL '0.{'0' * (length - 1)}1' SECOND"
        cut = f"TIME_BUCKET({width}, {made})"
        if text or target == INSTANT or length >= 3:
            return cut
        towards_1970 = f"TIME_BUCKET({width}, {made} + {width} - INTERVAL '0.000001' SECOND)"
        return f"IF({made} < {EPOCH}, {towards_1970}, {cut})"
    return None if made.startswith(f"{word}(") or made == "{0}" else made
