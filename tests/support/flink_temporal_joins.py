"""Asks Flink for the rows of temporal joins, and writes them into tests/data/flink_temporal_joins.json.

It runs in the Python of Flink's own virtual environment: .venv-flink/bin/python -m tests.support.flink_temporal_joins
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment

ANSWERS = Path(__file__).parents[1] / "data" / "flink_temporal_joins.json"


def main() -> None:
    told = json.loads(ANSWERS.read_text(encoding="utf-8"))
    flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {"parallelism.default": "1", "table.local-time-zone": "UTC"}.items():
        flink.get_config().set(key, value)
    with TemporaryDirectory() as folder:
        for name, table in told["tables"].items():
            (Path(folder) / name).mkdir()
            lines = (",".join("" if value is None else str(value) for value in row) + "\n" for row in table["rows"])
            (Path(folder) / name / "1.csv").write_text("".join(lines), encoding="utf-8")
            options = (
                f"'connector' = 'filesystem', 'path' = '{folder}/{name}', 'format' = 'csv', 'csv.null-literal' = ''"
            )
            flink.execute_sql(f"CREATE TABLE {name} ({table['columns']}) WITH ({options})")
        for view in told["views"]:
            flink.execute_sql(view)
        for query in told["asked"]:
            with flink.execute_sql(query["sql"]).collect() as rows:
                query["rows"] = sorted(([text(value) for value in row] for row in rows), key=str)
    lines = [json.dumps(part, ensure_ascii=False) for part in told["asked"]]
    head = json.dumps({"tables": told["tables"], "views": told["views"]}, ensure_ascii=False)[:-1]
    ANSWERS.write_text(f'{head}, "asked": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


def text(value: Any) -> str | None:
    return None if value is None else str(value)


main()
