"""CAST and TRY_CAST with Flink's results where Spark's differ: text, wall-clock times, lengths."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tvfsql.bind.flink.times import CLOCK, EPOCH, INSTANT, date_of, instant_at, read, wall_clock
from tvfsql.errors import UnsupportedError
from tvfsql.plan.types import INTEGERS, SqlType, fields, is_decimal, is_number, shown, split_kinds


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


@dataclass(frozen=True)
class Target:
    """The target of a CAST: Spark's type, and what Flink's type has in addition."""

    kind: SqlType
    length: int | None = None  # of VARCHAR(n), CHAR(n), BINARY(n), VARBINARY(n); the precision of a TIMESTAMP(n)
    fixed: bool = False  # CHAR and BINARY are padded to their length


def cast(source: SqlType, digits: int, target: Target, *, attempt: bool) -> str | None:
    """Return SQL for CAST({0} AS target); None if Spark's own CAST gives the same. `digits` is the number of digits of
    a second in a time.
    """
    word = "TRY_CAST" if attempt else "CAST"
    kind, length = target.kind, target.length
    if kind == "string":
        text = as_text("{0}", source, digits) or (f"{word}({{0}} AS STRING)" if length is not None else None)
        if length is None or text is None:
            return text
        return f"RPAD({text}, {length}, ' ')" if target.fixed else f"LEFT({text}, {length})"
    if source.startswith(("array<", "map<", "struct<")):
        return _inside(source, digits, kind)
    if kind == "binary":
        made = f"{word}({{0}} AS BINARY)"
        if length is None:
            return None
        return f"RPAD({made}, {length}, X'00')" if target.fixed else f"LEFT({made}, {length})"
    if kind in (CLOCK, INSTANT):
        return _time(source, target, word, attempt=attempt)
    if source in (CLOCK, INSTANT) and kind == "date":
        return f"CAST({wall_clock('{0}')} AS DATE)" if source == INSTANT else date_of("{0}")
    if source == "string":
        return _read(kind, word)
    if source == "float" and kind == "double":
        return "CAST(CAST({0} AS STRING) AS DOUBLE)"  # through the shortest text of the FLOAT
    if kind in INTEGERS and is_number(source):
        # Flink does not turn values that do not fit into NULL
        return f"CAST({{0}} AS {kind.upper()})" if attempt else None
    if is_decimal(kind) and is_number(source):
        return f"TRY_CAST({{0}} AS {kind.upper()})"  # NULL if the value does not fit
    return None


def _inside(source: SqlType, digits: int, kind: SqlType) -> str | None:
    """CAST of an array, map or row. Raises UnsupportedError if values inside would become texts that Spark writes
    differently, except in an array.
    """
    if kind == "array<string>" and source.startswith("array<"):
        text = as_text("item", source[6:-1], digits)
        return None if text is None else f"TRANSFORM({{0}}, item -> {text})"
    if _changes_text(source, kind):
        raise UnsupportedError(
            f"a CAST of {shown(source)} to {shown(kind)} is not supported", hint="CAST each value AS STRING"
        )
    return None


def _changes_text(source: SqlType, kind: SqlType) -> bool:
    """Whether the CAST makes a text that Spark writes differently, at any depth."""
    if kind == "string":
        return as_text("item", source) is not None
    return any(_changes_text(old, new) for old, new in zip(_parts(source), _parts(kind), strict=False))


def _parts(kind: SqlType) -> list[SqlType]:
    """The types inside an array, map or row."""
    if kind.startswith("struct<"):
        return [*fields(kind).values()]
    inside = kind.partition("<")[2].removesuffix(">")
    return split_kinds(inside) if inside else []


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
    if kind == "date":  # the year 12 is '12'
        padded = "CONCAT(REPEAT('0', 5 - INSTR(CONCAT(TRIM({0}), '-'), '-')), TRIM({0}))"
        return f"{word}(IF({{0}} RLIKE '^\\\\s*[0-9]{{1,3}}(-[0-9]{{1,2}}){{0,2}}\\\\s*$', {padded}, {{0}}) AS DATE)"
    if kind == "boolean":
        return f"{word}(IF({{0}} RLIKE '^\\\\s|\\\\s$', '?', {{0}}) AS BOOLEAN)"
    return None


def _time(source: SqlType, target: Target, word: str, *, attempt: bool) -> str | None:
    """CAST to a TIMESTAMP or TIMESTAMP_LTZ."""
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
    # a time in a column has milliseconds already
    if length is not None and length < (6 if text else 3):
        width = "INTERVAL '1' SECOND" if length == 0 else f"INTERVAL '0.{'0' * (length - 1)}1' SECOND"
        cut = f"TIME_BUCKET({width}, {made})"
        if text or target.kind == INSTANT:
            return cut
        towards_1970 = f"TIME_BUCKET({width}, {made} + {width} - INTERVAL '0.000001' SECOND)"
        return f"IF({made} < {EPOCH}, {towards_1970}, {cut})"
    return None if made.startswith(f"{word}(") or made == "{0}" else made


def length_of(parameters: list[str]) -> int | None:
    """The number in CHAR(3); None if there is none."""
    return int(parameters[0]) if parameters and re.fullmatch(r"\d+", parameters[0]) else None
