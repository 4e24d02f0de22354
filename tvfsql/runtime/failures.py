"""Spark's exceptions as ours: what a user can mend, in a line; never a Java stack trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tvfsql.errors import DataError, OptionError, TvfSqlError, UnsupportedError
from tvfsql.runtime.spark import coordinates


@dataclass(frozen=True)
class Failure:
    """A pattern of Spark's message, what to say of it and what to do; `{0}` is the pattern's first group."""

    pattern: str
    message: str
    hint: str | None = None


KNOWN = (
    Failure(
        r"PATH_NOT_FOUND\] Path does not exist: (?:file:)?(\S+?)\.? ",
        "there is no file {0}",
        "relative paths start at the script's folder",
    ),
    Failure(
        # raised, not just mentioned: Spark shows the whole plan where it refuses one
        r"USER_RAISED_EXCEPTION\] \[TVFSQL_NULL_ROWTIME\] (.*?)(?: SQLSTATE|\n|$)",
        "the time column {0} is NULL in some row",
        "WHERE {0} IS NOT NULL, or SET 'table.exec.source.rowtime-null-handling' = 'DROP'",
    ),
    Failure(
        r"USER_RAISED_EXCEPTION\] \[TVFSQL_UNKNOWN_OP\] (.*?): (.*?)(?: SQLSTATE|\n|$)",
        "the column {0} holds {1}, which is no change",
        "the kinds of changes are +I, -U, +U and -D",
    ),
    Failure(r"USER_RAISED_EXCEPTION\] \[TVFSQL_CHANGE\] (.*?) \((.*?)\)(?: SQLSTATE|\n|$)", "{0}", "{1}"),
    Failure(
        r"MALFORMED_RECORD_IN_PARSING\S*\] Malformed records are detected in record parsing: (.*?)\.\s",
        "a row cannot be read: {0}",
        "'csv.ignore-parse-errors' = 'true' (or json.) reads what it cannot parse as NULL",
    ),
    Failure(
        r"CAST_INVALID_INPUT\] The value (.*?) of the type \"\w+\" cannot be cast to \"(\w+)\"",
        "{0} is no {1}",
        "TRY_CAST gives NULL instead",
    ),
    Failure(
        r"ARITHMETIC_OVERFLOW",
        "a number is too large for its type",
        "CAST the argument to a wider type, such as BIGINT or DECIMAL(38, 0)",
    ),
    Failure(
        r"(?:CAST_OVERFLOW\S*|NUMERIC_VALUE_OUT_OF_RANGE\S*)\] (.*?)[.\n]",
        "a number is too large for its type: {0}",
        "CAST the argument to a wider type, such as BIGINT or DECIMAL(38, 0)",
    ),
    Failure(r"DIVIDE_BY_ZERO", "division by zero", "NULLIF(divisor, 0) gives NULL instead"),
    Failure(r"DataError: error: ([^\n]*)\nhint: ([^\n]*)", "{0}", "{1}"),
    Failure(r"DataError: error: ([^\n]*)", "{0}"),
    Failure(r"UNRESOLVED_COLUMN\S*\] .*? name (\S+) cannot be resolved", "there is no column {0}"),
    Failure(r"AMBIGUOUS_REFERENCE\] Reference (\S+) is ambiguous", "column {0} is ambiguous"),
    Failure(
        r"KAFKA_DATA_SOURCE_NOT_ENABLED",
        "Spark has no data source kafka",
        "Spark must be started with its package, "
        f"PYSPARK_SUBMIT_ARGS='--packages {coordinates('spark-sql-kafka-0-10_2.13')} pyspark-shell'; "
        "tvfsql starts it so if the table is created before the first query",
    ),
    Failure(
        r"(?:Topic (\S+) not present in metadata.*?)?UnknownTopicOrPartitionException",
        "there is no topic {0}",
        "kafka-topics.sh --bootstrap-server ... --create --topic {0}",
    ),
    Failure(
        r"Timed out waiting for a node assignment|Topic \S+ not present in metadata",
        "Kafka does not answer",
        "does it run where 'properties.bootstrap.servers' says?",
    ),
    Failure(
        r"DATA_SOURCE_NOT_FOUND\] Failed to find the data source: (\S+)\.",
        "Spark has no data source {0}",
        "add its package: PYSPARK_SUBMIT_ARGS='--packages GROUP:ARTIFACT:VERSION pyspark-shell'",
    ),
    Failure(
        r"FAILED_READ_FILE\S*\] .*?file:/*(/\S+?)\.?\s",
        "the file {0} cannot be read",
        "is it of the format that the table names?",
    ),
)


@contextmanager
def translated() -> Iterator[None]:
    """Raise DataError or UnsupportedError in the place of Spark's exceptions."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:  # a job that fails in Java comes as the latter
        raise failure(str(error)) from error


def failure(message: str) -> TvfSqlError:
    """The error that Spark's message means; the innermost cause is the one that helps."""
    for known in KNOWN:
        found = re.search(known.pattern, message + " ", re.DOTALL if "PythonException" not in message else 0)
        if found:
            groups = [(group or "of that name").strip() for group in found.groups()]
            return DataError(known.message.format(*groups), hint=known.hint.format(*groups) if known.hint else None)
    heads = ("An error occurred while calling", "Py4JJavaError")  # py4j's own words before Java's
    lines = [line.removeprefix(": ") for line in message.strip().splitlines() if not line.startswith(heads)]
    lines = lines or ["Spark failed"]
    if "thrown from the Python worker" in lines[0]:
        raise AssertionError(f"tvfsql's code failed in Spark's Python worker: {lines[-1]}")
    first = lines[0]
    return UnsupportedError(f"Spark refuses this: {first}")


def require_ansi(spark: SparkSession) -> None:
    """Without ANSI arithmetic an overflow would wrap around silently. Raises OptionError."""
    if str(spark.conf.get("spark.sql.ansi.enabled")).lower() != "true":
        raise OptionError(
            "Spark's ANSI mode is off, and integers would overflow without an error",
            hint="spark.conf.set('spark.sql.ansi.enabled', 'true')",
        )
