"""The engines over Nexmark: a query's rows into a sink that keeps none, or into files, so that they can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import tvfsql
from tests.bench import stream_engines
from tests.bench.nexmark import answers
from tests.bench.nexmark.queries import WATERMARK_DELAY, Query
from tests.bench.nexmark.tables import NexmarkFiles, columns


class Engine(Protocol):
    name: str

    def can(self, query: Query) -> bool: ...

    def run(self, query: Query, folder: str | None) -> str:
        """Run the query into the folder, or with None into nothing. Returns what DuckDB reads the rows with."""


@dataclass(frozen=True)
class Tvfsql:
    """INSERT INTO, from SQL to the end of the input, with a file of each table in a micro-batch, or all in one."""

    session: tvfsql.Session
    files: NexmarkFiles
    name: str = "tvfsql"
    at_once: bool = False

    def can(self, query: Query) -> bool:
        return True

    def run(self, query: Query, folder: str | None) -> str:
        paths = {table: self.files.rows(table) for table in query.tables}
        format = "debezium-json" if query.key else "parquet"
        keep = f"'connector' = 'filesystem', 'path' = '{folder}/rows', 'format' = '{format}'"
        limit = "" if self.at_once else ", 'maxFilesPerTrigger' = '1'"
        script = statements(query, paths, limit, keep if folder else NOTHING)
        tvfsql.Session(self.session.spark, mode="streaming", options=query.settings).execute(";".join(script))
        if query.key:
            return answers.folded(f"{folder}/rows/part-*", result_columns(query))
        return f"read_parquet('{folder}/rows/*.parquet')"


@dataclass(frozen=True)
class SparksOwn:
    """Spark's SQL over streaming views, in the session of tvfsql."""

    session: tvfsql.Session
    files: NexmarkFiles
    name: str = "Spark's own"

    def can(self, query: Query) -> bool:
        return bool(query.spark)

    def run(self, query: Query, folder: str | None) -> str:
        spark = self.session.spark
        for table in query.tables:
            path = self.files.rows_and_last(table) if "window" in query.spark else self.files.rows(table)
            rows = spark.readStream.schema(columns(table).replace("(3)", "")).option("maxFilesPerTrigger", 1).csv(path)
            rows.withWatermark("dateTime", f"{WATERMARK_DELAY} seconds").createOrReplaceTempView(table)
        made = spark.sql(query.spark)
        with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as checkpoint:
            writer = made.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
            if query.key:
                writer = writer.outputMode("update")
            if not folder:
                writer = writer.format("noop")
            elif query.key:  # files take no updates

                def keep(rows: DataFrame, number: int) -> None:
                    rows.withColumn("number", F.lit(number)).write.parquet(f"{folder}/rows/{number}")

                writer = writer.foreachBatch(keep)
            else:
                writer = writer.format("parquet").option("path", f"{folder}/rows")
            writer.start().awaitTermination()
        if query.key:
            return answers.last(f"{folder}/rows/*/*.parquet", query.key, "number")
        return f"read_parquet('{folder}/rows/*.parquet')"


@dataclass(frozen=True)
class Flink:
    """The statements of tvfsql, in the process of Flink."""

    process: stream_engines.Flink
    files: NexmarkFiles
    name: str

    def can(self, query: Query) -> bool:
        return True

    def run(self, query: Query, folder: str | None) -> str:
        paths = {table: self.files.whole(table) for table in query.tables}
        format = "debezium-json" if query.key else "csv"
        keep = f"'connector' = 'filesystem', 'path' = '{folder}/rows', 'format' = '{format}'"
        self.process.execute(statements(query, paths, "", keep if folder else NOTHING))
        if query.key:
            return answers.folded(f"{folder}/rows/part-*", result_columns(query))
        return f"read_csv('{folder}/rows/part-*', header = false, columns = {duck_columns(query)})"


NOTHING = "'connector' = 'blackhole'"


def statements(query: Query, paths: dict[str, str], options: str, sink: str) -> list[str]:
    """The query as a script for tvfsql and Flink."""
    made = []
    for table, path in paths.items():
        clock = ", p_time AS PROCTIME()" if query.clock else ""
        made.append(
            f"CREATE TABLE {table} ({columns(table)}{clock}, WATERMARK FOR `dateTime` AS"
            f" `dateTime` - INTERVAL '{WATERMARK_DELAY}' SECOND)"
            f" WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv'{options})"
        )
    return [*made, f"CREATE TABLE answer ({query.columns}) WITH ({sink})", f"INSERT INTO answer {query.sql}"]


def duck_columns(query: Query) -> str:
    return f"{{{', '.join(f'{name!r}: {kind!r}' for name, kind in result_columns(query))}}}"


def result_columns(query: Query) -> list[tuple[str, str]]:
    """Names and types of the columns of a query, as DuckDB writes them."""
    return _of_duckdb(query.columns)


def bid_columns() -> list[tuple[str, str]]:
    """Those of the bids."""
    return _of_duckdb(columns("bid"))


def _of_duckdb(columns: str) -> list[tuple[str, str]]:
    pairs = (column.strip().split(" ", 1) for column in columns.replace(", 3", ",3").split(", "))
    types = {"STRING": "VARCHAR", "TIMESTAMP(3)": "TIMESTAMP"}
    return [(name.strip("`"), types.get(kind, kind)) for name, kind in pairs]


def fresh(folder: str, name: str) -> str:
    made = Path(folder, name.replace(" ", "-").replace("'", ""))
    made.mkdir()
    return str(made)
