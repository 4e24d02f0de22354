"""Flink's half, run by the Python of its own virtual environment: statements come as JSON, the last one an endless
INSERT. Says when it has been submitted, and cancels it when stdin ends."""

from __future__ import annotations

import json
import sys

from pyflink.table import EnvironmentSettings, TableEnvironment


def main(job: dict) -> None:
    flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in job["settings"].items():
        flink.get_config().set(key, value)
    *before, insert = job["statements"]
    for statement in before:
        flink.execute_sql(statement)
    client = flink.execute_sql(insert).get_job_client()
    print("started", flush=True)
    sys.stdin.read()
    client.cancel().result()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
