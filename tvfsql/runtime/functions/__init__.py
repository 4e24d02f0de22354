"""Flink's functions that Spark lacks. Spark calls them with Arrow arrays. Names are loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULE_OF = {
    **dict.fromkeys(("inet_aton", "inet_ntoa"), "texts"),
    **dict.fromkeys(
        (
            "is_json",
            "json_array",
            "json_array_of",
            "json_object",
            "json_object_of",
            "json_quote",
            "json_raw",
            "json_string",
            "json_unquote",
        ),
        "json_texts",
    ),
    "lenient_time": "times",
    **dict.fromkeys(("rounded", "truncated"), "roundings"),
    "java_zone": "times",
    **dict.fromkeys(("spread_of_sums", "spread_of_values"), "spreads"),
    "text_hash_code": "texts",
    **dict.fromkeys(("json_exists", "json_query", "json_query_array"), "json_paths"),
    **dict.fromkeys(("json_value", "json_value_boolean", "json_value_double", "json_value_int"), "json_paths"),
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
