"""The formats debezium-json and canal-json: messages of change data capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.plan.values.types import INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, Array, Map, SqlType

# Flink's options, and the runtime's names for them.
DEBEZIUM, CANAL = "debezium-json", "canal-json"
OPTIONS = {
    DEBEZIUM: {"schema-include": "schema_include"},
    CANAL: {"database.include": "database", "table.include": "table"},
}
# The metadata in a message, which Kafka has under `value.`, and the types that it can be read as. What is in STEADY is
# the same in all changes of a row.
INSTANTS = (TIMESTAMP_LTZ, TIMESTAMP)
METADATA: dict[str, dict[str, tuple[SqlType, ...]]] = {
    DEBEZIUM: {
        "schema": (STRING,),
        "ingestion-timestamp": INSTANTS,
        "source.timestamp": INSTANTS,
        "source.database": (STRING,),
        "source.schema": (STRING,),
        "source.table": (STRING,),
        "source.properties": (Map(STRING, STRING),),
    },
    CANAL: {
        "database": (STRING,),
        "table": (STRING,),
        "sql-type": (Map(STRING, INT),),
        "pk-names": (Array(STRING),),
        "ingestion-timestamp": INSTANTS,
    },
}
OF_VALUE = "value."
STEADY = ("source.database", "source.schema", "source.table", "database", "table", "pk-names")
IGNORE, STANDARD, NO_NULLS = "ignore-parse-errors", "timestamp-format.standard", "encode.ignore-null-fields"
STANDARDS = ("SQL", ISO := "ISO-8601")  # reading accepts both, whatever is set
FLAGS = {"true": True, "false": False}


@dataclass(frozen=True)
class Changes:
    """Messages of one of these formats; `options` are arguments of the runtime for reading, `written` those for
    writing. `ignoring`: messages that cannot be read are skipped, and values that are not of their type are NULL.
    """

    format: str
    options: tuple[tuple[str, str | bool], ...] = ()
    ignoring: bool = False
    written: tuple[tuple[str, bool], ...] = ()

    def refuse_insert(self, table: str, span: Span) -> None:
        """Raise UnsupportedError if such messages can only be read."""
        if dict(self.options).get("schema_include"):
            raise UnsupportedError(
                f"{table} is read-only: its messages have a schema around them, which is not written",
                span=span,
                hint=f"leave out '{self.format}.schema-include'",
            )

    @property
    def several(self) -> bool:
        """Whether a message can have changes of several rows."""
        return self.format == CANAL

    @property
    def metadata(self) -> dict[str, tuple[SqlType, ...]]:
        """The metadata columns that Kafka's tables can have, each with the types that it can be read as."""
        return {f"{OF_VALUE}{key}": kinds for key, kinds in METADATA[self.format].items()}

    def notes(self, table: str) -> tuple[str, ...]:
        """Lines to tell the user who creates the table."""
        if not self.ignoring:
            return ()
        return (
            f"table {table}: '{self.format}.{IGNORE}' skips messages that cannot be read, so results can lack changes; "
            "numDeadLetters counts them",
        )


def known_changes(form: str) -> dict[str, str]:
    """The options of a format, with their names in a WITH clause."""
    keys = (*OPTIONS[form], IGNORE, STANDARD, NO_NULLS) if form in OPTIONS else ()
    return {f"{form}.{key}": key for key in keys}


def changes_of(form: str, given: Mapping[str, str], spans: Mapping[str, Span]) -> Changes:
    """Return the format that the options `given`, all known, describe. Raises BindError."""
    made: list[tuple[str, str | bool]] = []
    written: list[tuple[str, bool]] = []
    ignoring = False
    for option, text in given.items():
        key = option.removeprefix(f"{form}.")
        if key == STANDARD:
            if text.upper() not in STANDARDS:
                hint = did_you_mean(text, STANDARDS)
                raise BindError(f"{option} cannot be {text!r}", span=spans[option], hint=hint)
            written += [("iso", True)] if text.upper() == ISO else []
        elif key in (IGNORE, NO_NULLS, "schema-include"):
            if text.lower() not in FLAGS:
                raise BindError(f"{option} cannot be {text!r}", span=spans[option], hint="'true' or 'false'")
            if key == IGNORE:
                ignoring = FLAGS[text.lower()]
            elif key == NO_NULLS:
                written += [("ignore_nulls", True)] if FLAGS[text.lower()] else []
            else:
                made.append((OPTIONS[form][key], FLAGS[text.lower()]))
        else:
            made.append((OPTIONS[form][key], text))
    return Changes(form, tuple(made), ignoring, tuple(written))
