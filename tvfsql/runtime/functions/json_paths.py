"""JSON_VALUE, JSON_QUERY and JSON_EXISTS."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark.sql.types import ArrayType, BooleanType, DoubleType, IntegerType, StringType

from tvfsql.errors import DataError
from tvfsql.runtime.functions.json_document import parsed, text_of
from tvfsql.runtime.functions.of_rows import over_arrays
from tvfsql.runtime.functions.paths import Json, NotFound, Path, path_of

EMPTY, ERROR = "EMPTY", "ERROR"  # there is no value, or the wrong one


def _found(text: str, path: Path) -> tuple[Json, str | None]:
    """The value at a path, and why it is missing: EMPTY, ERROR, or None if it is present."""
    try:
        value = path.value(parsed(text))
    except (ValueError, RecursionError):
        return None, EMPTY if path.lax else ERROR
    except NotFound:
        if path.lax:
            return ([], None) if path.several else (None, EMPTY)
        return None, ERROR
    return value, EMPTY if value is None else None


def _value(convert: Callable[[Json], object]) -> Callable[..., object]:
    """JSON_VALUE(json, path, on empty, default, on error, default). The two handlings are NULL, ERROR or DEFAULT."""

    def one(
        text: str | None,
        path: str,
        empty: str = "NULL",
        on_empty: object = None,
        error: str = "NULL",
        on_error: object = None,
    ) -> object:
        if text is None:
            return None
        steps = path_of(path)
        value, missing = _found(text, steps)
        if missing is None and isinstance(value, dict | list):
            missing = EMPTY if steps.lax else ERROR
        if missing is None:
            return convert(value)
        how, otherwise = (empty, on_empty) if missing == EMPTY else (error, on_error)
        if how == "ERROR":
            raise DataError(f"JSON_VALUE found no single value at {path}")
        return otherwise if how == "DEFAULT" else None

    return one


def _query(text: str | None, path: str, wrapper: str = "NEVER", empty: str = "NULL", error: str = "NULL") -> Json:
    """JSON_QUERY(json, path, wrapper, on empty, on error): the object or array at a path."""
    if text is None:
        return None
    steps = path_of(path)
    value, missing = _found(text, steps)
    if missing is None and (wrapper == "ALWAYS" or (wrapper == "UNLESS ARRAY" and not isinstance(value, list))):
        value = [value]
    if missing is None and not isinstance(value, dict | list):
        missing = EMPTY if steps.lax else ERROR
    if missing is None:
        return value
    how = empty if missing == EMPTY else error
    if how == "ERROR":
        raise DataError(f"JSON_QUERY found no object or array at {path}")
    return {"EMPTY ARRAY": [], "EMPTY OBJECT": {}}.get(how)


def _exists(text: str | None, path: str, error: str = "FALSE") -> bool | None:
    """JSON_EXISTS(json, path, on error)."""
    if text is None:
        return None
    value, missing = _found(text, path_of(path))
    if missing == ERROR:
        if error == "ERROR":
            raise DataError(f"JSON_EXISTS found nothing at {path}")
        return {"TRUE": True, "FALSE": False}.get(error)
    return missing is None and value is not None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else text_of(value)


def _double(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise DataError("JSON_VALUE ... RETURNING DOUBLE found a value that is not a number")
    return float(value)


def _int(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise DataError("JSON_VALUE ... RETURNING INTEGER found a value that is not an INTEGER")
    return value


def _boolean(value: Json) -> bool:
    if not isinstance(value, bool):
        raise DataError("JSON_VALUE ... RETURNING BOOLEAN found a value that is not a BOOLEAN")
    return value


def _texts(value: Json) -> list[str | None] | None:
    """The elements of an array as texts."""
    if not isinstance(value, list):
        return None
    return [None if each is None else _text(each) for each in value]


def _query_text(*arguments: Any) -> str | None:
    found = _query(*arguments)
    return None if found is None else text_of(found)


def _query_texts(*arguments: Any) -> list[str | None] | None:
    return _texts(_query(*arguments))


json_value = over_arrays(_value(_text), pa.string(), StringType())
json_value_double = over_arrays(_value(_double), pa.float64(), DoubleType())
json_value_int = over_arrays(_value(_int), pa.int32(), IntegerType())
json_value_boolean = over_arrays(_value(_boolean), pa.bool_(), BooleanType())
json_query = over_arrays(_query_text, pa.string(), StringType())
json_query_array = over_arrays(_query_texts, pa.list_(pa.string()), ArrayType(StringType()))
json_exists = over_arrays(_exists, pa.bool_(), BooleanType())
