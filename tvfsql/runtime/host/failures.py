"""Spark's exceptions as errors of tvfsql: short, about what the user can fix, and without Java stack traces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tvfsql.errors import DataError, Hint, OptionError, OtherMode, TvfSqlError, UnsupportedError
from tvfsql.runtime.host.bad_rows import HINT, bad_row
from tvfsql.runtime.local_spark.start import coordinates


class NoTopicError(DataError):
    """Kafka lacks a topic, and does not say which."""


@dataclass(frozen=True)
class Failure:
    """A pattern in Spark's message, with our message and hint for it. `{0}` is the pattern's first group."""

    pattern: str
    message: str
    hint: Hint | None = None
    error: type[DataError] = DataError


AGAIN = "run it again: a stream resumes from its --checkpoint"
# Failures of machines, disks and processes, not of the SQL or of its data.
FAULTS = (
    Failure(
        r"No module named '?tvfsql",
        "the Python of Spark's workers has no tvfsql, which a function in this stream needs there",
        OtherMode("batch", "pip install tvfsql, there", detail=", for which it is sent there", link="; or "),
    ),
    Failure(
        r"No space left on device|Disk quota exceeded",
        "a disk is full: that of the checkpoint, of a table, or of Spark's temporary files",
        f"free some space, and {AGAIN}",
    ),
    Failure(
        r"(?:Mkdirs failed to create|Parent path is not a directory:|AccessDeniedException:) (?:file:)?(/[^\s(]+)",
        "{0} cannot be written",
        "choose another path, or see who may write there",
    ),
    Failure(
        r"(?:file:)?(/[^\s(]+) \((?:Permission denied|Read-only file system)\)",
        "{0} cannot be written or read",
        "choose another path, or see who may write there",
    ),
    Failure(r"Read-only file system", "a folder cannot be written: its file system is read-only"),
    Failure(
        r"CONCURRENT_STREAM_LOG_UPDATE|CONCURRENT_QUERY",
        "another run uses the same checkpoint",
        "wait until it ends, or choose another --checkpoint and another path",
    ),
    Failure(
        r"\[(?:CANNOT_LOAD_STATE_STORE|STATE_STORE_\w+|CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED|MALFORMED_LOG_FILE"
        r"|INVALID_LOG_VERSION|STREAMING_CHECKPOINT_MISSING_METADATA_FILE"
        r"|STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY)|Incomplete log file|[Ll]og file was malformed"
        r"|RocksDBException|batch \d+ doesn't exist|BadZipFile|ZipException",
        "the checkpoint is damaged: files that a stream wrote there are missing or have changed",
        "restore the checkpoint from a copy, or start with a new --checkpoint and empty tables",
    ),
    Failure(
        r"Python worker (?:exited unexpectedly|failed to connect back)|STREAMING_PYTHON_RUNNER_INITIALIZATION",
        "a Python worker of Spark has ended, or did not start",
        f"was it killed, or out of memory? {AGAIN}",
    ),
    Failure(r"OutOfMemoryError", "Spark is out of memory", "PYSPARK_SUBMIT_ARGS='--driver-memory 8g pyspark-shell'"),
)
JAVA_ENDED = DataError("Spark's Java process has ended", hint=f"was it killed, or out of memory? {AGAIN}")

KNOWN = (
    Failure(
        r"PATH_NOT_FOUND\] Path does not exist: (?:file:)?(\S+?)\.? ",
        "there is no file {0}",
        "relative paths start at the script's folder",
    ),
    Failure(
        # only where it was raised: the plan in Spark's messages mentions it too
        r"USER_RAISED_EXCEPTION\] \[TVFSQL_NULL_ROWTIME\] (.*?)(?: SQLSTATE|\n|$)",
        "the time column {0} is NULL in some row",
        "WHERE {0} IS NOT NULL, or SET 'table.exec.source.rowtime-null-handling' = 'DROP'",
    ),
    Failure(
        r"USER_RAISED_EXCEPTION\] \[TVFSQL_FAR_TIME\] (.*?): (.*?)(?: SQLSTATE|\n|$)",
        "column {0} has {1}, which is outside the years 1 to 9999",
        f"SET 'table.exec.source.rowtime-null-handling' = 'DROP' drops rows with such an event time; {HINT}",
    ),
    Failure(
        r"USER_RAISED_EXCEPTION\] \[TVFSQL_UNKNOWN_OP\] (.*?): (.*?)(?: SQLSTATE|\n|$)",
        "column {0} contains {1}, which is not a kind of change",
        "use +I, -U, +U or -D; with FROM_CHANGELOG the codes of op_mapping",
    ),
    Failure(
        r"USER_RAISED_EXCEPTION\] \[TVFSQL_NOT_NULL\] (.*?)(?: SQLSTATE|\n|$)",
        "column {0} is NOT NULL, and a row has NULL there",
        "COALESCE(x, 0), or WHERE x IS NOT NULL, in the query",
    ),
    Failure(
        r"\[NEGATIVE_VALUES_IN_FREQUENCY_EXPRESSION\]",
        "a frequency of PERCENTILE is negative",
        "GREATEST(frequency, 0)",
    ),
    Failure(r"USER_RAISED_EXCEPTION\] \[TVFSQL_CHANGE\] (.*?) \((.*?)\)(?: SQLSTATE|\n|$)", "{0}", "{1}"),
    Failure(
        r"USER_RAISED_EXCEPTION\] \[TVFSQL_UNREADABLE\] (.*?)(?: SQLSTATE|$)",
        "a message cannot be read: {0}",
        HINT,
    ),
    Failure(
        r"CSV header does not conform to the schema(?:.*?)CSV file: (?:file:/*(?=/))?(/\S+)",
        "the names in the header of {0} differ from the table's columns, or are in another order",
        "'csv.enforceSchema' = 'true' ignores the names in headers",
    ),
    Failure(
        r"Number of column in CSV header is not equal(?:.*?)CSV file: (?:file:/*(?=/))?(/\S+)",
        "the header of {0} has more columns than the table, or fewer",
        "'csv.enforceSchema' = 'true' ignores the names in headers",
    ),
    Failure(
        r"MALFORMED_RECORD_IN_PARSING\S*\] Malformed records are detected in record parsing: (.*?)\.\s",
        "a row cannot be read: {0}",
        HINT,
    ),
    Failure(
        r"CAST_INVALID_INPUT\] The value (.*?) of the type \"\w+\" cannot be cast to \"(\w+)\"",
        "{0} cannot be cast to {1}",
        "TRY_CAST returns NULL instead",
    ),
    Failure(
        r"ARITHMETIC_OVERFLOW",
        "a number is too large for its type",
        "CAST the argument to a wider type, such as BIGINT or DECIMAL(38, 0)",
    ),
    Failure(
        r"DATETIME_OVERFLOW\] Datetime operation overflow: (.*?)\.(?: SQLSTATE|\n|$)",
        "a time is too far away: {0}",
        "times have the years 1 to 9999 in Flink, and up to 294247 here",
    ),
    Failure(
        r"(?:CAST_OVERFLOW\S*|NUMERIC_VALUE_OUT_OF_RANGE\S*)\] (.*?)[.\n]",
        "a number is too large for its type: {0}",
        "CAST the argument to a wider type, such as BIGINT or DECIMAL(38, 0)",
    ),
    Failure(
        r'Cannot run program "([^"]+)"(?:.*?No such file|.*?error=2)',
        "the machines of Spark's workers have no {0}",
        "--conf spark.pyspark.python=PATH names the Python of the workers",
    ),
    Failure(
        r"PYTHON_VERSION_MISMATCH\] .*?different version: (\S+) than that in driver: (\S+),",
        "the workers' Python is {0}, and this one {1}",
        "--conf spark.pyspark.python=PATH names the Python of the workers",
    ),
    Failure(r"DIVIDE_BY_ZERO|REMAINDER_BY_ZERO", "division by zero", "divide by NULLIF(divisor, 0)"),
    Failure(r"DataError: error: ([^\n]*)\nhint: ([^\n]*)", "{0}", "{1}"),
    Failure(r"DataError: error: ([^\n]*)", "{0}"),
    Failure(
        r"UNRESOLVED_ROUTINE\] Cannot resolve routine `TIME_BUCKET`",
        "FLOOR and CEIL of times, and CAST to a TIMESTAMP of fewer digits, need Spark 4.2",
        "pip install 'pyspark>=4.2'",
    ),
    Failure(
        r"UNRESOLVED_ROUTINE\] Cannot resolve routine `((?i:collect_union))`",
        "{0} needs Spark 4.3",
        "pip install 'pyspark>=4.3'",
    ),
    Failure(
        r"UNRESOLVED_ROUTINE\] Cannot resolve routine `((?i:tuple_(?:sketch|union|intersection|difference)\w*))`",
        "{0} needs Spark 4.2",
        "pip install 'pyspark>=4.2'",
    ),
    Failure(
        r"UNRESOLVED_ROUTINE\] Cannot resolve routine `((?i:(?:kll|theta|approx_top_k|bitmap_and_agg)\w*))`",
        "{0} needs Spark 4.1",
        "pip install 'pyspark>=4.2'",
    ),
    Failure(
        r'cannot cast "(?:TIME\(\d\)" to "TIMESTAMP\w*|TIMESTAMP\w*" to "TIME\(\d\))"',
        "casts between TIME and TIMESTAMP, and EXTRACT from a TIME, need Spark 4.3",
        "pip install 'pyspark>=4.3'",
    ),
    Failure(r"UNRESOLVED_COLUMN\S*\] .*? name (\S+) cannot be resolved", "there is no column {0}"),
    Failure(r"AMBIGUOUS_REFERENCE\] Reference (\S+) is ambiguous", "column {0} is ambiguous"),
    Failure(
        r"KAFKA_DATA_SOURCE_NOT_ENABLED",
        "Spark has no data source kafka",
        f"PYSPARK_SUBMIT_ARGS='--packages {coordinates('spark-sql-kafka-0-10_2.13')} pyspark-shell', "
        "or CREATE TABLE before the first query",
    ),
    Failure(
        r"AVRO_DATA_SOURCE_NOT_ENABLED",
        "Spark has no data source avro",
        f"--conf spark.jars.packages={coordinates('spark-avro_2.13')}, or CREATE TABLE before the first query",
    ),
    Failure(
        r"No suitable driver|ClassNotFoundException: \S*[jJ]dbc\S*|ClassNotFoundException: \S*Driver\b",
        "Spark has no driver for this database",
        "--conf spark.jars.packages=org.postgresql:postgresql:42.7.7, or the package of its driver; "
        "'driver' = '...' names its class",
    ),
    Failure(
        r"Topic (\S+) not present in metadata.*?UnknownTopicOrPartitionException",
        "there is no topic {0}",
        "kafka-topics.sh --bootstrap-server ... --create --topic {0}",
    ),
    Failure(
        r"UnknownTopicOrPartitionException",
        "Kafka lacks the topic of a table",
        "kafka-topics.sh --bootstrap-server ... --list; --create --topic NAME makes one",
        NoTopicError,
    ),
    Failure(
        r"KAFKA_DATA_LOSS|Some data may have been lost because they are not available in Kafka any more",
        "Kafka has deleted messages that the stream has not read",
        "'failOnDataLoss' = 'false' continues with the messages that are left",
    ),
    Failure(
        r"Timed out waiting for a node assignment|Topic \S+ not present in metadata",
        "Kafka does not answer",
        "check 'properties.bootstrap.servers'",
    ),
    Failure(
        r"DATA_SOURCE_NOT_FOUND\] Failed to find the data source: (\S+)\.",
        "Spark has no data source {0}",
        "add its package: PYSPARK_SUBMIT_ARGS='--packages GROUP:ARTIFACT:VERSION pyspark-shell'",
    ),
    Failure(
        r"Mkdirs failed to create (?:file:/*)?(/\S+?)(?:/_temporary\S*)?\s",
        "the folder {0} cannot be written",
        "check the path and its permissions",
    ),
    Failure(
        r"Cannot convert Avro field '([^']+)' .*?Timestamp(?:Millis|Micros)\S* cannot be converted .*?TIMESTAMP_NTZ",
        "{0} is an instant in this Avro file, not a TIMESTAMP",
        "declare {0} TIMESTAMP_LTZ(3); in 'table.local-time-zone' = 'UTC' it is the TIMESTAMP that Flink wrote",
    ),
    Failure(
        r"FAILED_READ_FILE\S*\] .*?file:/*(/\S+?)\.?\s",
        "the file {0} cannot be read",
        "check the format of the table",
    ),
)


@contextmanager
def translated() -> Iterator[None]:
    """Raise DataError or UnsupportedError instead of Spark's exceptions, and DataError instead of OSError."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:  # the latter for jobs that fail in Java
        raise failure(str(error), java_causes(error)) from error
    except BrokenPipeError:  # the reader of our output has gone
        raise
    except (Py4JError, ConnectionError) as error:  # Java does not answer
        raise DataError(JAVA_ENDED.message, hint=JAVA_ENDED.hint) from error
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise DataError(f"{place}{error.strerror or error}") from error


def java_causes(error: BaseException) -> str:
    """Java's stack trace with the causes of a failed stream, which Spark's message leaves out; "" without one."""
    return getattr(error, "_stackTrace", None) or ""


def failure(message: str, causes: str = "") -> TvfSqlError:
    """The error for one of Spark's messages, and for its `causes`. The innermost cause decides."""
    if found := bad_row(f"{message}\n{causes}") or _known(KNOWN, message):
        return found
    text = "\n".join(line for line in message.splitlines() if not line.startswith("\tat "))  # without Java's stacks
    why = _of_stream(text)
    if found := _known(FAULTS, text if why is None else why):
        return found
    heads = ("An error occurred while calling", "Py4JJavaError")  # py4j's own words before Java's
    lines = (text if why is None else why).strip().splitlines()
    lines = [line.removeprefix(": ") for line in lines if not line.startswith(heads)] or ["Spark failed"]
    if "thrown from the Python worker" in lines[0]:
        raise AssertionError(f"tvfsql's code failed in Spark's Python worker: {lines[-1]}")
    if why is not None:
        return DataError(f"the stream failed: {lines[0].removesuffix(SQLSTATE)}", hint=AGAIN)
    return UnsupportedError(f"Spark failed: {re.sub(PLACE, '', lines[0])}")


def _known(failures: Iterable[Failure], message: str) -> DataError | None:
    """The error of the first pattern that matches the message."""
    for known in failures:
        found = re.search(known.pattern, message + " ", re.DOTALL if "PythonException" not in message else 0)
        if found:
            groups = [(group or "of that name").strip() for group in found.groups()]
            hint = known.hint.format(*groups) if isinstance(known.hint, str) else known.hint
            return known.error(known.message.format(*groups), hint=hint)
    return None


PLACE = r" SQLSTATE: \w{5}(; line \d+ pos \d+;?)?$"  # in the text that Spark got, which the user has not seen
SQLSTATE = " SQLSTATE: XXKST"  # at the end of the message of every failed stream


def _of_stream(message: str) -> str | None:
    """Why a stream failed, without its plan, whose text could match any pattern. None if the failure is not a
    stream's."""
    found = re.search(r"\[STREAM_FAILED\].*? terminated with exception: (.*)", message, re.DOTALL)
    return found.group(1).partition("=== Streaming Query ===")[0] if found else None


LOSES_ROWS = ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")


def require_settings(spark: SparkSession) -> None:
    """Refuse a session in which overflows would wrap around, or rows of files be skipped, without an error. Raises
    OptionError."""
    if str(spark.conf.get("spark.sql.ansi.enabled")).lower() != "true":
        raise OptionError(
            "Spark's ANSI mode is off, and integers would overflow without an error",
            hint="spark.conf.set('spark.sql.ansi.enabled', 'true')",
        )
    for key in LOSES_ROWS:
        if str(spark.conf.get(key)).lower() == "true":
            raise OptionError(
                f"{key} is on, and rows of such files would be lost without an error",
                hint=f"spark.conf.set('{key}', 'false')",
            )
