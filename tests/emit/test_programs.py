"""Emitted programs of streams, run by themselves: they do what `tvfsql run` does, and that is what batch does."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.examples import SOAK
from tests.support.golden import Case, cases
from tests.support.golden_streams import ROWS, STREAMS_ALONE, run, run_program, statements, written
from tests.support.throwing import SAYS, throw_once
from tvfsql import TvfSqlError
from tvfsql.api import Compiled
from tvfsql.runtime.local_spark.start import STATE_STORE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
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
            way: [
                rows_of(way, queries, base, capsys, spark) for queries in statements(case, base, spark, way == "batch")
            ]
            for way in ways(case)
            if (base := tmp_path / way) and not monkeypatch.chdir(make(base))
        }
        assert spark.conf.get(STATE_STORE) == HDFS
    finally:
        spark.conf.set(STATE_STORE, before)
    first = found["run"]
    for way, other in found.items():
        assert other == first, way
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


def rows_of(
    way: str, queries: tuple[Compiled, ...], base: Path, capsys: pytest.CaptureFixture[str], spark: SparkSession
) -> Counter[str]:
    """What a statement prints and what it writes."""
    capsys.readouterr()
    if way == "thrown":
        run_twice(queries, base, spark)
    elif way == "program":
        run_program(queries, base)
    else:
        run(queries, spark)
    return written(queries, base, capsys.readouterr().out, spark)


def run_twice(queries: tuple[Compiled, ...], base: Path, spark: SparkSession) -> None:
    """Run a statement whose source throws once, at a row, and once more over the same checkpoint."""
    marker = base / "thrown"
    with pytest.MonkeyPatch.context() as patch:
        throw_once(patch, random.Random(str(base)).randrange(ROWS), marker)
        for time in range(2):
            try:
                run(queries, spark, base / "checkpoint")
            except TvfSqlError as error:
                assert time == 0 and SAYS in error.message
            else:
                assert time == 1 and marker.exists(), "nothing was thrown"
    marker.unlink()
    marker.with_suffix(".rows").unlink()  # the next statement counts anew
