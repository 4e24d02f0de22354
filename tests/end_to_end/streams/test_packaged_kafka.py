"""What `tvfsql package` writes, run by spark-submit as its README says, against a real Kafka."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from tests.support.server_jars import jars_in
from tvfsql.cli import main
from tvfsql.runtime.local_spark.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]
SCRIPT = """
CREATE TABLE clicks (page STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'packaged', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
  'scan.bounded.mode' = 'latest-offset');
CREATE TABLE counts (window_start TIMESTAMP(3), page STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{folder}/counts', 'format' = 'json');
INSERT INTO counts SELECT window_start, page, COUNT(*)
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, page;
"""


def test_a_package_runs_by_the_line_in_its_readme(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    broker.make_topic(spark, "packaged", partitions=1)
    times = ("08:00:01", "08:00:59", "08:01:00", "08:02:30")
    messages = [(json.dumps({"page": "/", "ts": f"2026-11-27T{at}"}),) for at in times]
    rows = spark.createDataFrame(messages, "value STRING").coalesce(1)
    rows.write.format("kafka").options(**{"kafka.bootstrap.servers": broker.servers, "topic": "packaged"}).save()

    (tmp_path / "clicks.sql").write_text(SCRIPT.format(servers=broker.servers, folder=tmp_path), encoding="utf-8")
    target, kept = tmp_path / "package", str(tmp_path / "checkpoint")
    script = str(tmp_path / "clicks.sql")
    assert main(["package", "--mode", "streaming", "-o", str(target), "--checkpoint", kept, script]) == 0
    readme = (target / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^spark-submit (?:.*\\\n)+.*$", readme, re.MULTILINE)
    assert command is not None
    _, *words = shlex.split(command[0].replace("\\\n", ""))  # as a shell does
    words[words.index("MASTER")] = "local[2]"
    at = words.index("--packages")
    assert words[at + 1].startswith("org.apache.spark:spark-sql-kafka-0-10_2.13:")
    words[at : at + 2] = ["--jars", str(jars_in("kafka", "client"))]  # the same jars, which are here already

    home = Path(pyspark.__file__).parent
    environ = os.environ | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environ = {**environ, "JAVA_HOME": str(find_java().home)}
    for name in ("PYTHONPATH", "PYSPARK_SUBMIT_ARGS"):
        environ.pop(name, None)
    submit = [str(home / "bin" / "spark-submit"), *words]
    done = subprocess.run(submit, cwd=target, env=environ, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = (line for file in (tmp_path / "counts").glob("*.json") for line in file.read_text().splitlines())
    found = sorted((row["window_start"][11:16], row["n"]) for row in map(json.loads, lines))
    # the last window waits for the next run, as the end of a run over a checkpoint is not the end of time
    assert found == [("08:00", 2), ("08:01", 1)]
