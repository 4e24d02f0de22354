"""What Spark's catalogs say about their tables, over Spark Connect too."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tvfsql.plan.tables.delta_paths import folder_of

# Spark's conditions for a name that no table has
_ABSENT = (
    "CATALOG_NOT_FOUND",
    "DELTA_MISSING_DELTA_TABLE",
    "IDENTIFIER_TOO_MANY_NAME_PARTS",
    "NESTED_DATABASE_UNSUPPORTED_BY_V1_SESSION_CATALOG",
    "PATH_NOT_FOUND",
    "REQUIRES_SINGLE_PART_NAMESPACE",
    "SCHEMA_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
)


@dataclass(frozen=True)
class Described:
    """A table or view: its columns with their types in Spark's DDL, its `kind` in Spark's words, such as MANAGED, VIEW
    and TEMPORARY, and its format, "" if it has none.
    """

    columns: tuple[tuple[str, str], ...]
    kind: str
    format: str = ""


def described(spark: SparkSession, name: str) -> Described | None:
    """The table or view of that name; None if there is none. Spark reads the list of its files anew."""
    try:
        if folder_of(name):  # Spark's catalog cannot refresh it
            return Described(tuple(spark.table(name).dtypes), "EXTERNAL", format_of(spark, name))
        if not spark.catalog.tableExists(name):
            return None
        found = spark.catalog.getTable(name)
        if not found.isTemporary:
            spark.catalog.refreshTable(name)
        columns = tuple((column, kind) for column, kind in spark.table(name).dtypes)
        format = "" if found.tableType in ("VIEW", "TEMPORARY") else format_of(spark, name)
    except AnalysisException as error:
        if error.getCondition() in _ABSENT:
            return None
        raise
    return Described(columns, found.tableType, format)


def tables_in(spark: SparkSession, database: str = "") -> tuple[str, ...]:
    """The tables and views of a database; none if there is no such database. Without one: those of the current
    database, and views of the session.
    """
    try:
        # not catalog.listTables, which reads each table, and which Spark cannot decode where it interprets expressions
        found = spark.sql(f"SHOW TABLES IN {database}" if database else "SHOW TABLES").collect()
    except AnalysisException as error:
        if error.getCondition() in _ABSENT:
            return ()
        raise
    return tuple(sorted(table["tableName"] for table in found if not (database and table["isTemporary"])))


def databases_in(spark: SparkSession, catalog: str = "") -> tuple[str, ...]:
    """The databases of a catalog, or of the current one; none if there is no such catalog."""
    names = f"SHOW DATABASES IN {catalog}" if catalog else "SHOW DATABASES"
    try:
        return tuple(str(row[0]) for row in spark.sql(names).collect())
    except AnalysisException as error:
        if error.getCondition() in _ABSENT:
            return ()
        raise


def catalogs_in(spark: SparkSession) -> tuple[str, ...]:
    """The catalogs that Spark has used or that are configured."""
    configured = (re.fullmatch(r"spark\.sql\.catalog\.([^.]+)", key) for key in spark.conf.getAll)
    names = {str(row[0]) for row in spark.sql("SHOW CATALOGS").collect()} | {found[1] for found in configured if found}
    return tuple(sorted(names))


def format_of(spark: SparkSession, name: str) -> str:
    """The format of a table in lower case; "" if Spark names none."""
    if folder_of(name):
        return "delta"
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    return next((str(row[1]).lower() for row in reversed(rows) if row[0] == "Provider"), "")


def has_temporary_view(spark: SparkSession, name: str) -> bool:
    """Whether a program has made a temporary view of that name."""
    return spark.catalog.tableExists(name) and spark.catalog.getTable(name).isTemporary
