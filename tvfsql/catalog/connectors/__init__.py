"""Connectors: which options a table's WITH clause takes, and what they are in Spark's words.

Source: DESIGN 8. `filesystem` reads and writes files, `kafka` topics; `nexmark` and `datagen` make rows; `print` and
`blackhole` only take them; any other name is a Spark data source of that name, its options passed through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tvfsql.catalog.connectors.connector import SINKS_ONLY, Connector, refuse_unknown
from tvfsql.catalog.connectors.filesystem import filesystem
from tvfsql.catalog.connectors.generated import GENERATED, Generated, generated
from tvfsql.catalog.connectors.kafka import Kafka, kafka
from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.node import Field
from tvfsql.plan.table_options import TableOptions

__all__ = ["Connector", "Generated", "Kafka", "connector_of"]

KNOWN_CONNECTORS = ("filesystem", "kafka", *GENERATED, *SINKS_ONLY)
# Data sources that come with Spark or are well known; any dotted name is a data source's class.
SPARK_SOURCES = (
    "avro",
    "csv",
    "delta",
    "iceberg",
    "jdbc",
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
) -> Connector:
    """The connector that a WITH clause describes; `columns` are the table's stored ones, `places` those of their
    names. Raises BindError."""
    name = options.get("connector")
    if name is None:
        raise BindError(
            "a table needs a connector",
            span=table,
            hint="WITH ('connector' = 'filesystem', 'path' = '...', 'format' = 'csv')",
        )
    given = {key: value for key, value in options.items() if key != "connector"}
    if name in SINKS_ONLY:
        refuse_unknown(given, (), spans, name)
        return Connector(name, name)
    if name == "filesystem":
        return filesystem(given, spans, table)
    if name in GENERATED:
        return generated(name, TableOptions(given, spans, table), columns, places)
    if name == "kafka":
        return kafka(TableOptions(given, spans, table), columns, places)
    if name not in SPARK_SOURCES and "." not in name:
        raise BindError(
            f"there is no connector {name}",
            span=spans["connector"],
            hint=did_you_mean(name, (*KNOWN_CONNECTORS, *SPARK_SOURCES)),
        )
    return Connector(name, name, given.get("path"), tuple((k, v) for k, v in given.items() if k != "path"))
