"""Asks Flink for the rows of streams over one table that has ended and one without end, and writes them into
tests/data/flink_finished_tables.json.

It runs in the Python of Flink's own virtual environment: .venv-flink/bin/python tests/support/flink_finished_tables.py
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from pyflink.table import EnvironmentSettings, TableEnvironment

ANSWERS = Path(__file__).parents[1] / "data" / "flink_finished_tables.json"
PORT = 18_081
REST = f"http://127.0.0.1:{PORT}"
SETTINGS = {
    "rest.port": str(PORT),
    "parallelism.default": "1",
    "table.local-time-zone": "UTC",
    "pipeline.auto-watermark-interval": "50 ms",
}
FIRST, QUIET = 60.0, 6.0  # seconds: until the first row at most, and without a further one


def main() -> None:
    told = json.loads(ANSWERS.read_text(encoding="utf-8"))
    flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in SETTINGS.items():
        flink.get_config().set(key, value)
    with TemporaryDirectory() as folder:
        for name, rows in told["tables"].items():
            (Path(folder) / name).mkdir()
            lines = (json.dumps({"k": k, "v": v, "ts": f"2020-01-01 {at}"}) + "\n" for k, v, at in rows)
            (Path(folder) / name / "1.json").write_text("".join(lines), encoding="utf-8")
            endless = ", 'source.monitor-interval' = '1 s'" if name == "live" else ""
            flink.execute_sql(
                f"CREATE TABLE {name} ({told['columns']}) WITH ('connector' = 'filesystem', "
                f"'path' = '{folder}/{name}', 'format' = 'json'{endless})"
            )
        for view in told["views"]:
            flink.execute_sql(view)
        for query in told["asked"]:
            query["rows"] = sorted(emitted(flink, query["sql"]), key=str)
            print(query["name"], len(query["rows"]), flush=True)
            write(told)


def write(told: dict[str, Any]) -> None:
    head = json.dumps({key: told[key] for key in ("columns", "tables", "views")}, ensure_ascii=False)[:-1]
    lines = [json.dumps(part, ensure_ascii=False) for part in told["asked"]]
    ANSWERS.write_text(f'{head}, "asked": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


def emitted(flink: TableEnvironment, sql: str) -> list[list[str | None]]:
    """The rows that a query emits until it is quiet. It has no end, so it is cancelled then, by Flink's REST: Flink's
    planner stays with the first connection of Python that has used it."""
    found: list[list[str | None]] = []
    threading.Thread(target=cancel_when_quiet, args=(found,), daemon=True).start()
    try:
        for row in flink.execute_sql(sql).collect():
            assert row.get_row_kind().name == "INSERT", row
            found.append([None if value is None else str(value) for value in row])
    except Exception as error:
        if "CANCELED" not in str(error) and "cancel" not in str(error).lower():
            raise
    return found


def cancel_when_quiet(found: list[list[str | None]]) -> None:
    last, count = time.monotonic(), 0
    while time.monotonic() - last < (QUIET if found else FIRST):
        time.sleep(0.2)
        if len(found) != count:
            count, last = len(found), time.monotonic()
    with urlopen(f"{REST}/jobs") as answer:
        jobs = json.load(answer)["jobs"]
    for job in jobs:
        if job["status"] in ("RUNNING", "CREATED"):
            urlopen(Request(f"{REST}/jobs/{job['id']}?mode=cancel", method="PATCH")).close()


main()
