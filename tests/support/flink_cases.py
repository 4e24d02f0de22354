"""The cases of window_tvf.json: their inputs, and rows in the form in which the file has them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
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
    of_one = {key: case[key] for key in ("columns", "computed_columns", "watermark", "rows") if key in case}
    found: list[dict[str, Any]] = case.get("inputs") or [{"name": case["input_table"], **of_one}]
    return found


def micro_batches(tables: Sequence[dict[str, Any]]) -> list[list[list[list[Any]]]]:
    """The rows of each table in parts. In all tables a part begins at each row that comes after a later one, so the
    same rows are late as if each row were a micro-batch. There are at least two parts, so that state is read back.
    """
    most = max(len(table["rows"]) for table in tables)
    cuts = {most // 2} | {at for table in tables for at in _steps_back(table)}
    ends = [0, *sorted(cuts), most]
    return [[table["rows"][start:stop] for start, stop in pairwise(ends)] for table in tables]


def _steps_back(table: dict[str, Any]) -> list[int]:
    """The positions at which a time is before an earlier one. Times are texts that sort like times, or numbers."""
    name = table["watermark"].split()[0]
    source = dict(table.get("computed_columns") or ()).get(name, name)
    (column,) = (i for i, (each, _) in enumerate(table["columns"]) if re.search(rf"\b{each}\b", source))
    times = [row[column] for row in table["rows"]]
    return [at for at in range(1, len(times)) if times[at] < max(times[:at])]


def plain(value: Any, kind: str) -> Any:
    """A value in the form of the cases; an instant arrives in the wall-clock time of this process."""
    if kind == "timestamp":
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, datetime):
        return value.isoformat(" ", "milliseconds")
    return str(value) if isinstance(value, Decimal) else value


def written(rows: Any) -> Counter[str]:
    """Rows as a bag, in the form of the file."""
    return Counter(json.dumps(row) for row in rows)
