"""Asks Flink for the rows of streams over one table that has ended and one without end, and writes them into
tests/data/flink_finished_tables.json.

It runs in the Python of Flink's own virtual environment: .venv-flink/bin/python -m tests.support.flink_finished_tables
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen
from zipfile import ZipFile

import pyflink
from pyflink.table import EnvironmentSettings, TableEnvironment

from tests.support.finished_tables import ANSWERS, create, told

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
    asked = told()
    with TemporaryDirectory() as folder:
        flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in {**SETTINGS, "pipeline.jars": f"file://{lookup_jar(Path(folder))}"}.items():
            flink.get_config().set(key, value)
        create(asked, Path(folder), "'connector' = 'texts', 'rows' = '{rows}'", flink.execute_sql)
        for query in asked["asked"]:
            query["rows"] = sorted(emitted(flink, query["sql"]), key=str)
            print(query["name"], len(query["rows"]), flush=True)
            write(asked)


def lookup_jar(folder: Path) -> Path:
    """FlinkLookup.java as a jar, by the compiler of the Java that Flink runs on."""
    libraries = ":".join(map(str, Path(pyflink.__file__).with_name("lib").glob("*.jar")))
    source = Path(__file__).with_name("FlinkLookup.java")
    compiler = ["java", "-m", "jdk.compiler/com.sun.tools.javac.Main"]
    subprocess.run([*compiler, "-cp", libraries, "-d", folder / "classes", source], check=True)
    with ZipFile(folder / "lookup.jar", "w") as jar:
        for made in (folder / "classes").iterdir():
            jar.write(made, made.name)
        jar.writestr("META-INF/services/org.apache.flink.table.factories.Factory", "FlinkLookup\n")
    return folder / "lookup.jar"


def write(asked: dict[str, Any]) -> None:
    head = json.dumps({key: asked[key] for key in ("columns", "tables", "names", "views")}, ensure_ascii=False)[:-1]
    lines = [json.dumps(part, ensure_ascii=False) for part in asked["asked"]]
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
