"""Spark's data sources `nexmark`, `datagen` and `faker`: rows generated in Python workers, one Arrow batch at a time.

`spark.dataSource.register(NexmarkSource)` registers one for `spark.read.format("nexmark")` and `spark.readStream`. Both
have the same rows. A stream's offset is the number of the next row, and the content of a row depends only on its number
and the options. The clock decides how far a micro-batch goes, never what is in it.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from tvfsql.errors import DataError
from tvfsql.plan.node import Field
from tvfsql.plan.synthetic import faker
from tvfsql.plan.synthetic.datagen import datagen
from tvfsql.plan.synthetic.nexmark import Nexmark
from tvfsql.plan.synthetic.tables import NEXT_ROW, ROWS, Rows
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.host.spark_versions import arrow_schema
from tvfsql.runtime.synthetic.datagen import column
from tvfsql.runtime.synthetic.draws import Draws
from tvfsql.runtime.synthetic.faker import column as fake
from tvfsql.runtime.synthetic.nexmark import events

try:
    from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
except ModuleNotFoundError as error:
    raise DataError("generated tables need Spark 4.2", hint="pip install 'pyspark>=4.2'") from error

BATCH_ROWS = 100_000  # the size of an Arrow batch, and of a partition
Make = Callable[[Ints], pa.RecordBatch]  # makes the rows with these numbers


class GeneratedSource(DataSource):
    """A table with generated rows. Its options are those of the WITH clause, and its schema has the requested
    columns."""

    @abstractmethod
    def rows(self) -> Rows:
        """The number of rows, and how fast they arrive."""

    @abstractmethod
    def maker(self, schema: StructType) -> Make:
        """The function that makes the rows."""

    def reader(self, schema: StructType) -> DataSourceReader:
        return GeneratedBatch(self.rows(), self.maker(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return GeneratedStream(self.rows(), self.maker(schema))


class NexmarkSource(GeneratedSource):
    """The source `nexmark`: one table of the Nexmark benchmark, or all events in one."""

    @classmethod
    def name(cls) -> str:
        return "nexmark"

    def rows(self) -> Rows:
        options = TableOptions(self.options)
        return Nexmark.of(options).rows(options)

    def maker(self, schema: StructType) -> Make:
        spec, seed, arrow = Nexmark.of(TableOptions(self.options)), self.rows().seed, _arrow(schema)

        def make(numbers: Ints) -> pa.RecordBatch:
            made = events(spec, seed, numbers)
            return _batch([made.column(field.name, field.type) for field in arrow], arrow)

        return make


class DatagenSource(GeneratedSource):
    """The source `datagen`: sequences and random values, column by column."""

    @classmethod
    def name(cls) -> str:
        return "datagen"

    def rows(self) -> Rows:
        return Rows.of(TableOptions(self.options))

    def maker(self, schema: StructType) -> Make:
        fields = [Field(field.name, of_spark(field.dataType.simpleString())) for field in schema]
        columns, seed, arrow = datagen(TableOptions(self.options), fields), self.rows().seed, _arrow(schema)

        def make(numbers: Ints) -> pa.RecordBatch:
            draws = Draws(seed, numbers)
            values = [column(made, draws, field.type) for made, field in zip(columns, arrow, strict=True)]
            return _batch(values, arrow)

        return make


class FakerSource(GeneratedSource):
    """The source `faker`: texts, numbers and times from expressions."""

    @classmethod
    def name(cls) -> str:
        return "faker"

    def rows(self) -> Rows:
        return Rows.of(TableOptions(self.options))

    def maker(self, schema: StructType) -> Make:
        fields = [Field(field.name, of_spark(field.dataType.simpleString())) for field in schema]
        options, arrow = TableOptions(self.options), _arrow(schema)
        columns, start, rate = faker.columns_of(options, fields), faker.start_of(options), faker.rate_of(options)
        seed = self.rows().seed

        def make(numbers: Ints) -> pa.RecordBatch:
            draws = Draws(seed, numbers)
            kinds = (field.type for field in arrow)
            values = (fake(made, draws, start, rate, kind) for made, kind in zip(columns, kinds, strict=True))
            return _batch([*values], arrow)

        return make


class GeneratedBatch(DataSourceReader):
    """All rows of a table. Raises DataError if the table is unbounded."""

    def __init__(self, rows: Rows, make: Make) -> None:
        if rows.number is None:
            raise DataError("a batch query needs the number of rows", hint="'number-of-rows' = '1000'")
        self.number, self.make = rows.number, make

    def partitions(self) -> Sequence[InputPartition]:
        return _partitions(0, self.number)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield self.make(np.arange(*partition.value, dtype=np.int64))


class GeneratedStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A table's rows in micro-batches. An offset is `{"row": number of the next row}`, and of a bounded table also
    `"of"`, the number of its rows, by which the driver of the stream knows its end.

    With the trigger availableNow, a bounded table is read to its end, and an unbounded one for as many rows as arrive
    in a second. Rows arrive no faster than `rows.per_second`, counted from the first row of the run.
    """

    def __init__(self, rows: Rows, make: Make) -> None:
        self.rows, self.make = rows, make
        self.begun: tuple[int, float] | None = None
        self.available_now = False

    def initialOffset(self) -> dict[str, int]:
        return self._offset(0)

    def prepareForTriggerAvailableNow(self) -> None:
        self.available_now = True

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        row = start[NEXT_ROW]
        ends = [row + self.rows.per_batch, *([] if self.rows.number is None else [self.rows.number])]
        if self.rows.per_second is not None:
            ends.append(self._due(row, min(ends), self.rows.per_second))
        return self._offset(max(row, min(ends)))

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return _partitions(start[NEXT_ROW], end[NEXT_ROW])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield self.make(np.arange(*partition.value, dtype=np.int64))

    def _offset(self, row: int) -> dict[str, int]:
        return {NEXT_ROW: row} | ({} if self.rows.number is None else {ROWS: self.rows.number})

    def _due(self, row: int, last: int, per_second: int) -> int:
        """The row before which a micro-batch must end that starts at `row`: one second's rows at the start, then by the
        clock. availableNow takes a micro-batch without rows for the end of the input, so it waits for some."""
        if self.begun is None:
            self.begun = row, time.monotonic()
        first, since = self.begun
        if self.available_now and self.rows.number is None:
            return first + per_second
        least = row
        if self.available_now:
            least = min(row + per_second, last)
            time.sleep(max(0.0, since + (least - first) / per_second - 1 - time.monotonic()))
        return max(least, first + int(per_second * (time.monotonic() - since + 1)))


def _partitions(start: int, end: int) -> list[InputPartition]:
    """The rows from `start` up to, but not including, `end`, in order."""
    return [InputPartition((at, min(at + BATCH_ROWS, end))) for at in range(start, end, BATCH_ROWS)]


def _arrow(schema: StructType) -> pa.Schema:
    return arrow_schema(schema)


def _batch(columns: list[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(columns, schema=schema)
