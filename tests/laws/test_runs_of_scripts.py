"""A script in several runs over one checkpoint, with its input cut anywhere, equals one run: of goldens and of random
scripts. Source: docs/streams.md#runs-ends-and-lulls.

Most run without streams of Spark: the programs of `tvfsql test`, whose operators keep their state in memory, read the
rows in micro-batches that are cut at random places of each table, and are compiled anew for each run. A few goldens,
and in `make soak` all, are streams of Spark over files that come from run to run.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.models.random_scripts import random_script
from tests.support.conformance import Table as Made
from tests.support.examples import ONE_IN, SOAK
from tests.support.golden import PRELUDE, Case, cases
from tests.support.golden_streams import Cut, run, statements, written
from tests.support.tvfsql_rows import PLACE, left_of, rows
from tests.support.tvfsql_rows import script as script_text
from tvfsql.api import Compiled
from tvfsql.catalog import Table
from tvfsql.errors import TvfSqlError
from tvfsql.testing.plans import given
from tvfsql.testing.run import run_case
from tvfsql.testing.stream import UnderTest, compiled
from tvfsql.testing.suite import Case as OfSuite
from tvfsql.testing.suite import Step, Suite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START, NOW = datetime(2020, 4, 15, 8), ("2020-04-15 09:00:00", PLACE)
ROWS = 40
GOLDENS = None if SOAK else 40 // ONE_IN  # how many; None: all
SCRIPTS = 150 if SOAK else 24 // ONE_IN
SEED = random.randrange(10**6) if SOAK else 1
STREAMS = None if SOAK else 2
# several of its streams write one table; one writes into PostgreSQL
REWRITTEN = ("streaming/statement_set", "streaming/last_rows_of_a_set")
TODAY = date.today().toordinal()  # so that `make test` has another sample each day
# what is emitted then depends on the micro-batch by definition
BY_MICRO_BATCH = re.compile(r"CURRENT_WATERMARK|'tvfsql.emit.mode' = 'purg|purging|ALTER |CALL ", re.IGNORECASE)
Given = Mapping[str, Sequence[dict[str, Any]]]  # the rows of each table


@dataclass(frozen=True)
class Steps:
    """A random cut of the rows of all tables into runs, each of one or two micro-batches."""

    draw: random.Random
    runs: int

    def of(self, tables: Given, at_once: frozenset[str]) -> Iterator[Step]:
        """`at_once`: tables that are looked up, which have all their rows from the start."""
        batches = [self.draw.randint(1, 2) for _ in range(self.runs)]
        starts = {sum(batches[:run]) for run in range(1, self.runs)}
        ends = {
            name: [0, *sorted(self.draw.randint(0, len(held)) for _ in range(sum(batches) - 1)), len(held)]
            for name, held in tables.items()
        }
        last = sum(batches) - 1
        for number in range(last + 1):
            cut = {
                name: rows(held if name in at_once else held[ends[name][number] : ends[name][number + 1]])
                for name, held in tables.items()
                if name not in at_once or not number
            }
            restart = ("", PLACE) if number in starts else None
            yield Step(PLACE, rows=cut, now=NOW, restart=restart, end=number == last)


@dataclass(frozen=True)
class Law:
    """The law for one script."""

    file: Path
    spark: SparkSession
    options: Mapping[str, str]

    @property
    def script(self) -> UnderTest:
        return compiled(self.file, "streaming", self.options)

    def holds(self, tables: Given, draw: random.Random) -> int:
        """Compare one run with several. Gives how many rows there are. Raises TvfSqlError if both are refused."""
        at_once = self.script.looked_up
        one = Step(PLACE, rows={name: rows(held) for name, held in tables.items()}, now=NOW, end=True)
        expected = self.of([one])
        steps = [*Steps(draw, draw.randint(2, 5)).of(tables, at_once)]
        found = self.of(steps)
        assert found == expected, (
            "\n".join(f"{[*step.rows.items()]}, restart: {bool(step.restart)}" for step in steps),
            {name: (left - expected[name], expected[name] - left) for name, left in found.items()},
        )
        return sum(sum(left.values()) for left in expected.values())

    def of(self, steps: Sequence[Step]) -> dict[str, Counter[str]]:
        """What is left of each output after these steps. No row may be late."""
        sinks = [output.query.sink for output in self.script.outputs if output.query.sink]
        keys = {table.name: table.upserts for table in sinks if table.upserts is not None}
        case = OfSuite("case", self.file, "streaming", self.options, tuple(steps), PLACE)
        result = run_case(Suite(self.file.with_suffix(".tvfsql.yaml"), "-", (case,)), case, self.spark)
        if result.error is not None:
            raise result.error
        assert not any(step.late for step in result.steps), "late rows"
        return left_of(result, keys)


def sample(draw: random.Random) -> list[Case]:
    """Goldens whose queries could be streams, in an order that the seed says: those that are meant to be first."""
    found = [case for case in cases(".") if case.name != "prelude" and not BY_MICRO_BATCH.search(case.sql)]
    draw.shuffle(found)
    return sorted(found, key=lambda case: not case.name.startswith("streaming/"))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.soak
def test_streams_of_spark_in_several_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw, wrong, compared = random.Random(TODAY), list[str](), 0
    for case in sample(draw):
        if compared == STREAMS:
            break
        if not case.name.startswith("streaming/") or case.name in REWRITTEN:
            continue
        cut = Cut(draw, draw.randint(2, 5))
        found = list[Counter[str]]()
        for way in (Cut(draw, 1), cut):
            base = tmp_path / f"{case.name.replace('/', '-')}-{way.runs}"
            base.mkdir()
            monkeypatch.chdir(base)
            capsys.readouterr()
            found.append(all_runs(case, base, way, spark, capsys))
        if not found[0] and not found[1]:
            continue
        compared += 1
        if found[0] != found[1]:
            ends = {Path(path).name: ends for path, ends in cut.ends.items()}
            wrong.append(f"{case}, seed {TODAY}, {ends}\n{found[1] - found[0]}\n{found[0] - found[1]}")
    assert not wrong, "\n\n".join(wrong)
    assert compared >= (STREAMS or 30), compared


def all_runs(case: Case, base: Path, cut: Cut, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> Counter[str]:
    """What the statements of a case print and write in all runs."""
    printed, statement_of = defaultdict[int, str](str), dict[int, tuple[Compiled, ...]]()
    for number_of_run in range(cut.runs):
        cut.run = number_of_run
        for number, queries in enumerate(statements(case, base, spark, cut=cut)):
            if queries[0].mode == "streaming":
                statement_of[number] = queries
                run(queries, spark, base / f"checkpoint{number}")
                printed[number] += capsys.readouterr().out
    found = Counter[str]()
    for number, queries in statement_of.items():
        found += written(queries, base, printed[number], spark)
    return found


@pytest.mark.spark
@pytest.mark.soak
def test_goldens_in_several_runs(spark: SparkSession, tmp_path: Path) -> None:
    compared, wrong = 0, list[str]()
    for case in sample(draw := random.Random(SEED)):
        if compared == GOLDENS:
            break
        file = tmp_path / "script.sql"
        text = re.sub(r"EXPLAIN \w+ (?=STATEMENT)", "EXECUTE ", case.sql).replace("'batch'", "'streaming'")
        file.write_text(f"{PRELUDE.read_text(encoding='utf-8')}\n{text}", encoding="utf-8")
        law = Law(file, spark, {})
        try:
            tables = law.script.tables
        except TvfSqlError:
            continue  # streams refuse it
        if not all(follows_rows(table) for table in tables.values()):
            continue
        given_rows = {name: random_rows(table, at, draw) for at, (name, table) in enumerate(tables.items())}
        try:
            law.holds(given_rows, draw)
        except TvfSqlError as error:
            wrong.append(f"{case}: {error}")
        except AssertionError as error:
            wrong.append(f"{case}, seed {SEED}: {error}")
        compared += 1
    assert not wrong, "\n\n".join(wrong)
    assert compared >= (GOLDENS or 200), compared


@pytest.mark.spark
@pytest.mark.soak
def test_random_scripts_in_several_runs(spark: SparkSession, tmp_path: Path) -> None:
    compared, wrong, seed, file = 0, list[str](), SEED, tmp_path / "script.sql"
    while compared < SCRIPTS:
        seed += 1
        made = random_script(seed, "streaming").script
        file.write_text(script_text(made), encoding="utf-8")
        law = Law(file, spark, {"table.local-time-zone": made.zone})
        try:
            tables = {
                table.name: timed(table, at) for at, table in enumerate(made.tables) if table.name in law.script.tables
            }
            compared += law.holds(tables, random.Random(seed)) > 0
        except TvfSqlError:
            continue
        except AssertionError as error:
            compared += 1
            wrong.append(f"seed {seed}: {made.sql}\n{error}")
    assert not wrong, "\n\n".join(wrong)


def timed(table: Made, at: int) -> list[dict[str, Any]]:
    """The rows of a table, each with a time of its own that is no whole number of seconds from any other: a row at the
    very end of a session is of that session only if it comes before the session closes."""
    made = []
    for number, row in enumerate(table.objects()):
        name = next(iter(row))
        made.append(
            {**row, name: text_of(datetime.fromisoformat(row[name]) + timedelta(milliseconds=100 * at + number))}
        )
    return made


def follows_rows(table: Table) -> bool:
    """Whether the time of a row is a column of it."""
    return table.watermark is None or table.watermark.column in {part.name for part in given(table).physical}


def random_rows(table: Table, at: int, draw: random.Random) -> list[dict[str, Any]]:
    """Rows in the order of their times, no two of which are whole seconds apart. `at`: the number of the table, so that
    this is so between tables as well."""
    from pyspark.sql.types import _parse_datatype_string

    made, time, op = [], START, given(table).op
    kinds = {part.name: _parse_datatype_string(part.type.spark) for part in given(table).physical}
    nullable = {part.name for part in given(table).physical} - {table.watermark.column if table.watermark else ""}
    for number in range(ROWS):
        time += timedelta(seconds=draw.choice((0, 1, 7, 30, 61, 300)))
        when = text_of(time + timedelta(milliseconds=100 * at + number))
        row = {
            name: None if name in nullable and draw.random() < 1 / 9 else random_value(kind, when, draw)
            for name, kind in kinds.items()
        }
        made.append({**row, **({op: "+I"} if op else {})})
    return made


def random_value(kind: Any, when: str, draw: random.Random) -> Any:
    """A value of a type of Spark, in JSON; times are `when`."""
    from pyspark.sql import types as T

    match kind:
        case T.TimestampType() | T.TimestampNTZType():
            return when
        case T.DateType():
            return str(date(2020, 4, draw.randint(1, 28)))
        case T.BooleanType():
            return draw.random() < 0.5
        case T.StringType():
            return draw.choice("abc")
        case T.FractionalType():
            return draw.randrange(20) / 4
        case T.BinaryType():
            return draw.choice(("YQ==", "YWI="))
        case T.ArrayType():
            return [random_value(kind.elementType, when, draw) for _ in range(draw.randrange(4))]
        case T.MapType():
            return {key: random_value(kind.valueType, when, draw) for key in draw.sample("abc", draw.randrange(3))}
        case T.StructType():
            return {field.name: random_value(field.dataType, when, draw) for field in kind.fields}
    return draw.randrange(7)


def text_of(time: datetime) -> str:
    return time.isoformat(" ", "milliseconds")
