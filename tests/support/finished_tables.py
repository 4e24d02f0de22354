"""The tables of tests/data/flink_finished_tables.json, in tvfsql and in Flink: one that ends, one without end, and one
that is looked up. Only Python's own modules: Flink has a virtual environment of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parents[1] / "data" / "flink_finished_tables.json"


def told() -> dict[str, Any]:
    """The tables, views, queries and Flink's answers."""
    found: dict[str, Any] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return found


def create(told: dict[str, Any], folder: Path, looked_up: str, execute: Callable[[str], Any]) -> None:
    """Create the tables over files in the folder, and the views. `looked_up`: the options of the table that is looked
    up, where {rows} are its rows as `FlinkLookup` reads them, and {folder} the folder of its file."""
    for name, rows in told["tables"].items():
        (folder / name).mkdir()
        lines = (json.dumps({"k": k, "v": v, "ts": f"2020-01-01 {at}"}) + "\n" for k, v, at in rows)
        (folder / name / "1.json").write_text("".join(lines), encoding="utf-8")
        endless = ", 'source.monitor-interval' = '1 s'" if name == "live" else ""
        execute(
            f"CREATE TABLE {name} ({told['columns']}) WITH ('connector' = 'filesystem', "
            f"'path' = '{folder / name}', 'format' = 'json'{endless})"
        )
    (folder / "names").mkdir()
    lines = [",".join(row) for row in told["names"]]
    (folder / "names" / "1.csv").write_text("\n".join(lines), encoding="utf-8")
    options = looked_up.format(rows=";".join(lines), folder=folder / "names")
    execute(f"CREATE TABLE names (k STRING, name STRING) WITH ({options})")
    for view in told["views"]:
        execute(view)
