"""The `filesystem` connector: files in a folder, in one of Spark's formats."""

from __future__ import annotations

from collections.abc import Mapping

from tvfsql.catalog.connectors.connector import FORMATS, Connector, refuse_unknown
from tvfsql.errors import BindError, Span, did_you_mean

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


def filesystem(given: Mapping[str, str], spans: Mapping[str, Span], table: Span) -> Connector:
    """The files that a WITH clause describes; `given` has its options but `connector`. Raises BindError."""
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
    refuse_unknown(rest, known, spans, f"filesystem ({form})", also=("path", "format"))
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
