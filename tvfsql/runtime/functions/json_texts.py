"""JSON_STRING, JSON_OBJECT, JSON_ARRAY, JSON_QUOTE, JSON_UNQUOTE and IS JSON."""

from __future__ import annotations

import json
import re

import pyarrow as pa
from pyspark.sql.types import BooleanType, StringType

from tvfsql.errors import DataError
from tvfsql.runtime.functions.json_document import parsed, text_of
from tvfsql.runtime.functions.of_rows import arrow_function, over_arrays
from tvfsql.runtime.functions.paths import Json

ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _values(array: pa.Array) -> list[Json]:
    """The values as Python objects; maps become dicts."""
    return [_plain(value, array.type) for value in array.to_pylist()]


def _plain(value: Json, kind: pa.DataType) -> Json:
    if value is None:
        return None
    if pa.types.is_map(kind):
        return {str(key): _plain(held, kind.item_type) for key, held in value}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_plain(each, kind.value_type) for each in value]
    if pa.types.is_struct(kind):
        return {field.name: _plain(value[field.name], field.type) for field in kind}
    return value


def _texts(array: pa.Array) -> list[str | None]:
    return [None if value is None else text_of(value) for value in _values(array)]


def _json_string(array: pa.Array) -> pa.Array:
    return pa.array(_texts(array), pa.string())


def _members(nulls: str, arrays: tuple[pa.Array, ...], raw: str) -> list[list[str | None]]:
    """The JSON of each argument. `raw` has a j for those that already are JSON. Unless `nulls` is NULL, NULLs become
    None."""
    otherwise = "null" if nulls == "NULL" else None
    texts = [array.to_pylist() if mark == "j" else _texts(array) for array, mark in zip(arrays, raw, strict=True)]
    return [[otherwise if text is None else text for text in column] for column in texts]


def _json_object(nulls: pa.Array, raw: pa.Array, *pairs: pa.Array) -> pa.Array:
    """An object from alternating keys and values. Of equal keys the last one counts."""
    keys = [_names("JSON_OBJECT", key.to_pylist()) for key in pairs[::2]]
    values = _members(nulls[0].as_py(), pairs[1::2], raw[0].as_py())
    made = []
    for row in range(len(nulls)):
        members = {key[row]: value[row] for key, value in zip(keys, values, strict=True)}
        shown = (f"{text_of(key)}:{value}" for key, value in sorted(members.items()) if value is not None)
        made.append("{" + ",".join(shown) + "}")
    return pa.array(made, pa.string())


def _raw(text: str | None) -> str | None:
    """JSON(text): the text without spaces. Raises DataError if it is not JSON."""
    if text is None:
        return None
    try:
        return text_of(parsed(text))
    except (ValueError, RecursionError):
        hint = "JSON_OBJECT(KEY 'a' VALUE x) without JSON()"
        raise DataError(f"JSON() needs JSON, not {text[:60]}", hint=hint) from None


def _names(function: str, keys: list[str | None]) -> list[str]:
    """Raises DataError if one is NULL, which no JSON can name."""
    names = [key for key in keys if key is not None]
    if len(names) < len(keys):
        raise DataError(f"a key of {function} is NULL", hint="KEY COALESCE(k, '')")
    return names


def _json_array(nulls: pa.Array, raw: pa.Array, *items: pa.Array) -> pa.Array:
    values = _members(nulls[0].as_py(), items, raw[0].as_py())
    rows = ([value[row] for value in values if value[row] is not None] for row in range(len(nulls)))
    return pa.array(["[" + ",".join(map(str, row)) + "]" for row in rows], pa.string())


def _of_rows(nulls: pa.Array, raw: pa.Array, rows: pa.Array) -> list[list[dict[str, Json]] | None]:
    """The rows of each array, with their values `x` as JSON and their keys `k`. Unless `nulls` is NULL, rows with a
    NULL are left out."""
    keeps, is_raw = nulls[0].as_py() == "NULL", raw[0].as_py() == "j"
    made: list[list[dict[str, Json]] | None] = []
    for found in _values(rows):
        for row in found or ():
            row["x"] = (_raw(row["x"]) or "null") if is_raw else text_of(row["x"])
        made.append(found if found is None or keeps else [row for row in found if row["x"] != "null"])
    return made


def _json_array_of(nulls: pa.Array, raw: pa.Array, rows: pa.Array) -> pa.Array:
    found = _of_rows(nulls, raw, rows)
    return pa.array(
        [None if row is None else "[" + ",".join(part["x"] for part in row) + "]" for row in found], pa.string()
    )


def _json_object_of(nulls: pa.Array, raw: pa.Array, rows: pa.Array) -> pa.Array:
    made = []
    for found in _of_rows(nulls, raw, rows):
        names = _names("JSON_OBJECTAGG", [row["k"] for row in found or ()])
        members = sorted({name: row["x"] for name, row in zip(names, found or (), strict=True)}.items())
        shown = ",".join(f"{text_of(key)}:{value}" for key, value in members)
        made.append(None if found is None else "{" + shown + "}")
    return pa.array(made, pa.string())


def _is_json(text: str | None, kind: str) -> bool:
    try:
        document = parsed(text or "")
    except (ValueError, RecursionError):
        return False
    of = {"OBJECT": dict, "ARRAY": list}.get(kind)
    return not isinstance(document, dict | list) if kind == "SCALAR" else of is None or isinstance(document, of)


def _quoted(text: str | None) -> str | None:
    """Characters beyond ASCII as \\\\uXXXX; those beyond U+FFFF as in Flink: their number, and half of them again."""
    if text is None:
        return None
    parts = re.split("([\U00010000-\U0010ffff])", text)
    shown = [
        json.dumps(part)[1:-1] if i % 2 == 0 else f"\\u{ord(part):x}{json.dumps(part)[7:-1]}"
        for i, part in enumerate(parts)
    ]
    return '"' + "".join(shown).replace("/", "\\/") + '"'


def _unquoted(text: str | None) -> str | None:
    """The text between the first and the last character, if these are quotation marks and it begins with a JSON string.
    What follows that string need not be JSON. Any other text is returned unchanged."""
    if text is None or len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        parsed(text)
        plain = ESCAPE.sub(_unescaped, text[1:-1])
    except ValueError:
        return text
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # joins surrogates to characters


def _unescaped(escape: re.Match[str]) -> str:
    """Raises ValueError for an escape that JSON does not have; one can follow the string."""
    code = escape[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    if code not in ESCAPED:
        raise ValueError(f"\\{code} is not a JSON escape")
    return ESCAPED[code]


json_string = arrow_function(_json_string, StringType())
json_object = arrow_function(_json_object, StringType())
json_array = arrow_function(_json_array, StringType())
json_object_of = arrow_function(_json_object_of, StringType())
json_array_of = arrow_function(_json_array_of, StringType())
json_raw = over_arrays(_raw, pa.string(), StringType())
is_json = over_arrays(_is_json, pa.bool_(), BooleanType())
json_quote = over_arrays(_quoted, pa.string(), StringType())
json_unquote = over_arrays(_unquoted, pa.string(), StringType())
