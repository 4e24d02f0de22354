"""Connectors: the options that a table's WITH clause accepts, and their translation to Spark.

`filesystem` reads and writes files, `kafka` topics, `jdbc` tables of databases, `spark-catalog` tables of Spark's
catalogs; `nexmark`, `datagen` and `faker` generate rows; `print` and `blackhole` can only be written. Any other name is
the Spark data source of that name, with its options passed through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvfsql.catalog.connectors.connector import SINKS_ONLY, Connector, refuse_unknown
from tvfsql.catalog.connectors.filesystem import filesystem
from tvfsql.catalog.connectors.generated import GENERATED, Generated, generated
from tvfsql.catalog.connectors.ignored import without_ignored
from tvfsql.catalog.connectors.jdbc import JDBC, OF_SPARK, Jdbc, jdbc
from tvfsql.catalog.connectors.kafka import Kafka, UpsertKafka, kafka, upsert_kafka
from tvfsql.catalog.connectors.managed import Managed, managed
from tvfsql.catalog.connectors.of_flink import LAKES, note_on_package, refuse_connector_of_flink
from tvfsql.catalog.connectors.spark_catalog import SPARK_CATALOG, SparkCatalog, spark_catalog
from tvfsql.errors import BindError, Span, nearest
from tvfsql.plan.node import Field
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values.types import SqlType

__all__ = [
    "Connector",
    "Generated",
    "Jdbc",
    "Kafka",
    "Managed",
    "SparkCatalog",
    "UpsertKafka",
    "connector_of",
    "without_ignored",
]

KNOWN_CONNECTORS = ("filesystem", "kafka", "upsert-kafka", *GENERATED, *SINKS_ONLY, SPARK_CATALOG, JDBC)
PARSED = ("csv", "json")  # formats that Spark parses
# Data sources that come with Spark or are well known; a dotted name is the class of a data source.
SPARK_SOURCES = (
    "avro",
    "csv",
    "delta",
    "iceberg",
    "json",
    "orc",
    "parquet",
    "rate",
    "socket",
    "text",
    "xml",
)


def connector_of(
    options: Mapping[str, str],
    spans: Mapping[str, Span],
    table: Span,
    columns: Sequence[Field],
    places: Mapping[str, Span],
    called: str,
    key: Sequence[str],
    op: str | None,
    declared: Mapping[str, SqlType | None],
) -> Connector:
    """Return the connector that a WITH clause describes. `columns` are the table's stored columns, `places` the spans
    of their names. `called` is the table's name, `table` the span of that name, `key` its primary key,
    `op` its column of operations, `declared` the types of its columns as written. Raises BindError.
    """
    name = options.get("connector")
    if name is None:
        return managed(called, options, spans)
    given = {key: value for key, value in options.items() if key != "connector"}
    if name in SINKS_ONLY:
        refuse_unknown(given, (), spans, name)
        return Connector(name, name)
    if name == SPARK_CATALOG:
        return spark_catalog(given, spans, called, key, op)
    if options.get("format") in PARSED:
        _refuse_corrupt_records(places)
    asked = TableOptions(given, spans, table, connector=name, called=called)
    if name == "filesystem":
        return filesystem(given, spans, asked)
    if name in GENERATED:
        return generated(name, asked, columns, places)
    if name == "kafka":
        return kafka(asked, columns, places, declared)
    if name == "upsert-kafka":
        return upsert_kafka(asked, columns, places, key, op, declared)
    if name == JDBC and not any(each in given for each in OF_SPARK):
        return jdbc(asked, columns, places, key, op)
    refuse_connector_of_flink(name, given, spans)
    known = (*KNOWN_CONNECTORS, *SPARK_SOURCES)
    if name not in (*SPARK_SOURCES, JDBC) and (close := nearest(name, known, cutoff=0.8)):
        raise BindError(f"there is no connector {name}", span=spans["connector"], hint=f"did you mean {close}?")
    options_of_spark = tuple((key, value) for key, value in given.items() if key != "path")
    return SparkSource(name, name, given.get("path"), options_of_spark)


def _refuse_corrupt_records(places: Mapping[str, Span]) -> None:
    """Raise BindError for a column that Spark does not parse, because it keeps the text of bad rows there."""
    for column, place in places.items():
        if column.lower() == "_corrupt_record":
            hint = "SET 'tvfsql.dead-letter' = 'a_table' keeps rows that cannot be read"
            raise BindError(f"Spark does not read a column {column} of csv and json", span=place, hint=hint)


@dataclass(frozen=True)
class SparkSource(Connector):
    """The Spark data source of that name; its options are passed on unchanged."""

    def notes(self, table: str) -> tuple[str, ...]:
        included = self.name in (*SPARK_SOURCES, JDBC) or "." in self.name
        return () if included and self.name not in LAKES else (note_on_package(self.name, table),)
