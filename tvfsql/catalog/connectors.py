"""Connectors: which options a table's WITH clause takes, and what they are in Spark's words.

Source: DESIGN 8. `filesystem` reads and writes files; `print` and `blackhole` only take rows; any other
name is a Spark data source of that name, its options passed through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvfsql.errors import BindError, Span, did_you_mean

FORMATS = ("avro", "csv", "json", "orc", "parquet", "text")
SINKS_ONLY = ("print", "blackhole")
ENDLESS = ("kafka", "rate", "socket")
KNOWN_CONNECTORS = ("filesystem", *SINKS_ONLY)
# Data sources that come with Spark or are well known; any dotted name is a data source's class.
SPARK_SOURCES = (
    "avro",
    "csv",
    "delta",
    "iceberg",
    "jdbc",
    "json",
    "kafka",
    "orc",
    "parquet",
    "rate",
    "socket",
    "text",
    "xml",
)

# Flink's option, then Spark's.
CSV_OPTIONS = {
    "field-delimiter": "sep",
    "quote-character": "quote",
    "escape-character": "escape",
    "null-literal": "nullValue",
    "charset": "encoding",
}
SPARK_CSV = (
    "header", "sep", "delimiter", "quote", "escape", "comment", "nullValue", "nanValue", "mode", "encoding",
    "dateFormat", "timestampFormat", "timestampNTZFormat", "ignoreLeadingWhiteSpace", "multiLine", "locale",
    "ignoreTrailingWhiteSpace", "emptyValue", "lineSep", "maxColumns", "maxCharsPerColumn", "enforceSchema",
    "compression", "quoteAll", "escapeQuotes",
)  # fmt: skip
SPARK_JSON = (
    "mode", "encoding", "dateFormat", "timestampFormat", "timestampNTZFormat", "multiLine", "lineSep",
    "allowComments", "allowSingleQuotes", "allowUnquotedFieldNames", "ignoreNullFields", "compression", "locale",
    "primitivesAsString", "prefersDecimal",
)  # fmt: skip
SPARK_FILES = ("pathGlobFilter", "recursiveFileLookup", "modifiedBefore", "modifiedAfter", "compression", "mergeSchema",
               "maxFilesPerTrigger", "latestFirst", "maxFileAge", "cleanSource")  # fmt: skip
BY_FORMAT = {"csv": SPARK_CSV, "json": SPARK_JSON}
PARSED = ("csv", "json")
PARSE_MODES = ("FAILFAST", "PERMISSIVE")


@dataclass(frozen=True)
class Connector:
    """Where a table's rows are: a Spark format, a path if it has one, and Spark's options, in order."""

    name: str
    format: str
    path: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @property
    def takes_schema(self) -> bool:
        """Whether Spark reads it by the columns that it is told; others have columns of their own."""
        return self.format in (*FORMATS, "xml")

    @property
    def endless(self) -> bool:
        """Whether its rows never end, so that reading them is a stream unless batch is asked for."""
        return self.name in ENDLESS

    @property
    def readable(self) -> bool:
        return self.name not in SINKS_ONLY


def connector_of(options: Mapping[str, str], spans: Mapping[str, Span], table: Span) -> Connector:
    """The connector that a WITH clause describes. Raises BindError."""
    name = options.get("connector")
    if name is None:
        raise BindError(
            "a table needs a connector",
            span=table,
            hint="WITH ('connector' = 'filesystem', 'path' = '...', 'format' = 'csv')",
        )
    given = {key: value for key, value in options.items() if key != "connector"}
    if name in SINKS_ONLY:
        _refuse_unknown(given, (), spans, name)
        return Connector(name, name)
    if name == "filesystem":
        return _filesystem(given, spans, table)
    if name not in SPARK_SOURCES and "." not in name:
        raise BindError(
            f"there is no connector {name}",
            span=spans["connector"],
            hint=did_you_mean(name, (*KNOWN_CONNECTORS, *SPARK_SOURCES)),
        )
    return Connector(name, name, given.get("path"), tuple((k, v) for k, v in given.items() if k != "path"))


def _filesystem(given: Mapping[str, str], spans: Mapping[str, Span], table: Span) -> Connector:
    for key, example in (("path", "'path' = 'data/bids.csv'"), ("format", "'format' = 'csv'")):
        if key not in given:
            raise BindError(f"connector filesystem needs the option {key}", span=table, hint=f"add {example}")
    form = given["format"]
    if form not in FORMATS:
        raise BindError(f"there is no format {form}", span=spans["format"], hint=did_you_mean(form, FORMATS))
    flink = {f"{form}.{key}": spark for key, spark in CSV_OPTIONS.items()} if form == "csv" else {}
    own = {f"{form}.ignore-parse-errors": "mode"} if form in PARSED else {}
    spark = {f"{form}.{key}": key for key in BY_FORMAT.get(form, ())}
    known = {**spark, **flink, **own, **{key: key for key in SPARK_FILES}}
    rest = {key: value for key, value in given.items() if key not in ("path", "format")}
    _refuse_unknown(rest, known, spans, f"filesystem ({form})", also=("path", "format"))
    found: dict[str, str] = {"mode": "FAILFAST"} if form in PARSED else {}
    for key, value in rest.items():
        if key in own:
            found["mode"] = "PERMISSIVE" if value.lower() == "true" else "FAILFAST"
        else:
            found[known[key]] = value
    if form in PARSED and found["mode"].upper() not in PARSE_MODES:
        raise BindError(
            f"{form}.mode {found['mode']} would lose rows without counting them",
            span=spans[f"{form}.mode"],
            hint="'FAILFAST' stops at a bad row, 'PERMISSIVE' reads what it cannot parse as NULL",
        )
    return Connector("filesystem", form, given["path"], tuple(found.items()))


def _refuse_unknown(
    given: Mapping[str, str],
    known: Mapping[str, str] | tuple[str, ...],
    spans: Mapping[str, Span],
    name: str,
    also: tuple[str, ...] = (),
) -> None:
    for key in given:
        if key not in known:
            hint = did_you_mean(key, (*known, *also))
            raise BindError(f"connector {name} has no option {key}", span=spans[key], hint=hint)
