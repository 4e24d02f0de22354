"""JSON as Flink reads and writes it: numbers keep their digits, keys are sorted, and of equal keys the last one
counts."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from decimal import Decimal
from typing import Any

from tvfsql.errors import DataError
from tvfsql.runtime.functions.paths import Json


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant)
# text after the document is ignored, but a number or a word must end before it
END_OF_WORD = re.compile(r"[\s,\]}]|$")


def parsed(text: str) -> Json:
    """The document at the start of a text. Raises ValueError."""
    start = len(text) - len(text.lstrip(" \t\r\n"))
    document, end = DECODER.raw_decode(text, start)
    if text[end - 1] not in '"]}' and not END_OF_WORD.match(text, end):
        raise ValueError("text directly after a number or a word")
    return document


def text_of(value: object) -> str:
    """A value as JSON, without spaces."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            return str(value)
        case float():
            return number(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case bytes():
            return f'"{base64.b64encode(value).decode()}"'
        case datetime():
            return f'"{_iso(value)}"'
        case date() | clock_time():
            return f'"{value.isoformat()}"'
        case Mapping():
            members = sorted(value.items())
            return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{text_of(held)}" for k, held in members) + "}"
        case list() | tuple():
            return "[" + ",".join(map(text_of, value)) + "]"
        case timedelta():
            raise DataError("JSON has no INTERVAL", hint="CAST(x AS STRING)")
    raise TypeError(f"{type(value).__name__} is not JSON")


def number(value: float) -> str:
    """A DOUBLE as Java's BigDecimal prints it: with the digits of Double.toString, so at least one after the point."""
    if value != value or value in (float("inf"), float("-inf")):
        return f'"{"NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, _, exponent = f"{Decimal(repr(value)).normalize():E}".partition("E")
    return str(Decimal(f"{mantissa if '.' in mantissa else mantissa + '.0'}E{exponent}"))


def _iso(time: datetime) -> str:
    """A time in ISO format, without trailing zeros; an instant in UTC."""
    instant = time.tzinfo is not None
    clock = time.astimezone(UTC).replace(tzinfo=None) if instant else time
    text = clock.isoformat()
    return (text.rstrip("0") if "." in text else text) + ("Z" if instant else "")
