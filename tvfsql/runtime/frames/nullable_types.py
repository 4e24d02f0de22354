"""Types that allow NULL everywhere."""

from __future__ import annotations

from typing import Any


def nullable_type(kind: Any) -> Any:
    """A Spark type, as JSON, that allows NULL everywhere: the counterpart of `in_stable_type` for columns."""
    if isinstance(kind, list):
        return [nullable_type(part) for part in kind]
    if not isinstance(kind, dict):
        return kind
    changed = dict.fromkeys({"nullable", "containsNull"} & kind.keys(), True)
    return {name: part if name == "metadata" else nullable_type(part) for name, part in kind.items()} | changed
