"""Connectors that Flink has and tvfsql has not, and what to use instead.

Only names that no data source of Spark has are refused. For others (`iceberg`, `mongodb`), Spark's options count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tvfsql.errors import BindError, Span, UnsupportedError

DEBEZIUM = "Debezium into Kafka: 'connector' = 'kafka', 'format' = 'debezium-json'"
PACKAGE = "a data source of Spark: 'connector' = its name or class, and --packages GROUP:ARTIFACT:VERSION"
CATALOG = "'connector' = 'spark-catalog', 'table-name' = 'db.orders'"
REFUSED = (
    (re.compile(r"(mysql|postgres|oracle|sqlserver|mongodb|tidb|db2|vitess|oceanbase|gaussdb)-cdc"), DEBEZIUM),
    (
        re.compile(r"elasticsearch-\d|opensearch(-\d)?|hbase-[\d.]+|firehose|kinesis-legacy|dynamodb|google-pubsub"),
        PACKAGE,
    ),
    (re.compile(r"hive|fluss"), CATALOG),
    (re.compile(r"kafka-0\.\d+"), "'connector' = 'kafka'"),
)
LAKES = ("delta", "iceberg", "hudi", "paimon")
# Flink's options of connectors whose names Spark has too; Spark would ignore them.
FLINKS_OPTIONS = {
    "delta": ("table-path",),
    "iceberg": ("catalog-name", "catalog-type", "catalog-database", "catalog-table", "warehouse"),
    "hudi": ("table.type", "hoodie.datasource.write.recordkey.field"),
    "paimon": ("warehouse", "bucket"),
    "mongodb": ("uri",),
    "pulsar": ("service-url", "topics"),
}


def refuse_connector_of_flink(name: str, given: Mapping[str, str], spans: Mapping[str, Span]) -> None:
    """Raise UnsupportedError for a connector that neither tvfsql nor a package for Spark has, and BindError for an
    option of Flink where Spark's count.
    """
    for pattern, instead in REFUSED:
        if pattern.fullmatch(name):
            raise UnsupportedError(f"the connector {name} is not supported", span=spans["connector"], hint=instead)
    for option in FLINKS_OPTIONS.get(name, ()):
        if option in given:
            problem = f"{option} is an option of Flink's connector {name}, which is not supported"
            raise BindError(problem, span=spans[option], hint=_instead(name))


def _instead(name: str) -> str:
    return f"{CATALOG}, 'format' = '{name}'" if name in LAKES else f"the options of Spark's data source {name}"


def note_on_package(name: str, table: str) -> str:
    """The line for a table of a data source that needs a package."""
    if name in LAKES:
        return (
            f"table {table} needs the package of {name} for this version of Spark (--packages); {_instead(name)} "
            "is for a table of a catalog"
        )
    return f"table {table} needs a package with a Spark data source named {name}; its options are passed on"
