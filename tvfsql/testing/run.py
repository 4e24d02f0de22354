"""Runs a test: its steps, the rows that each emitted, and the differences from the expected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tvfsql.bind.statements.call import epoch_ms
from tvfsql.catalog import Table
from tvfsql.emit.tables.dead_letters import columns_ddl
from tvfsql.errors import Span, TvfSqlError, did_you_mean
from tvfsql.plan.node import Field, Schema
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.zone_names import zone_of
from tvfsql.testing.compare import Given, differences
from tvfsql.testing.plans import given, view_of
from tvfsql.testing.stream import compiled
from tvfsql.testing.suite import Case, Rows, Step, Suite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tvfsql.runtime.stream.driver.in_process import Message


@dataclass(frozen=True)
class StepResult:
    """The outcome of a step, and the lines of the diff; empty if the rows are as expected."""

    step: Step
    number: int
    given: Mapping[str, Given]
    late: int
    diff: tuple[str, ...]


@dataclass(frozen=True)
class CaseResult:
    """The outcome of a test. `error` is the error that ended it early."""

    suite: Suite
    case: Case
    steps: tuple[StepResult, ...] = ()
    error: TvfSqlError | None = None

    @property
    def passed(self) -> bool:
        return self.error is None and not any(step.diff for step in self.steps)

    def lines(self) -> Iterator[str]:
        """The differences and errors, as text."""
        for result in self.steps:
            if result.diff:
                line = self.suite.line(result.step.span)
                yield f"step {result.number}, {self.suite.file}:{line} (- expected, + found)"
                yield from (f"  {each}" for each in result.diff)
        if self.error is not None:
            yield str(self.error)


def run_case(suite: Suite, case: Case, session: SparkSession) -> CaseResult:
    """Run a test in its own session of this Spark."""
    from tvfsql.runtime.host.failures import translated
    from tvfsql.runtime.local_spark.start import for_tiny_data

    steps: list[StepResult] = []
    try:
        with translated():
            steps.extend(_Run(suite, case, for_tiny_data(session)).steps(steps))
    except TvfSqlError as error:
        return CaseResult(suite, case, tuple(steps), error)
    return CaseResult(suite, case, tuple(steps))


class _Run:
    def __init__(self, suite: Suite, case: Case, spark: SparkSession) -> None:
        self.suite, self.case, self.spark = suite, case, spark
        self.script = compiled(case.script, case.mode, case.options, case.params)
        self.time: int | None = None  # epoch ms
        self.empty = set[str]()  # tables whose views are empty

    def steps(self, done: list[StepResult]) -> Iterable[StepResult]:
        """Run the steps. Each result is appended to `done`, so that results before an error are kept."""
        self._look_over()
        for number, step in enumerate(self.case.steps, 1):
            done.append(self._step(number, step))
        return ()

    def _look_over(self) -> None:
        """Refuse names that the script does not have, before anything runs."""
        for step in self.case.steps:
            self._refuse_unknown(step)
        if self.case.steps and self.case.steps[0].now is None and any(o.asks_for_time for o in self.script.outputs):
            raise self.suite.mistake(
                "the rows of this script depend on the clock, but the first step has no time",
                self.case.steps[0].span,
                "now: 2020-01-01 00:00:00",
            )

    def _refuse_unknown(self, step: Step) -> None:
        tables = self.script.tables
        for name, rows in step.rows.items():
            if name not in tables:
                raise self.suite.mistake(f"the script reads no table {name}", rows.span, did_you_mean(name, tables))
            columns = [column.name for column in given(tables[name]).columns]
            self._refuse_columns(rows, columns, f"table {name} has no column {{}} to fill")
        for name, (_, span) in (*step.watermark.items(), *((each, (each, span)) for each, span in step.idle)):
            if name and name not in tables:
                raise self.suite.mistake(f"the script reads no table {name}", span, did_you_mean(name, tables))

    def _refuse_columns(self, rows: Rows, columns: Sequence[str], message: str) -> None:
        for row, span in zip(rows.values, rows.spans, strict=True):
            for name in row:
                if name not in columns:
                    raise self.suite.mistake(message.format(name), span, did_you_mean(name, columns))

    def _step(self, number: int, step: Step) -> StepResult:
        messages = [*self._messages(step)]
        if step.restart is not None:
            self._restart(*step.restart)
        if step.restart is not None:
            self.empty.clear()
        for name, table in self.script.tables.items():
            if name in self.script.looked_up and name not in step.rows and number > 1:
                continue
            self._fill(name, table, step.rows.get(name, Rows()))
        found, late = self.script.micro_batch(self.spark, self.time or 0, messages)
        return StepResult(step, number, found, late, tuple(self._diff(step, found, late)))

    def _restart(self, script: str, span: Span) -> None:
        """Stop the stream and resume it from its state."""
        file = self.suite.file.parent / script if script else self.case.script
        try:
            case = self.case
            self.script = compiled(file, case.mode, case.options, case.params).over_state_of(self.script)
        except TvfSqlError as error:
            if error.source is None and error.span is None:
                raise self.suite.mistake(error.message, span, error.advice) from error
            raise

    def _messages(self, step: Step) -> Iterator[Message]:
        from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
        from tvfsql.runtime.stream.time.valve import IDLE, TRIGGER

        if step.now is not None:
            self.time = self._read(step.now, self._instant)
        if step.now is not None or step.restart is not None:
            yield TRIGGER, None
        for table in (name for name, _ in step.idle):
            yield IDLE, table
        for table, mark in step.watermark.items():
            yield self._read(mark, lambda text: epoch_ms(datetime.fromisoformat(text))), table or None
        if step.end:
            yield END_OF_INPUT, None

    def _instant(self, text: str) -> int:
        when = datetime.fromisoformat(text)
        when = when if when.tzinfo else when.replace(tzinfo=zone_of(self.script.zone))
        return epoch_ms(when.astimezone(UTC).replace(tzinfo=None))

    def _read(self, given: tuple[str, Span], reader: Callable[[str], int]) -> int:
        text, span = given
        try:
            return reader(text)
        except (ValueError, TypeError):
            raise self.suite.mistake(f"{text!r} is not a time", span, "2020-04-15 08:00:00") from None

    def _fill(self, name: str, table: Table, rows: Rows) -> None:
        """Create the view of a table with the rows of a step."""
        if not rows.values and name in self.empty:
            return
        (self.empty.discard if rows.values else self.empty.add)(name)
        self._frame(rows, given(table).physical, f"table {name}").createOrReplaceTempView(view_of(name))

    def _frame(self, rows: Rows, columns: Schema, what: str) -> DataFrame:
        """A DataFrame of rows from the file with these columns. Raises DataError for a row that does not fit."""
        from pyspark.sql.types import StructType, _parse_datatype_string

        from tvfsql.runtime.frames.arrow_tables import frame_of_batches
        from tvfsql.runtime.frames.shown_rows import rows_of_json

        schema = _parse_datatype_string(columns_ddl(columns))
        assert isinstance(schema, StructType), schema
        if not rows.values:
            return frame_of_batches(self.spark, [], schema)
        texts = [rows.json(number) for number in range(len(rows.values))]
        frame, bad = rows_of_json(self.spark, texts, schema, self.script.zone)
        if bad:
            kinds = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema.fields)
            raise self.suite.mistake(f"this row does not fit {what}", rows.spans[bad[0]], f"its columns: {kinds}")
        return frame

    def _diff(self, step: Step, found: Mapping[str, Given], late: int) -> Iterator[str]:
        expected = self._expected(step)
        for name, of_output in found.items():
            title = [f"{name}:"] if len(found) > 1 else []
            rows = expected.get(name, Rows())
            if not rows.values:
                lines = differences(Given(of_output.columns, of_output.types, ()), of_output)
            else:
                lines = self._compared(name, rows, of_output)
            yield from (*title, *lines) if lines else ()
        if late != step.late:
            yield f"- late: {step.late}"
            yield f"+ late: {late}"

    def _compared(self, name: str, rows: Rows, found: Given) -> list[str]:
        """Compare only the columns that are named; each row must name the same ones."""
        self._refuse_columns(rows, found.columns, f"the rows of {name} have no column {{}}")
        columns = [*rows.values[0]]
        for row, span in zip(rows.values, rows.spans, strict=True):
            if {*row} != {*columns}:
                raise self.suite.mistake("this row has other columns than the first one", span, ", ".join(columns))
        shown = found.only(columns)
        wanted = self._frame(rows, tuple(map(Field, columns, map(of_spark, shown.types))), name).collect()
        return differences(Given(shown.columns, shown.types, tuple(tuple(row) for row in wanted)), shown)

    def _expected(self, step: Step) -> dict[str, Rows]:
        """The expected rows by output."""
        names = self.script.names
        if "" in step.expect:
            if len(names) > 1:
                hint = f"{names[0]}: and below it the rows"
                raise self.suite.mistake(f"the script has {len(names)} outputs", step.expect[""].span, hint)
            return {names[0]: step.expect[""]}
        for name, rows in step.expect.items():
            if name not in names:
                raise self.suite.mistake(f"the script has no output {name}", rows.span, did_you_mean(name, names))
        return dict(step.expect)


# The Spark that tests share.


class SharedSpark:
    """A local Spark that starts with the first test. If a Spark already runs in this process, it is used and not
    stopped.
    """

    def __init__(self) -> None:
        self.spark: SparkSession | None = None
        self.started = False

    def get(self) -> SparkSession:
        """Return the Spark. Raises DataError without Java."""
        from tvfsql.runtime.local_spark.start import FAST_COMPILER, is_running, start_spark

        if self.spark is None:
            self.started = not is_running()
            self.spark = start_spark(java_options=FAST_COMPILER)
        return self.spark

    def stop(self) -> None:
        if self.spark is not None and self.started:
            self.spark.stop()
        self.spark = None
