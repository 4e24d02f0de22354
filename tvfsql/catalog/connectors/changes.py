"""The formats debezium-json and canal-json: messages of change data capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvfsql.errors import BindError, Span, did_you_mean

# Flink's options, and the runtime's names for them.
DEBEZIUM, CANAL = "debezium-json", "canal-json"
OPTIONS = {
    DEBEZIUM: {"schema-include": "schema_include"},
    CANAL: {"database.include": "database", "table.include": "table"},
}
# Flink's options whose only accepted value is the fixed behaviour.
SETTLED = {"ignore-parse-errors": ("false",), "timestamp-format.standard": ("sql", "iso-8601")}
FLAGS = {"true": True, "false": False}


@dataclass(frozen=True)
class Changes:
    """Messages of one of these formats; `options` are arguments of the runtime."""

    format: str
    options: tuple[tuple[str, str | bool], ...] = ()


def known_changes(form: str) -> dict[str, str]:
    """The options of a format, with their names in a WITH clause."""
    return {f"{form}.{key}": key for key in (*OPTIONS.get(form, ()), *SETTLED)} if form in OPTIONS else {}


def changes_of(form: str, given: Mapping[str, str], spans: Mapping[str, Span]) -> Changes:
    """Return the format that the options `given`, all known, describe. Raises BindError."""
    made: list[tuple[str, str | bool]] = []
    for option, text in given.items():
        key = option.removeprefix(f"{form}.")
        if key in SETTLED:
            if text.lower() not in SETTLED[key]:
                lost = f"{option} = {text!r} would drop changes silently"
                problem = lost if key == "ignore-parse-errors" else f"{option} cannot be {text!r}"
                hint = "leave it out" if problem is lost else None
                raise BindError(problem, span=spans[option], hint=hint or did_you_mean(text, ("SQL", "ISO-8601")))
        elif key == "schema-include":
            if text.lower() not in FLAGS:
                raise BindError(f"{option} cannot be {text!r}", span=spans[option], hint="'true' or 'false'")
            made.append((OPTIONS[form][key], FLAGS[text.lower()]))
        else:
            made.append((OPTIONS[form][key], text))
    return Changes(form, tuple(made))
