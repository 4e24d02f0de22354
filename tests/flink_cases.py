"""The cases of window_tvf.json: their inputs, and rows as the file writes them."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES: dict[str, dict[str, Any]] = {
    case["name"]: case for case in json.loads((HERE / "data" / "window_tvf.json").read_text(encoding="utf-8"))["cases"]
}
NOT_HERE = ("cdc",)  # other kinds of queries
QUERIES = [name for name in CASES if not any(part in name for part in NOT_HERE)]
JOINS = [name for name in QUERIES if name.startswith("join_")]


def options_of(case: dict[str, Any]) -> dict[str, str]:
    zone = {"table.local-time-zone": case["local_time_zone"]} if "local_time_zone" in case else {}
    return {**case.get("config", {}), **zone}


def inputs(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables of a case, each with its `name`."""
    found: list[dict[str, Any]] = case.get("inputs") or [{**case, "name": case["input_table"]}]
    return found


def plain(value: Any, kind: str) -> Any:
    """A value as the cases write it; an instant arrives as a wall clock of this process."""
    if kind == "timestamp":
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, datetime):
        return value.isoformat(" ", "milliseconds")
    return str(value) if isinstance(value, Decimal) else value


def written(rows: Any) -> Counter[str]:
    """Rows as a bag of what the file would say."""
    return Counter(json.dumps(row) for row in rows)
