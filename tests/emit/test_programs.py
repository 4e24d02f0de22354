"""Emitted programs of streams, run by themselves: they do what `tvfsql run` does, and that is what batch does."""

from __future__ import annotations

import random
import re
import runpy
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from golden import PRELUDE, Case, cases
from throwing import SAYS, throw_once

from examples import SOAK
from tvfsql import Session, TvfSqlError
from tvfsql.api import Compiled
from tvfsql.api.program import code_of
from tvfsql.api.script import Script, queries_of
from tvfsql.catalog import Table
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.sharing import shared_by
from tvfsql.runtime.frames.print_table import OP
from tvfsql.runtime.local_spark.start import STATE_STORE

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

ROWS = 60
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
# what comes out early or again, by the clock or by micro-batch, and what a stream alone can do
STREAMS_ALONE = re.compile(r"table\.exec\.emit|late-output|changelog\.op")


# in `make test`; `make soak` has all
THROWN = ("insert",)
SOME = ("insert", "late_output", "top_n")


def streams() -> list[Case]:
    found = [case for case in cases("streaming") if SOAK or case.name.removeprefix("streaming/") in SOME]
    assert len(found) >= len(SOME)
    return found


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("case", streams(), ids=str)
def test_a_program_gives_the_rows_of_tvfsql_run_and_these_are_those_of_batch(
    case: Case,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where the session has Spark's other state store, which it keeps."""
    before = spark.conf.get(STATE_STORE)
    assert before is not None
    spark.conf.set(STATE_STORE, HDFS)
    try:
        found = {
            way: [rows_of(way, queries, base, capsys, spark) for queries in statements(case, base, spark, way)]
            for way in ways(case)
            if (base := tmp_path / way) and not monkeypatch.chdir(make(base))
        }
        assert spark.conf.get(STATE_STORE) == HDFS
    finally:
        spark.conf.set(STATE_STORE, before)
    first, *others = found.values()
    for other in others:
        assert other == first
    assert not first or any(first)


def ways(case: Case) -> list[str]:
    """Run, as a program, run with a source that throws once, in batch."""
    thrown = SOAK or case.name.removeprefix("streaming/") in THROWN
    return [
        "run",
        "program",
        *(["thrown"] if thrown else []),
        *(["batch"] if not STREAMS_ALONE.search(case.sql) else []),
    ]


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def statements(case: Case, base: Path, spark: SparkSession, way: str) -> Iterator[tuple[Compiled, ...]]:
    """The queries of each statement of a case that come to an end, once the tables that they read have rows."""
    script = Script(folder=str(base))
    list(script.outcomes(PRELUDE.read_text(encoding="utf-8")))
    text = re.sub(r"EXPLAIN \w+ (?=STATEMENT)", "EXECUTE ", case.sql)
    text = text.replace("'streaming'", "'batch'") if way == "batch" else text
    for outcome in script.outcomes(text):
        queries = queries_of(outcome)
        if queries and not any(query.unbounded for query in queries):
            plans = [query.physical for query in queries]
            for node in (node for plan in (*plans, *shared_by(plans)) for node in plan.walk()):
                if isinstance(node, TableSourceScan):
                    fill(node.source, spark)
            yield queries


def fill(table: Table, spark: SparkSession) -> None:
    """Rows in the order of their times, half a minute apart; none if it has some."""
    assert table.connector is not None and table.connector.path is not None
    if Path(table.connector.path).exists():
        return
    values: dict[str, Any] = {
        "timestamp_ntz": lambda i: datetime(2020, 4, 15, 8) + timedelta(seconds=30 * i),
        "timestamp": lambda i: datetime(2020, 4, 15, 8, tzinfo=UTC) + timedelta(seconds=30 * i),
        "string": lambda i: "abc"[i * i % 3],
        "double": lambda i: i / 4,
    }
    columns = [(part.name, part.type) for part in table.physical]
    rows = [
        tuple("+I" if name == "op" else values.get(kind, lambda i: i % 7)(i) for name, kind in columns)
        for i in range(ROWS)
    ]
    schema = ", ".join(f"`{name}` {'int' if kind.startswith('decimal') else kind}" for name, kind in columns)
    frame = spark.createDataFrame(rows, schema).selectExpr(
        *(f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in columns)
    )
    options = {key: value for key, value in table.connector.options if key != "mode"}
    frame.coalesce(1).write.format(table.connector.format).options(**options).save(table.connector.path)


def rows_of(
    way: str, queries: tuple[Compiled, ...], base: Path, capsys: pytest.CaptureFixture[str], spark: SparkSession
) -> Counter[str]:
    """What a statement prints and what it writes."""
    capsys.readouterr()
    if way == "thrown":
        run_twice(queries, base, spark)
    elif way == "program":
        (base / "program.py").write_text(code_of([queries]), encoding="utf-8")
        runpy.run_path(str(base / "program.py"), run_name="__main__")
    elif queries[0].sink is not None:
        Session(spark).insert(*queries)
    else:
        show(Session(spark).stream(queries[0]) if way == "run" else queries[0].dataframe(spark).collect())
    found = Counter(capsys.readouterr().out.splitlines())
    for sink in {query.sink.connector for query in queries if query.sink and query.sink.connector}:
        if sink.path is not None:
            reader = spark.read.format(sink.format).options(**dict(sink.options))
            found.update(map(repr, reader.load(sink.path).collect()) if Path(sink.path).exists() else ())
            shutil.rmtree(sink.path, ignore_errors=True)
    shutil.rmtree(base / "checkpoint", ignore_errors=True)
    return net(found)


def run_twice(queries: tuple[Compiled, ...], base: Path, spark: SparkSession) -> None:
    """Run a statement whose source throws once, at a row, and once more over the same checkpoint."""
    marker = base / "thrown"
    with pytest.MonkeyPatch.context() as patch:
        throw_once(patch, random.Random(str(base)).randrange(ROWS), marker)
        for time in range(2):
            session = Session(spark, checkpoint=base / "checkpoint")
            try:
                if queries[0].sink is not None:
                    session.insert(*queries)
                else:
                    session.each_batch(queries[0], lambda batch: show(batch.collect()))
            except TvfSqlError as error:
                assert time == 0 and SAYS in error.message
            else:
                assert time == 1 and marker.exists(), "nothing was thrown"
    marker.unlink()


def show(rows: list[Row]) -> None:
    for row in rows:
        shown = ("null" if v is None else str(v) for v, name in zip(row, row.__fields__, strict=True) if name != OP)
        print(f"{row[OP] if OP in row.__fields__ else '+I'}[{', '.join(shown)}]")


def net(found: Counter[str]) -> Counter[str]:
    """What is left when all changes that are printed are made: those that come early depend on the clock."""
    left: Counter[str] = Counter()
    for row, count in found.items():
        taken = row.startswith(("-U[", "-D["))
        left[row[2:] if row[:3] in ("+I[", "+U[", "-U[", "-D[") else row] += -count if taken else count
    return +left
