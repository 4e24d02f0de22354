"""Values as Flink's Row.toString has them."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any


def shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case float():
            return str(value).replace("e+", ".0E")
        case bytes():
            return shown([byte - 256 if byte > 127 else byte for byte in value])
        case dict():
            return f"+I[{', '.join(map(shown, value.values()))}]"
        case [tuple(), *_]:
            return "{" + ", ".join(f"{key}={shown(each)}" for key, each in value) + "}"
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case datetime() | time():
            exact = "milliseconds" if value.microsecond else "seconds" if value.second else "minutes"
            return value.isoformat(timespec=exact).replace("+00:00", "Z")
    return str(value)
