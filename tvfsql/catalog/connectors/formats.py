"""The formats csv and json: their options in a WITH clause, and Spark's names for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.tables.internal_columns import TEXT

# Flink's option: Spark's.
FLINK_OPTIONS = {
    "csv": {
        "field-delimiter": "sep",
        "quote-character": "quote",
        "escape-character": "escape",
        "null-literal": "nullValue",
        "charset": "encoding",
    },
    "json": {"encode.ignore-null-fields": "ignoreNullFields"},
}
# Flink's flags: Spark's options if they are true.
FLAGS = {
    "csv": {
        "allow-comments": {"comment": "#"},
        "disable-quote-character": {"quote": ""},
        "trim-spaces": {"ignoreLeadingWhiteSpace": "true", "ignoreTrailingWhiteSpace": "true"},
    },
    "json": {},
}
# Flink's two standards for times in JSON. Reading accepts both, whatever is set.
STANDARD = "timestamp-format.standard"
STANDARDS = {
    "sql": {
        "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSS",
        "timestampFormat": "yyyy-MM-dd HH:mm:ss.SSS'Z'",
        "timeZone": "UTC",
    },
    "iso-8601": {},
}
# How Flink writes, unless a table has the option: blanks around a text and NULL fields stay.
WRITTEN = {
    "csv": {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"},
    "json": {"ignoreNullFields": "false"},
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
# Options that only files have.
OF_FILES = {
    "csv": ("header", "encoding", "multiLine", "lineSep", "enforceSchema", "compression"),
    "json": ("encoding", "multiLine", "lineSep", "compression"),
}
# Spark's options for ignore-parse-errors. A text that is not JSON is skipped, so it is kept beside the row (CORRUPT).
CORRUPT = "columnNameOfCorruptRecord"
IGNORING = {"csv": {"mode": "PERMISSIVE"}, "json": {"mode": "PERMISSIVE", CORRUPT: TEXT}}
PARSE_MODES = ("FAILFAST", "PERMISSIVE")
WORDS = ("true", "false")


def known_options(form: str, *, of_files: bool = False) -> dict[str, str]:
    """The options of a format as named in a WITH clause (`csv.field-delimiter`), each with Spark's name.

    `ignore-parse-errors` is Flink's word for the parser's mode. Flags, and the standard of times, map to several Spark
    options.
    """
    if form not in BY_FORMAT:
        return {}
    own = (*BY_FORMAT[form], *(OF_FILES[form] if of_files else ()))
    flink = {key: spark for key, spark in FLINK_OPTIONS[form].items() if spark in own}
    known = {**{key: key for key in own}, **flink, "ignore-parse-errors": "mode"}
    known |= {key: ", ".join(spark) for key, spark in FLAGS[form].items()}
    known |= {STANDARD: "timestampNTZFormat, timestampFormat"} if form == "json" else {}
    return {f"{form}.{key}": spark for key, spark in known.items()}


def spark_options(
    form: str, given: Mapping[str, str], spans: Mapping[str, Span], *, of_files: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return Spark's options of a format for `given`, all of them known. A row that cannot be parsed stops the query
    unless NULLs are asked for. Raises BindError for a mode that loses rows, or an invalid value.
    """
    if form not in BY_FORMAT:
        return ()
    known = known_options(form, of_files=of_files)
    found = {"mode": "FAILFAST"}
    for key, value in given.items():
        name = key.removeprefix(f"{form}.")
        if name == STANDARD:
            _word(key, value, STANDARDS, spans)
        elif name in FLAGS[form]:
            found |= FLAGS[form][name] if _word(key, value, WORDS, spans) == "true" else {}
        elif name == "ignore-parse-errors":
            if _word(key, value, WORDS, spans) == "true":
                found |= IGNORING[form]
            else:
                found["mode"] = "FAILFAST"
        else:
            found[known[key]] = value
    if found["mode"].upper() not in PARSE_MODES:
        raise BindError(
            f"{form}.mode = '{found['mode']}' would drop rows silently",
            span=spans[f"{form}.mode"],
            hint="'FAILFAST' stops at a bad row, 'PERMISSIVE' reads bad values as NULL",
        )
    if form == "csv" and found.get("header", "").lower() == "true":
        found.setdefault("enforceSchema", "false")  # else the names of the header would not matter
    if form == "csv" and (quote := found.get("quote", '"')):
        found.setdefault("escape", quote)  # RFC 4180, as in Flink; Spark alone has a backslash
    return tuple(found.items())


def keeps_text(options: Iterable[tuple[str, str]]) -> bool:
    """Whether Spark keeps the text of a record that it cannot parse, as these options of its parser say."""
    return CORRUPT in dict(options)


def written_options(form: str, given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return Spark's options of a format that only apply to writing; `given` as in `spark_options`."""
    known = known_options(form, of_files=True)
    own = {known[key] for key in given}
    written = {name: value for name, value in WRITTEN.get(form, {}).items() if name not in own}
    if form == "json":
        written |= STANDARDS[given.get(f"{form}.{STANDARD}", "iso-8601").lower()]
    return tuple(written.items())


def _word(key: str, value: str, words: Collection[str], spans: Mapping[str, Span]) -> str:
    """The value in the case of `words`, of which it must be one."""
    if value.lower() not in words:
        raise BindError(f"{key} cannot be {value!r}", span=spans[key], hint=did_you_mean(value, words))
    return value.lower()
