"""A Spark with settings for short queries, requested the way users do it."""

from __future__ import annotations

import os

# Queries over a few rows: to interpret expressions is faster than to compile them, and a plan needs no adapting. The
# fixture `generated_code` has both as users have them.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
# a JVM that does not optimize at length, and keeps what it has compiled (its own room for that is too small for Spark)
QUICK = (
    "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:ReservedCodeCacheSize=256m -XX:-UseCodeCacheFlushing' "
) + " ".join(f"--conf {key}={value}" for key, value in INTERPRETED.items())
# for the session that tests share: one core, and one partition (the fixture `several_partitions` has more)
SMALL = f"--master local[1] --conf spark.sql.shuffle.partitions=1 {QUICK}"


def environment(submit: str = "") -> dict[str, str]:
    """The environment of a process whose Spark otherwise has tvfsql's own settings, and the arguments `submit`."""
    return os.environ | {"PYSPARK_SUBMIT_ARGS": f"{QUICK} {submit} pyspark-shell"}
