"""Rows as text: what `tvfsql run --format` prints.

All formats show values alike: timestamps are `yyyy-MM-dd HH:mm:ss.SSS`, not converted to another zone, decimals have no
exponent, binaries are base64, arrays, maps and structs are JSON, booleans are true and false. NULL is null in JSON,
empty in csv and tsv, and NULL in formats for people.
"""

from __future__ import annotations

import base64
import json
import math
import struct
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from functools import partial, singledispatch
from typing import Any, TextIO

from tvfsql.errors import OptionError, did_you_mean
from tvfsql.plan.values import types as sql_types
from tvfsql.plan.values.spark_types import of_spark

Row = Sequence[object]
Repair = Callable[[Any], object]  # restores a value of the column's type
Writer = Callable[[Sequence[str], Sequence[str], Iterable[Row], TextIO], int]

NULL = "NULL"
WIDE = Context(prec=80)  # no DECIMAL is rounded
FORMULAS = tuple("=+-@\t\r\n＝＋－＠")  # the first characters of formulas, or characters that spreadsheets skip
_JOINERS = "\u200c\u200d"  # not printable by themselves, and parts of letters and emoji


def write_rows(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], format: str, out: TextIO) -> int:
    """Write the rows to `out`. Returns their number. `types` are Spark's (`decimal(10,2)`).

    All formats except `table` and `markdown` write each row as it arrives. Raises OptionError for an unknown format.
    """
    writer = FORMATS.get(format)
    if writer is None:
        raise OptionError(f"unknown format {format}", hint=did_you_mean(format, FORMATS))
    exact = {index: fix for index, kind in enumerate(types) if (fix := _repair(kind))}
    return writer(columns, types, _repaired(rows, exact) if exact else rows, out)


# ---------------------------------------------------------------------------------------------- formats


def _table(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    texts = [[visible(_text(value, NULL)) for value in row] for row in rows]
    heads = [visible(name) for name in columns]
    widths = _widths(heads, texts)
    rights = [is_number(kind) for kind in types]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"
    out.write(rule + _bars(heads, widths, rights) + rule)
    out.writelines(_bars(row, widths, rights) for row in texts)
    if texts:
        out.write(rule)
    return len(texts)


def _markdown(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    texts = [[_markdown_cell(_text(value, NULL)) for value in row] for row in rows]
    heads = [_markdown_cell(name) for name in columns]
    widths = [max(width, 4) for width in _widths(heads, texts)]
    rights = [is_number(kind) for kind in types]
    rules = ["-" * (width - right) + ":" * right for width, right in zip(widths, rights, strict=True)]
    out.write(_bars(heads, widths, rights) + _bars(rules, widths, rights))
    out.writelines(_bars(row, widths, rights) for row in texts)
    return len(texts)


def _vertical(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    heads = [visible(name) for name in columns]
    widest = max(map(text_width, heads), default=0)
    labels = [padded(head, widest, right=False) for head in heads]

    def record(number: int, row: Row) -> str:
        title = f"-[ row {number} ]".ljust(widest + 2, "-") + "\n"
        values = (visible(_text(value, NULL)) for value in row)
        return title + "".join(f"{label} | {value}\n" for label, value in zip(labels, values, strict=True))

    return _stream((record(number, row) for number, row in enumerate(rows, 1)), out)


def _csv(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    """Quoted as in RFC 4180, with Unix line ends. An empty text is `""`, to distinguish it from NULL."""
    out.write(",".join(map(_csv_field, columns)) + "\n")
    return _stream((",".join(map(_csv_value, row)) + "\n" for row in rows), out)


def _csv_safe(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    """CSV for spreadsheets: a `'` precedes texts that they would treat as formulas. Numbers stay numbers."""
    safe = ([_no_formula(value) for value in row] for row in rows)
    return _csv([_no_formula(name) for name in columns], types, safe, out)


def _tsv(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    """Tabs, line ends and backslashes in a value become `\\t`, `\\n`, `\\r` and `\\\\`."""
    out.write("\t".join(map(_tsv_field, columns)) + "\n")
    return _stream(("\t".join(_tsv_field(_text(value, "")) for value in row) + "\n" for row in rows), out)


def _ndjson(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    return _stream((each + "\n" for each in _objects(columns, rows)), out)


def _json(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    objects = _objects(columns, rows)
    count = _stream((("[" if not index else ",\n ") + each for index, each in enumerate(objects)), out)
    out.write("]\n" if count else "[]\n")
    return count


FORMATS: dict[str, Writer] = {
    "table": _table,
    "csv": _csv,
    "csv-safe": _csv_safe,
    "tsv": _tsv,
    "json": _json,
    "ndjson": _ndjson,
    "markdown": _markdown,
    "vertical": _vertical,
}


def _stream(texts: Iterable[str], out: TextIO) -> int:
    count = 0
    for text in texts:
        out.write(text)
        count += 1
    return count


def _objects(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Each row as a JSON object. Two columns with the same name become two members."""
    heads = [_dumps(name) + ": " for name in columns]
    for row in rows:
        members = (head + _dumps(_plain(value)) for head, value in zip(heads, row, strict=True))
        yield "{" + ", ".join(members) + "}"


def _csv_value(value: object) -> str:
    return "" if value is None else _csv_field(_text(value, "")) or '""'


def _no_formula(value: Any) -> Any:
    """The value, with a `'` before it if a spreadsheet would treat it as a formula. Infinity and NaN count as texts."""
    if value is None or (isinstance(value, int | float | Decimal) and math.isfinite(value)):
        return value
    text = _text(value, "")
    return "'" + text if text.startswith(FORMULAS) else text


def _csv_field(text: str) -> str:
    # Not the module csv: before Python 3.13 it leaves a lone \r unquoted unless every line ends in one.
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _tsv_field(text: str) -> str:
    return text.translate({ord("\\"): "\\\\", ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r"})


def _markdown_cell(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace("|", "\\|")


# ---------------------------------------------------------------------------------------------- values


def cells(types: Sequence[str], rows: Iterable[Row]) -> Iterator[list[str | None]]:
    """The rows as texts, as in the format `table`; None for NULL."""
    exact = {index: fix for index, kind in enumerate(types) if (fix := _repair(kind))}
    for row in _repaired(rows, exact) if exact else rows:
        yield [None if value is None else _text(value, NULL) for value in row]


def plain_rows(types: Sequence[str], rows: Iterable[Row]) -> Iterator[list[object]]:
    """The rows as JSON represents them: texts, numbers, booleans, None, lists and dicts."""
    exact = {index: fix for index, kind in enumerate(types) if (fix := _repair(kind))}
    for row in _repaired(rows, exact) if exact else rows:
        yield [_plain(value) for value in row]


def _text(value: object, null: str) -> str:
    """A value as the text of a cell: strings as they are, other values as JSON."""
    if value is None:
        return null
    plain = _plain(value)
    return plain if isinstance(plain, str) else _dumps(plain)


def _dumps(plain: object) -> str:
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


@singledispatch
def _plain(value: object) -> object:
    """A value as JSON represents it: text, number, boolean, null, list or dict. Unknown types become their `str`."""
    return str(value)


@_plain.register(str)
@_plain.register(int)
@_plain.register(type(None))
def _same(value: object) -> object:
    return value


@_plain.register
def _(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


@_plain.register
def _(value: Decimal) -> str:
    return format(value, "f")


@_plain.register
def _(value: datetime) -> str:
    return value.replace(tzinfo=None).isoformat(" ", "milliseconds")


@_plain.register(date)
@_plain.register(time)
def _iso(value: date | time) -> str:
    return value.isoformat()


@_plain.register
def _(value: timedelta) -> str:
    """`-1 02:03:04.500`, as in INTERVAL '-1 02:03:04.500' DAY TO SECOND."""
    ms = abs(value) // timedelta(milliseconds=1)
    seconds, ms = divmod(ms, 1000)
    sign = "-" if value < timedelta(0) else ""
    hours, minutes = divmod(seconds // 60, 60)
    return f"{sign}{hours // 24} {hours % 24:02}:{minutes:02}:{seconds % 60:02}.{ms:03}"


@_plain.register(bytes)
@_plain.register(bytearray)
def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


@_plain.register(dict)
def _members(value: dict[object, object]) -> dict[str, object]:
    return {_text(key, "null"): _plain(each) for key, each in value.items()}


@_plain.register(list)
@_plain.register(tuple)
def _several(value: list[object] | tuple[object, ...]) -> object:
    names = getattr(value, "__fields__", None)  # a struct is a pyspark Row: a tuple that knows its names
    plain = [_plain(each) for each in value]
    return plain if names is None else dict(zip(names, plain, strict=True))


def _repair(kind: str) -> Repair | None:
    """A function that undoes how values of a type change on their way from the JVM; None if they do not."""
    return _repair_of(of_spark(kind))


def _repair_of(kind: sql_types.SqlType) -> Repair | None:
    match kind:
        case sql_types.FLOAT:
            return _single
        case sql_types.Decimal():
            return partial(_scaled, -kind.scale)
        case sql_types.Array():
            element = _repair_of(kind.element)
            return element and partial(_repaired_array, element)
        case sql_types.Map():
            key, value = _repair_of(kind.key), _repair_of(kind.value)
            return partial(_repaired_map, key or _same, value or _same) if key or value else None
        case sql_types.Row():
            fields = {name: _repair_of(part) or _same for name, part in kind.fields}
            return partial(_repaired_row, fields) if {*fields.values()} != {_same} else None
    return None


def _repaired_array(element: Repair, values: list[object] | None) -> list[object] | None:
    return None if values is None else [element(each) for each in values]


def _repaired_map(key: Repair, value: Repair, pairs: dict[object, object] | None) -> dict[object, object] | None:
    return None if pairs is None else {key(name): value(each) for name, each in pairs.items()}


def _repaired_row(fields: Mapping[str, Repair], row: Row | None) -> dict[str, object] | None:
    return None if row is None else {name: fix(each) for (name, fix), each in zip(fields.items(), row, strict=True)}


def _repaired(rows: Iterable[Row], repairs: Mapping[int, Repair]) -> Iterator[list[object]]:
    for row in rows:
        cells = list(row)
        for index, repair in repairs.items():
            cells[index] = repair(cells[index])
        yield cells


def _scaled(exponent: int, value: Decimal | None) -> Decimal | None:
    """Restore the scale of a DECIMAL. Spark sends small ones in engineering notation: 0E-10 arrives as 0.00E-9."""
    if value is None or value.as_tuple().exponent == exponent:
        return value
    return value.quantize(Decimal((0, (1,), exponent)), context=WIDE)


def _single(value: float | None) -> float | None:
    """Restore a FLOAT, which arrives as a double (0.1 as 0.10000000149011612): the shortest number with the same
    FLOAT."""
    if value is None or not math.isfinite(value):
        return value
    packed = struct.pack("f", value)
    shorter = (float(f"{value:.{digits}g}") for digits in range(6, 9))
    # 3.4028235e38 rounded up exceeds FLOAT, and pack raises
    return next((each for each in shorter if abs(each) < 3.4028235e38 and struct.pack("f", each) == packed), value)


# ---------------------------------------------------------------------------------------------- cells


def visible(text: str) -> str:
    """The text on one line, without control of the terminal: characters that cannot be printed are escaped."""
    if text.isprintable():
        return text
    return "".join(each if _shows(each) else each.encode("unicode_escape").decode() for each in text)


def _shows(each: str) -> bool:
    return each.isprintable() or each in _JOINERS or unicodedata.category(each) == "Zs"


def text_width(text: str) -> int:
    """The width of a text in a terminal: two columns for wide East Asian characters and emoji, none for combining
    marks."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(each: str) -> int:
    if unicodedata.category(each) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(each) in "WF" else 1


def _widths(heads: Sequence[str], texts: Sequence[Sequence[str]]) -> list[int]:
    widths = [text_width(head) for head in heads]
    for row in texts:
        widths = [max(width, text_width(text)) for width, text in zip(widths, row, strict=True)]
    return widths


def _bars(cells: Sequence[str], widths: Sequence[int], rights: Sequence[bool]) -> str:
    texts = (padded(cell, width, right) for cell, width, right in zip(cells, widths, rights, strict=True))
    return "| " + " | ".join(texts) + " |\n"


def padded(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - text_width(text))
    return blanks + text if right else text + blanks


def is_number(kind: str) -> bool:
    return sql_types.is_number(of_spark(kind))


def is_integer(kind: str) -> bool:
    return sql_types.is_integer(of_spark(kind))
