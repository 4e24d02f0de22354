"""The formats csv and json: their options in a WITH clause, and what they are called in Spark."""

from __future__ import annotations

from collections.abc import Mapping

from tvfsql.errors import BindError, Span

# Flink's option, then Spark's.
CSV_OPTIONS = {
    "field-delimiter": "sep",
    "quote-character": "quote",
    "escape-character": "escape",
    "null-literal": "nullValue",
    "charset": "encoding",
}
SPARK_CSV = (
    "sep", "delimiter", "quote", "escape", "comment", "nullValue", "nanValue", "mode", "dateFormat", "timestampFormat",
    "timestampNTZFormat", "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "emptyValue", "locale", "maxColumns",
    "maxCharsPerColumn", "quoteAll", "escapeQuotes",
)  # fmt: skip
SPARK_JSON = (
    "mode", "dateFormat", "timestampFormat", "timestampNTZFormat", "allowComments", "allowSingleQuotes",
    "allowUnquotedFieldNames", "ignoreNullFields", "locale", "primitivesAsString", "prefersDecimal",
)  # fmt: skip
BY_FORMAT = {"csv": SPARK_CSV, "json": SPARK_JSON}
# What only files have.
OF_FILES = {
    "csv": ("header", "encoding", "multiLine", "lineSep", "enforceSchema", "compression"),
    "json": ("encoding", "multiLine", "lineSep", "compression"),
}
PARSE_MODES = ("FAILFAST", "PERMISSIVE")


def known_options(form: str, *, of_files: bool = False) -> dict[str, str]:
    """The options of a format as a WITH clause has them (`csv.field-delimiter`), each with Spark's name.

    `ignore-parse-errors` is the parser's mode in Flink's words.
    """
    if form not in BY_FORMAT:
        return {}
    own = (*BY_FORMAT[form], *(OF_FILES[form] if of_files else ()))
    flink = {key: spark for key, spark in CSV_OPTIONS.items() if spark in own} if form == "csv" else {}
    known = {**{key: key for key in own}, **flink, "ignore-parse-errors": "mode"}
    return {f"{form}.{key}": spark for key, spark in known.items()}


def spark_options(
    form: str, given: Mapping[str, str], spans: Mapping[str, Span], *, of_files: bool = False
) -> tuple[tuple[str, str], ...]:
    """Spark's options of a format, all of them known. A row that cannot be parsed stops the query unless NULLs are
    asked for. Raises BindError for a mode that loses rows."""
    if form not in BY_FORMAT:
        return ()
    known = known_options(form, of_files=of_files)
    found = {"mode": "FAILFAST"}
    for key, value in given.items():
        if key.endswith(".ignore-parse-errors"):
            value = "PERMISSIVE" if value.lower() == "true" else "FAILFAST"
        found[known[key]] = value
    if found["mode"].upper() not in PARSE_MODES:
        raise BindError(
            f"{form}.mode {found['mode']} would lose rows without counting them",
            span=spans[f"{form}.mode"],
            hint="'FAILFAST' stops at a bad row, 'PERMISSIVE' reads what it cannot parse as NULL",
        )
    return tuple(found.items())
