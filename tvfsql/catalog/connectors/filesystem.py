"""The `filesystem` connector: files in a folder, in one of Spark's formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvfsql.catalog.connectors.changes import OPTIONS, Changes, changes_of, known_changes
from tvfsql.catalog.connectors.connector import FORMATS, LIMITS, Connector, refuse_unknown
from tvfsql.catalog.connectors.formats import known_options, spark_options, written_options
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.plan.tables.file_order import EXAMPLE, FORMATTER, MODIFIED, OPTION, ORDERS, TIME, FileOrder, formatter_error
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values.times import milliseconds

SPARK_FILES = ("pathGlobFilter", "recursiveFileLookup", "modifiedBefore", "modifiedAfter", "compression", "mergeSchema",
               "maxFilesPerTrigger", "maxBytesPerTrigger", "latestFirst", "maxFileAge", "cleanSource")  # fmt: skip
MONITOR, PATTERN = "source.monitor-interval", "source.path.regex-pattern"
OF_SOURCE = (MONITOR, PATTERN, OPTION, FORMATTER)  # options that Spark does not know
BY_AGE = ("latestFirst", "maxFileAge", "modifiedBefore", "modifiedAfter", "cleanSource")  # what needs Spark's own order

OF_MESSAGES = ("avro-confluent", "debezium-avro-confluent", "protobuf")


@dataclass(frozen=True)
class Files(Connector):
    """Files in one of Spark's formats."""

    def notes(self, table: str) -> tuple[str, ...]:
        if self.order is None or any(key.lower() in LIMITS for key, _ in self.options):
            return ()
        return (
            f"{OPTION} of {table} orders micro-batches: a stream reads all files that there are in one, without an "
            "order; 'maxFilesPerTrigger' = '1' reads one at a time",
        )


@dataclass(frozen=True)
class ChangeFiles(Files):
    """Files with one message per line, each of which describes a change."""

    messages: Changes | None = None

    @property
    def takes_schema(self) -> bool:
        return False

    @property
    def changes(self) -> Changes | None:
        return self.messages

    def notes(self, table: str) -> tuple[str, ...]:
        return (*super().notes(table), *(self.messages.notes(table) if self.messages else ()))


def filesystem(given: Mapping[str, str], spans: Mapping[str, Span], options: TableOptions) -> Connector:
    """Return the files that a WITH clause describes; `given` has its options except `connector`. Raises BindError."""
    for key, example in (("path", f"data/{options.called}.csv"), ("format", "csv")):
        if key not in given:
            raise options.missing(key, f"'{key}' = '{example}'")
    form = given["format"]
    if form in OF_MESSAGES:
        hint = "'connector' = 'kafka', or 'format' = 'parquet'"
        raise UnsupportedError(f"{form} is a format of messages, not of files", span=spans["format"], hint=hint)
    if form not in (*FORMATS, *OPTIONS):
        raise BindError(
            f"there is no format {form}", span=spans["format"], hint=did_you_mean(form, (*FORMATS, *OPTIONS))
        )
    known = known_options(form, of_files=True) | known_changes(form)
    own = ("path", "format", *OF_SOURCE)
    rest = {key: value for key, value in given.items() if key not in own}
    refuse_unknown(rest, (*known, *SPARK_FILES), spans, f"filesystem ({form})", also=own)
    every, pattern = _monitor_interval(given, spans), given.get(PATTERN, "")
    order = _order(given, spans)
    of_format = {key: rest[key] for key in rest if key in known}
    files = tuple((key, value) for key, value in rest.items() if key not in known)
    if form in OPTIONS:
        changes = changes_of(form, of_format, spans)
        return ChangeFiles(
            "filesystem", "text", given["path"], files, messages=changes, every=every, pattern=pattern, order=order
        )
    parsing = spark_options(form, of_format, spans, of_files=True)
    written = written_options(form, of_format)
    return Files(
        "filesystem", form, given["path"], (*parsing, *files), written, every=every, pattern=pattern, order=order
    )


def _order(given: Mapping[str, str], spans: Mapping[str, Span]) -> FileOrder | None:
    """The order in which a stream reads the files; None: that of Spark. Raises BindError."""
    by = given.get(OPTION, MODIFIED).lower()
    if by not in ORDERS:
        hint = did_you_mean(by, ORDERS, otherwise="values: ")
        raise BindError(f"{OPTION} cannot be {given[OPTION]!r}", span=spans[OPTION], hint=hint)
    formatter = given.get(FORMATTER, "")
    if by == TIME and FORMATTER not in given:
        hint = f"'{FORMATTER}' = '{EXAMPLE}'"
        raise BindError(f"{TIME} needs to know what times look like", span=spans[OPTION], hint=hint)
    if by != TIME and FORMATTER in given:
        hint = f"'{OPTION}' = '{TIME}'"
        raise BindError(f"{FORMATTER} is for files in the order of {TIME}", span=spans[FORMATTER], hint=hint)
    if by == TIME and (wrong := formatter_error(formatter)):
        hint = f"'{FORMATTER}' = '{EXAMPLE}'"
        raise BindError(f"{FORMATTER} = {formatter!r} {wrong}", span=spans[FORMATTER], hint=hint)
    if by == MODIFIED:
        return None
    for key in given:
        if key in BY_AGE and not (key == "cleanSource" and given[key].lower() == "off"):
            hint = f"leave out {key}, or {OPTION}"
            raise BindError(f"{key} goes by modification times, but the order by {by}", span=spans[key], hint=hint)
    return FileOrder(by, formatter)


def _monitor_interval(given: Mapping[str, str], spans: Mapping[str, Span]) -> int:
    """How often a stream looks for new files, in ms; 0: it ends with those that there are."""
    if MONITOR not in given:
        return 0
    every = milliseconds(given[MONITOR])
    if not every:
        raise BindError(f"{MONITOR} takes a duration, not {given[MONITOR]!r}", span=spans[MONITOR], hint="'10 s'")
    return every
