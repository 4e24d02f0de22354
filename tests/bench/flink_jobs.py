"""Flink's half, run by the Python of its own virtual environment: a job a line comes in as JSON, and goes out done."""

from __future__ import annotations

import json
import os
import sys
from collections import deque

from pyflink.table import EnvironmentSettings, TableEnvironment

BID = """
    CREATE TEMPORARY TABLE bid (ts TIMESTAMP(3), k INT, v BIGINT, item INT, WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = '{}')
"""
NOTHING = """
    CREATE TEMPORARY TABLE nothing
    (window_start TIMESTAMP(3), window_end TIMESTAMP(3), k INT, total BIGINT, n BIGINT, top BIGINT)
    WITH ('connector' = 'blackhole')
"""
# no WHERE: Flink would push it below the aggregate, and then copies each row into each of its windows
SUMS = ("COUNT(*)", "SUM(total)", "SUM(n)", "SUM(top)")
TOTALS = f"SELECT {', '.join(f'{each} FILTER (WHERE early)' for each in SUMS)} FROM ({{}})"
EARLY = "SELECT window_start < TIMESTAMP '{}' AS early, total, n, top FROM ({})"


def main(parallelism: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print to stdout too
    for line in sys.stdin:
        job = json.loads(line)
        flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        flink.get_config().set("parallelism.default", parallelism)
        for key, value in job["settings"].items():
            flink.get_config().set(key, value)
        if "statements" in job:
            executed(flink, job["statements"])
            found = last_row(flink, job["select"]) if "select" in job else []
            print(json.dumps(found), file=answers, flush=True)
            continue
        if job["jars"]:
            flink.get_config().set("pipeline.jars", ";".join(job["jars"]))
            flink.get_config().set("table.local-time-zone", "UTC")  # in which it reads times without a zone
        flink.execute_sql(BID.format(job["file"], job["format"]))
        flink.execute_sql(NOTHING)
        print(json.dumps(totals(flink, job) if job["totals"] else everything(flink, job)), file=answers, flush=True)


def executed(flink: TableEnvironment, statements: list[str]) -> None:
    for statement in statements:
        flink.execute_sql(statement).wait()


def everything(flink: TableEnvironment, job: dict[str, str]) -> list[int]:
    flink.execute_sql(f"INSERT INTO nothing {job['select']}").wait()
    return []


def totals(flink: TableEnvironment, job: dict[str, str]) -> list[int]:
    """The sums of all windows that start before a time."""
    return last_row(flink, TOTALS.format(EARLY.format(job["before"], job["select"])))


def last_row(flink: TableEnvironment, select: str) -> list[int]:
    """The last row of sums as they grow; in larger steps than a row at a time."""
    for key, value in (("enabled", "true"), ("allow-latency", "2 s"), ("size", "100000")):
        flink.get_config().set(f"table.exec.mini-batch.{key}", value)
    with flink.execute_sql(select).collect() as rows:
        return list(deque(rows, maxlen=1).pop())


if __name__ == "__main__":
    main(sys.argv[1])
