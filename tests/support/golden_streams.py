"""The streams of tests/cases/streaming, run over made rows, and what they print and write."""

from __future__ import annotations

import json
import os
import random
import re
import runpy
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.golden import PRELUDE, Case
from tvfsql import Session, TvfSqlError
from tvfsql.api import Compiled
from tvfsql.api.program import code_of
from tvfsql.api.script import Script, queries_of
from tvfsql.catalog import Table
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.analysis.sharing import shared_by
from tvfsql.runtime.frames.shown_rows import print_rows
from tvfsql.testing.plans import by_itself, looked_up_by

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 60
START = datetime(2020, 4, 15, 8)
HISTORY = START - ROWS * timedelta(seconds=30)  # a table's history ends where its live rows begin
# what comes out early or again, by the clock or by micro-batch, and what a stream alone can do
STREAMS_ALONE = re.compile(r"table\.exec\.emit|late-output|changelog\.op|CURRENT_WATERMARK")


def statements(
    case: Case, base: Path, spark: SparkSession, batch: bool = False, cut: Cut | None = None
) -> Iterator[tuple[Compiled, ...]]:
    """The queries of each statement of a case that come to an end, once the tables that they read have rows: all of
    them, or those of a run (`cut`)."""
    script = Script(folder=str(base))
    list(script.outcomes(PRELUDE.read_text(encoding="utf-8")))
    text = re.sub(r"EXPLAIN \w+ (?=STATEMENT)", "EXECUTE ", case.sql)
    final = str(cut is None or cut.is_last).lower()
    text = text.replace("'streaming'", "'batch'") if batch else f"SET 'tvfsql.final' = '{final}'; {text}"
    for outcome in script.outcomes(text):
        queries = queries_of(outcome)
        if queries and not any(query.unbounded for query in queries):
            plans = [query.physical for query in queries]
            nodes = [node for plan in (*plans, *shared_by(plans)) for node in plan.walk()]
            scans = [node for node in nodes if isinstance(node, TableSourceScan)]
            past = {scan.source.history.name for scan in scans if scan.source.history}
            looked_up = {name for plan in plans for name in looked_up_by(by_itself(plan))}
            for table in [scan.source for scan in scans] + [scan.history for scan in scans if scan.history]:
                start = HISTORY if table.name in past else START
                if cut is None or table.name in past | looked_up:
                    fill(table, spark, start)
                else:
                    cut.fill(table, spark, start)
            yield queries


@dataclass
class Cut:
    """The rows of each table, cut into those of several runs. `run` is the number of the current one."""

    draw: random.Random
    runs: int
    run: int = 0
    ends: dict[str, list[int]] = field(default_factory=dict)  # by path: up to where each run reads
    filled: set[tuple[str, int]] = field(default_factory=set)

    @property
    def is_last(self) -> bool:
        return self.run == self.runs - 1

    def fill(self, table: Table, spark: SparkSession, start: datetime) -> None:
        """The rows of the current run, as one more file."""
        assert table.connector is not None and table.connector.path is not None
        path = str(table.connector.path)
        if path not in self.ends and Path(path).exists():
            return  # the table of another statement
        drawn = (self.draw.randint(0, ROWS) for _ in range(self.runs - 1))
        ends = self.ends.setdefault(path, [0, *sorted(drawn), ROWS])
        if (path, self.run) not in self.filled:
            write(table, spark, start, range(ends[self.run], ends[self.run + 1]))
            self.filled.add((path, self.run))


def fill(table: Table, spark: SparkSession, start: datetime) -> None:
    """Rows in the order of their times, half a minute apart from `start` in UTC; none if it has some."""
    assert table.connector is not None and table.connector.path is not None
    if not Path(table.connector.path).exists():
        write(table, spark, start, range(ROWS))


def write(table: Table, spark: SparkSession, start: datetime, numbers: Iterable[int]) -> None:
    """One more file with the rows of these numbers."""
    assert table.connector is not None and table.connector.path is not None
    values: dict[str, Any] = {
        "timestamp_ntz": lambda i: start + timedelta(seconds=30 * i),
        "timestamp": lambda i: start.replace(tzinfo=UTC) + timedelta(seconds=30 * i),
        "string": lambda i: "abc"[i * i % 3],
        "double": lambda i: i / 4,
    }
    columns = [(part.name, part.type.spark) for part in table.physical]
    rows = [
        tuple("+I" if name == "op" else values.get(kind, lambda i: i % 7)(i) for name, kind in columns) for i in numbers
    ]
    schema = ", ".join(f"`{name}` {'int' if kind.startswith('decimal') else kind}" for name, kind in columns)
    frame = spark.createDataFrame(rows, schema).selectExpr(
        *(f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in columns)
    )
    options = {key: value for key, value in table.connector.options if key != "mode"}
    made = frame.coalesce(1).write.mode("append").format(table.connector.format).options(**options)
    made.save(table.connector.path)


def run(queries: tuple[Compiled, ...], spark: SparkSession, checkpoint: Path | None = None) -> None:
    """Run a statement as its mode says; what a SELECT gives is printed."""
    session, zone = Session(spark, checkpoint=checkpoint), queries[0].zone
    if queries[0].sink is not None:
        session.insert(*queries)
    elif queries[0].mode == "batch":
        print_rows(queries[0].dataframe(spark), zone)
    else:
        session.each_batch(queries[0], lambda batch: print_rows(batch, zone))


def run_program(queries: tuple[Compiled, ...], base: Path) -> None:
    (base / "program.py").write_text(code_of([queries]), encoding="utf-8")
    runpy.run_path(str(base / "program.py"), run_name="__main__")


def written(queries: tuple[Compiled, ...], base: Path, printed: str, spark: SparkSession) -> Counter[str]:
    """What a statement has printed and written. Its tables and its checkpoint are deleted."""
    found = Counter(printed.splitlines())
    for sink in {query.sink.connector for query in queries if query.sink and query.sink.connector}:
        if sink.path is not None:
            reader = spark.read.format(sink.format).options(**dict(sink.options))
            found.update(map(repr, reader.load(sink.path).collect()) if Path(sink.path).exists() else ())
            shutil.rmtree(sink.path, ignore_errors=True)
    shutil.rmtree(base / "checkpoint", ignore_errors=True)
    return net(found)


def net(found: Counter[str]) -> Counter[str]:
    """What is left when all changes that are printed are made: those that come early depend on the clock."""
    left: Counter[str] = Counter()
    for row, count in found.items():
        taken = row.startswith(("-U[", "-D["))
        left[row[2:] if row[:3] in ("+I[", "+U[", "-U[", "-D[") else row] += -count if taken else count
    return +left


Told = list[list[list[str | int]] | str]


def told_by(case: Case, base: Path, spark: SparkSession, batch: bool = False) -> Told:
    """For each statement of a case its rows with their counts, or the message that refuses it."""
    told: Told = []
    for queries in statements(case, base, spark, batch):
        printed = StringIO()
        try:
            with redirect_stdout(printed):
                run(queries, spark, base / "checkpoint")
        except TvfSqlError as error:
            told.append(error.message)
            shutil.rmtree(base / "checkpoint", ignore_errors=True)
        else:
            told.append([[row, n] for row, n in sorted(written(queries, base, printed.getvalue(), spark).items())])
    return told


def main() -> int:
    """`golden_streams.py REMOTE FOLDER MODE:CASE...` runs cases on a Spark Connect server, and prints JSON by them.
    MODE is batch or streaming.
    """
    remote, folder, *wanted = sys.argv[1:]
    told = {}
    with Session(remote=remote) as session:
        for run in wanted:
            mode, name = run.split(":")
            base = Path(folder) / run.replace("/", "-").replace(":", "-")
            base.mkdir(parents=True)
            os.chdir(base)
            told[run] = told_by(Case(name), base, session.spark, batch=mode == "batch")
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
