"""The rows of queries in tvfsql, in micro-batches in this process, to compare with the answers of flink_rows.py."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.support.conformance import OP, Situation, Table
from tvfsql import Session
from tvfsql.errors import Span, TvfSqlError
from tvfsql.runtime.host.failures import translated
from tvfsql.runtime.local_spark.start import for_tiny_data
from tvfsql.testing.compare import Given
from tvfsql.testing.run import CaseResult, run_case
from tvfsql.testing.suite import Case, Rows, Step, Suite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACE = Span(0, 1)
CHANGES = "op"  # the column of the kind of a change, in rows that go in and that come out


@dataclass(frozen=True)
class Answer:
    """The rows that are left when all changes are made, or the words with which the query is refused."""

    rows: Counter[str]
    types: tuple[str, ...] = ()
    refused: str | None = None
    late: int = 0


def answer(situation: Situation, mode: str, spark: SparkSession, folder: Path) -> Answer:
    """Run a query as a script. A stream stops and resumes in the middle of its rows."""
    file = folder / "script.sql"
    file.write_text(script(situation), encoding="utf-8")
    sessions = "SESSION" in situation.sql
    streams = mode == "streaming"
    steps = tuple(stream_steps(situation.tables, sessions=sessions)) if streams else (batch_step(situation.tables),)
    if "table.exec.state.ttl" in situation.options:  # state that goes by the clock
        steps = tuple(replace(step, now=("2024-04-01 00:00:00", PLACE)) for step in steps)
    options = {**situation.options, "table.local-time-zone": situation.zone}
    case = Case("case", file, mode, options, steps, PLACE)
    result = run_case(Suite(folder / "case.tvfsql.yaml", "-", (case,)), case, spark)
    if result.error is not None:
        return Answer(Counter(), refused=str(result.error))
    left = left_of(result)
    if situation.inserts:  # as the query reads them: each row with the number of its table
        left = {name: Counter({written([int(name[1:]), *json.loads(row)]): n for row, n in rows.items()})
                for name, rows in left.items()}  # fmt: skip
    types = next((types_of(given) for step in result.steps for given in step.given.values()), ())
    return Answer(sum(left.values(), Counter()), types, late=sum(step.late for step in result.steps))


def left_of(result: CaseResult, keys: Mapping[str, Sequence[str]] | None = None) -> dict[str, Counter[str]]:
    """The rows of each output that are left when all changes are made. `keys`: the columns by which a new row of an
    output replaces an earlier one; (): it keeps no row."""
    left: dict[str, Counter[str]] = defaultdict(Counter)
    for step in result.steps:
        for name, given in step.given.items():
            if name not in (keys or {}):
                for kind, row in changes_of(given):
                    left[name][row] += 1 if kind.startswith("+") else -1
    assert all(count >= 0 for counts in left.values() for count in counts.values()), left
    left |= {name: Counter(replaced(result, name, by).values()) for name, by in (keys or {}).items() if by}
    return {name: +counts for name, counts in left.items()}


def replaced(result: CaseResult, name: str, by: Sequence[str]) -> dict[str, str]:
    """The rows of an output, by key, in which each row replaces the one before it."""
    left: dict[str, str] = {}
    for given in (step.given[name] for step in result.steps if name in step.given):
        key = given.only(by)
        for of_key, (kind, row) in zip(key.rows, changes_of(given), strict=True):
            at = written(texts(of_key, key.types))
            if kind.startswith("+"):
                left[at] = row
            else:
                left.pop(at, None)
    return left


def changes_of(given: Given) -> Iterator[tuple[str, str]]:
    """The kind of each row of an output, and the row."""
    at = place_of_kind(given)
    for row in given.rows:
        values = [*row]
        kind = values.pop(at) if at is not None else "+I"
        yield kind, written(texts(values, types_of(given)))


def types_of(given: Given) -> tuple[str, ...]:
    at = place_of_kind(given)
    return tuple(kind for place, kind in enumerate(given.types) if place != at)


def place_of_kind(given: Given) -> int | None:
    """Which column has the kind of a change; None: all rows are inserts. A query may have a column of that name."""
    named = {name: at for at, name in enumerate(given.columns) if given.types[at] == "string"}
    return next((named[name] for name in (OP, f"{CHANGES}0", CHANGES) if name in named), None)


class Tables:
    """Tables as files, over which many batch queries are asked. `key` tells them from others."""

    def __init__(self, situation: Situation, spark: SparkSession, key: Any = None) -> None:
        self.key, self.folder = key, TemporaryDirectory()
        self.session = Session(for_tiny_data(spark), options={"table.local-time-zone": situation.zone})
        self.written = 0  # how many folders were
        for table in situation.tables:
            path = Path(self.folder.name) / f"{table.name}.json"
            path.write_text("".join(json.dumps(row) + "\n" for row in table.objects()), encoding="utf-8")
            options = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = 'json'"
            self.session.execute(f"CREATE TABLE {table.name} ({table.ddl}) WITH ({options})")

    def answer(self, situation: Situation) -> Answer:
        from tvfsql.runtime.frames.assigned_windows import with_local_times

        try:
            for view in situation.views:
                self.session.execute(view.replace("CREATE VIEW", "CREATE OR REPLACE TEMPORARY VIEW"))
            self.written += 1
            for statement in situation.inserts:
                self.session.execute(statement.replace("{folder}", f"{self.folder.name}/out{self.written}"))
            with translated():
                frame = with_local_times(self.session.sql(situation.sql).dataframe(), situation.zone)
                types = tuple(kind for _, kind in frame.dtypes)
                return Answer(Counter(written(texts(row, types)) for row in frame.collect()), types)
        except TvfSqlError as error:
            return Answer(Counter(), refused=str(error))


def script(situation: Situation) -> str:
    """The script of a situation. With INSERTs it ends with them: their tables are read from what a stream emits."""
    made = []
    for table in situation.tables:
        source = "'connector' = 'filesystem', 'path' = 'in', 'format' = 'json'"
        if table.changes:
            source = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:9092', "
            source += "'format' = 'debezium-json'"
        made.append(f"CREATE TABLE `{table.name}` ({table.ddl}) WITH ({source})")
    inserts = [each.replace("{folder}", "out") for each in situation.inserts if not each.startswith("DROP ")]
    return ";\n".join([*made, *situation.views, *(inserts or [situation.sql])]) + ";\n"


def batch_step(tables: Sequence[Table]) -> Step:
    return Step(PLACE, rows={table.name: rows(table.objects()) for table in tables})


def stream_steps(tables: Sequence[Table], *, sessions: bool = False) -> Iterator[Step]:
    """A micro-batch begins at each row that comes behind the watermark, so that the same rows are late as if each row
    were a micro-batch. Sessions also end as if it were if one begins at each row that is out of order. There are at
    least two, and the stream resumes from its state before the one in the middle."""
    most = max((len(table.rows) for table in tables), default=0)
    cuts = {most // 2} | {at for table in tables for at in table.out_of_order(behind_watermark=not sessions)}
    ends = sorted({0, *cuts, most})
    for start, stop in pairwise(ends):
        given = {table.name: rows(table.objects()[start:stop]) for table in tables}
        middle = start == most // 2 and start > 0
        yield Step(PLACE, rows=given, restart=("", PLACE) if middle else None, end=stop == most)


def rows(objects: Sequence[dict[str, Any]]) -> Rows:
    made = tuple({CHANGES if key == OP else key: value for key, value in each.items()} for each in objects)
    return Rows(made, (PLACE,) * len(made), PLACE)


def texts(row: Sequence[Any], types: Sequence[str]) -> list[Any]:
    """The values of a row, in the form of flink_answers.py."""
    return [
        number(value, "FLOAT") if kind == "float" and value is not None else plain(value)
        for value, kind in zip(row, types, strict=True)
    ]


def written(row: Sequence[Any]) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def flinks(answer: dict[str, Any]) -> Counter[str]:
    """The rows of an answer of Flink, in the form of those of tvfsql."""
    kinds = answer["types"]
    return Counter(
        written([of_flink(value, kind) for value, kind in zip(row, kinds, strict=True)]) for row in answer["rows"]
    )


def of_flink(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind.startswith("TIMESTAMP"):
        when = datetime.fromisoformat(value)
        if "(3)" in kind:  # PyFlink reads milliseconds as a float: .513 is .512999
            when += timedelta(microseconds=500)
            when -= timedelta(microseconds=when.microsecond % 1000)
        return shown(when)
    if kind.startswith(("DOUBLE", "FLOAT")):
        return number(float(value), kind)
    if kind.startswith("ARRAY<"):
        return [of_flink(each, kind.removeprefix("ARRAY<")) for each in value]
    return value


def plain(value: Any) -> Any:
    """A value of a row of Spark, in the form of flink_answers.py."""
    match value:
        case bool() | None | int() | str():
            return value
        case Decimal():
            return f"D{value:f}"
        case float():
            return number(value)
        case bytes() | bytearray():
            return f"B{bytes(value).hex()}"
        case timedelta():
            return f"PT{value.total_seconds()}"
        case datetime():
            return shown(value)
        case time():
            return value.isoformat().removesuffix("000").removesuffix(":00")
        case date():
            return value.isoformat()
        case dict():
            return {"map": sorted(([plain(key), plain(held)] for key, held in value.items()), key=str)}
        case list() | tuple():
            return [plain(part) for part in value]
    return repr(value)


def shown(value: datetime) -> str:
    return value.isoformat(" ", "microseconds").rstrip("0").rstrip(".")


def number(value: float, kind: str = "") -> str:
    """A float with as many digits as both engines have in common: sums depend on the order of rows."""
    return repr(value) if math.isnan(value) or math.isinf(value) else f"{value:.{6 if kind.startswith('F') else 9}g}"
