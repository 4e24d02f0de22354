"""How long the first row takes: `tvfsql run` in a new process, beside a bare PySpark script with the same query."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench import report
from tvfsql.runtime.local_spark.java import find_java

ROWS = "\n".join(f"2020-04-15 08:{minute:02d}:00,{'ab'[minute % 2]},{minute}" for minute in range(60))
SCRIPT = """
CREATE TABLE bid (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv');
SELECT window_start, k, SUM(v) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, k;
"""
BARE = """
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.master("local[*]").getOrCreate()
bid = spark.read.schema("ts TIMESTAMP_NTZ, k STRING, v INT").csv("{path}")
windows = bid.groupBy(F.window("ts", "10 minutes"), "k").agg(F.sum("v").alias("total"))
windows.select("window.start", "k", "total").show(100, truncate=False)
"""


@dataclass(frozen=True)
class Start:
    """A command, and what must be in its first row; "": any line will do."""

    command: tuple[str, ...]
    first: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    empty_cache: bool = False


def run(repeats: int) -> None:
    """Print the median time to the first row, and to the end, of each command."""
    with TemporaryDirectory(prefix="tvfsql-bench-") as folder:
        starts = dict(_starts(Path(folder)))
        report.say(f"\nFrom the start of the process: s, medians of {repeats} after a warm-up, by turns")
        report.say("  " + " " * 38 + "first row".rjust(12) + "end".rjust(12))
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in starts}
        for turn in range(repeats + 1):
            for name, start in starts.items():
                times = _timed(start)
                if turn:
                    found[name].append(times)
    medians = {name: [median(each) for each in zip(*times, strict=True)] for name, times in found.items()}
    for name, times in medians.items():
        report.say("  " + name.ljust(38) + "".join(f"{each:.2f}".rjust(12) for each in times))
    share = medians["tvfsql run"][0] / medians["PySpark"][0]
    explain, usage = medians["tvfsql explain"][1], medians["tvfsql --help"][1]
    targets = {
        f"the first row in 0.6 of PySpark's time: {share:.2f}": share <= 0.6,
        f"tvfsql explain under 0.5 s: {explain:.2f}": explain < 0.5,
        f"tvfsql --help under 0.1 s: {usage:.2f}": usage < 0.1,
    }
    report.say(*(report.target(words, reached) for words, reached in targets.items()))


def _starts(folder: Path) -> Iterator[tuple[str, Start]]:
    (folder / "bid.csv").write_text(ROWS + "\n")
    script, bare = folder / "query.sql", folder / "bare.py"
    script.write_text(SCRIPT.format(path=folder / "bid.csv"))
    bare.write_text(BARE.format(path=folder / "bid.csv"))
    tvfsql = str(Path(sys.executable).with_name("tvfsql"))
    # PySpark needs a JDK with the vector module: Spark's launcher asks for it
    java = {"JAVA_HOME": str(find_java().home)}
    yield "PySpark", Start((sys.executable, str(bare)), "2020-04-15", java)
    yield "tvfsql run", Start((tvfsql, "run", str(script)), "2020-04-15")
    yield "tvfsql run, first on a machine", Start((tvfsql, "run", str(script)), "2020-04-15", empty_cache=True)
    # the size of a pattern's files is not known before Spark starts, so its Java has both compilers
    pattern, no_archive = folder / "pattern.sql", {"TVFSQL_CLASS_ARCHIVE": "off"}
    pattern.write_text(SCRIPT.format(path=folder / "bi[d].csv"))
    yield "  no archive of classes", Start((tvfsql, "run", str(script)), "2020-04-15", no_archive)
    yield "  both compilers of Java", Start((tvfsql, "run", str(pattern)), "2020-04-15")
    yield "  no archive, both compilers", Start((tvfsql, "run", str(pattern)), "2020-04-15", no_archive)
    yield "tvfsql explain", Start((tvfsql, "explain", str(script)))
    yield "tvfsql --help", Start((tvfsql, "--help"))


def _timed(start: Start) -> tuple[float, float]:
    """Seconds to the first row and to the end."""
    began = time.perf_counter()
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with TemporaryDirectory(prefix="tvfsql-bench-") as cache:
        environment = {**os.environ, **start.environment, **({"XDG_CACHE_HOME": cache} if start.empty_cache else {})}
        with subprocess.Popen(start.command, env=environment, text=True, **pipes) as process:
            assert process.stdout is not None
            first = next(_times_of(process.stdout, start.first, began), 0.0)
            process.stdout.read()
        ended = time.perf_counter() - began
    assert process.returncode == 0 and first, f"{start.command} failed: {process.returncode}"
    return first, ended


def _times_of(lines: Iterable[str], wanted: str, began: float) -> Iterator[float]:
    for line in lines:
        if wanted in line:
            yield time.perf_counter() - began
