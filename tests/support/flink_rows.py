"""Asks Flink for the rows of queries: they come in as a JSON line each, the answers go out, a line for each.

It runs in the Python of Flink's own virtual environment:
.venv-flink/bin/python -m tests.support.flink_rows < asked.jsonl > answers.jsonl
A query is `{"name", "mode", "zone", "options", "tables", "statements", "sql"}`. A table has a `name`, `columns` (the
text between the parentheses of CREATE TABLE), `rows` (objects, in the order of arrival) and `changes` (whether each
row has a kind, such as -U, under OP). Each row is judged against the watermark of the rows before it. The rows of an
answer are those that are left when all changes are made; with `kinds` it has all changes, each with its kind.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyflink.java_gateway import get_gateway
from pyflink.table import DataTypes, EnvironmentSettings, Table, TableEnvironment, utils
from pyflink.table.expressions import col

from tests.support import flink_answers

OP = "$op"
SETTINGS = {"parallelism.default": "1", "pipeline.auto-watermark-interval": "0 ms"}  # 0 ms: a watermark after each row


@dataclass
class Engine:
    """Flink in one mode, with some options. Tables are made once, in a database for each set of them."""

    mode: str
    options: dict[str, str]
    folder: Path
    databases: dict[str, str] = field(default_factory=dict)
    folders: int = 0  # how many were written to

    def __post_init__(self) -> None:
        batch = self.mode == "batch"
        settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
        self.flink = TableEnvironment.create(settings)
        for key, value in {**SETTINGS, **cluster(), **self.options}.items():
            self.flink.get_config().set(key, value)

    def answer(self, query: dict[str, Any]) -> dict[str, Any]:
        self.flink.get_config().set("table.local-time-zone", query.get("zone", "UTC"))
        try:
            self._use(query["tables"])
            self._execute(query.get("statements", ()))
            table = self.flink.sql_query(query["sql"])
            types = [kind.asSummaryString() for kind in flink_answers.logical_types(table)]
        except Exception as error:
            return {"refused": reason(error)}
        try:
            emitted = [*changes(table, types)]
        except Exception as error:
            return {"failed": reason(error)}
        if query.get("kinds"):
            return {"types": types, "changes": emitted}
        left = Counter[str]()
        for kind, row in emitted:
            left[json.dumps(row)] += 1 if kind.startswith("+") else -1
        return {"types": types, "rows": [json.loads(row) for row in sorted(left.elements())]}

    def _execute(self, statements: list[str]) -> None:
        """The statements, with a folder of their own; those that write are waited for."""
        self.folders += 1
        for statement in statements:
            result = self.flink.execute_sql(statement.replace("{folder}", str(self.folder / f"out{self.folders}")))
            if statement.startswith(("INSERT", "EXECUTE")):
                result.wait()

    def _use(self, tables: list[dict[str, Any]]) -> None:
        key = json.dumps(tables)
        if key in self.databases:
            self.flink.execute_sql(f"USE {self.databases[key]}")
            return
        name = f"d{len(self.databases)}"
        self.flink.execute_sql(f"CREATE DATABASE {name}")
        self.flink.execute_sql(f"USE {name}")
        for table in tables:
            path = self.folder / name / table["name"]
            path.mkdir(parents=True)
            lines = debezium(table["rows"]) if table.get("changes") else table["rows"]
            (path / "1.json").write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
            of = "debezium-json" if table.get("changes") else "json"
            self.flink.execute_sql(
                f"CREATE TABLE `{table['name']}` ({table['columns']}) "
                f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{of}')"
            )
        self.databases[key] = name


@cache
def cluster() -> dict[str, str]:
    """The settings that send jobs to a cluster in this process; without it each query would start one of its own."""
    java = get_gateway().jvm
    settings = java.org.apache.flink.configuration.Configuration()
    settings.setString("rest.port", "0")
    builder = getattr(java.org.apache.flink.runtime.minicluster, "MiniClusterConfiguration$Builder")()
    builder = builder.setConfiguration(settings).setNumTaskManagers(1).setNumSlotsPerTaskManager(4)
    running = java.org.apache.flink.runtime.minicluster.MiniCluster(builder.build())
    running.start()
    address = running.getRestAddress().get()
    return {"execution.target": "remote", "rest.address": address.getHost(), "rest.port": str(address.getPort())}


def debezium(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Messages of Debezium; -U and the +U that follows it are one."""
    before = None
    for each in rows:
        row, kind = {key: value for key, value in each.items() if key != OP}, each[OP]
        if kind == "-U":
            before = row
        elif kind == "-D":
            yield {"before": row, "after": None, "op": "d"}
        else:
            yield {"before": before, "after": row, "op": "c" if before is None else "u"}
            before = None


def changes(table: Table, types: list[str]) -> Iterator[tuple[str, list[Any]]]:
    """The changes that a query emits: their kinds and rows. PyFlink cannot read instants, so Flink prints them, in
    table.local-time-zone.
    """
    if any(kind.startswith("TIMESTAMP_LTZ") for kind in types):
        names = [f"c{i}" for i in range(len(types))]
        table = table.alias(*names).select(
            *(
                col(name).cast(DataTypes.STRING()) if kind.startswith("TIMESTAMP_LTZ") else col(name)
                for name, kind in zip(names, types, strict=True)
            )
        )
    kinds = table.get_schema().get_field_data_types()
    with table.execute().collect() as result:
        while result._j_closeable_iterator.hasNext():
            row = result._j_closeable_iterator.next()
            data = get_gateway().jvm.PythonBridgeUtils.getPickledBytesFromRow(row, result._j_field_data_types)
            values = zip(data[1:], kinds, strict=True)
            yield row.getKind().shortString(), [flink_answers.readable(value, kind) for value, kind in values]


def reason(error: Exception) -> str:
    """The innermost cause of an error, without the machine's paths."""
    causes = [line.strip() for line in str(error).splitlines() if "Exception" in line or "Error" in line]
    words = [line for line in causes if not line.startswith("at ")] or [str(error)]
    return words[-1].removeprefix("Caused by: ")[:200]


def main() -> None:
    utils.pickled_bytes_to_python_converter = flink_answers.null_or_read
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Java prints
    engines: dict[str, Engine] = {}
    with TemporaryDirectory() as folder:
        for line in sys.stdin:
            query = json.loads(line)
            mode, options = query["mode"], query.get("options", {})
            key = f"{mode} {sorted(options.items())}"
            if key not in engines:
                engines[key] = Engine(mode, options, Path(folder) / str(len(engines)))
            answer = {"name": query["name"], "mode": mode} | engines[key].answer(query)
            print(json.dumps(answer, ensure_ascii=False), file=out, flush=True)


if __name__ == "__main__":
    main()
