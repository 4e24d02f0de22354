"""A Spark with settings for short queries, requested the way users do it."""

from __future__ import annotations

import os

# a JVM that does not optimize at length
QUICK_JAVA = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'"
# for the session that tests share: one core, and one partition (the fixture `several_partitions` has more)
SMALL = f"--master local[1] --conf spark.sql.shuffle.partitions=1 {QUICK_JAVA}"


def environment() -> dict[str, str]:
    """The environment of a process whose Spark otherwise has tvfsql's own settings."""
    return os.environ | {"PYSPARK_SUBMIT_ARGS": f"{QUICK_JAVA} pyspark-shell"}
