"""The Avro schema that Flink derives from the columns of a table. Source: its AvroSchemaConverter, asked in
tests/data/flink_avro.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tvfsql.errors import Span, UnsupportedError
from tvfsql.plan.values.declared_types import DeclaredType
from tvfsql.plan.values.types import SqlType, shown

RECORD = "record"
NAMESPACE = "org.apache.flink.avro.generated"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SIMPLE: dict[SqlType, Any] = {
    "string": "string",
    "boolean": "boolean",
    "binary": "bytes",
    "tinyint": "int",
    "smallint": "int",
    "int": "int",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "date": {"type": "int", "logicalType": "date"},
}
TIME = {"type": "int", "logicalType": "time-millis"}
MILLIS, LOCAL_MILLIS = "timestamp-millis", "local-timestamp-millis"
TIMESTAMPS = {"timestamp_ntz": "TIMESTAMP", "timestamp": "TIMESTAMP_LTZ"}
LEGACY = "avro.timestamp_mapping.legacy"


@dataclass(frozen=True)
class Mapped:
    """How a format maps times: the logical types that it has for them, and how many digits they may have."""

    form: str
    times: Mapping[SqlType, str]
    digits: int
    hints: Mapping[SqlType, str] = field(default_factory=dict)


def record_schema(columns: Mapping[str, DeclaredType], mapped: Mapped, places: Mapping[str, Span]) -> dict[str, Any]:
    """The schema of a record whose fields are columns. Raises UnsupportedError, at its place, for a column that has
    none.
    """
    rows: dict[str, DeclaredType] = {}
    fields = []
    for name, declared in columns.items():
        try:
            fields.append(_field(name, declared, RECORD, mapped, rows))
        except _Unfit as unfit:
            problem = f"format {mapped.form} does not support {unfit.what}"
            raise UnsupportedError(problem, span=places[name], hint=unfit.hint) from None
    return {"type": "record", "name": RECORD, "namespace": NAMESPACE, "fields": fields}


class _Unfit(Exception):
    def __init__(self, what: str, hint: str | None = None) -> None:
        self.what, self.hint = what, hint


def _field(
    name: str, declared: DeclaredType, record: str, mapped: Mapped, rows: dict[str, DeclaredType]
) -> dict[str, Any]:
    if not NAME.fullmatch(name):
        raise _Unfit(f"the name {name}", "letters, digits and _")
    default = {"default": None} if declared.nullable else {}
    return {"name": name, "type": _type(declared, f"{record}_{name}", mapped, rows), **default}


def _type(declared: DeclaredType, name: str, mapped: Mapped, rows: dict[str, DeclaredType]) -> Any:
    """The type of a value in the field `name`, which is also the name of its record. `rows` are those named so far."""
    plain = _not_null(declared, name, mapped, rows)
    return ["null", plain] if declared.nullable else plain


def _not_null(declared: DeclaredType, name: str, mapped: Mapped, rows: dict[str, DeclaredType]) -> Any:
    kind = declared.kind
    match kind.partition("<")[0].partition("(")[0]:
        case "struct":
            return _row(declared.parts, name, mapped, rows, kind)
        case "array":
            return {"type": "array", "items": _type(declared.parts[0][1], name, mapped, rows)}
        case "map":
            (_, key), (_, value) = declared.parts
            if key.kind != "string":
                raise _Unfit(shown(kind), "MAP<STRING, ...>")
            return {"type": "map", "values": _type(value, name, mapped, rows)}
        case "decimal":
            precision, scale = map(int, kind[8:-1].split(","))
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        case "time":
            return TIME
        case "timestamp_ntz" | "timestamp":
            return {"type": "long", "logicalType": _time(declared, mapped)}
    if kind not in SIMPLE:
        raise _Unfit(shown(kind))
    return SIMPLE[kind]


def _row(
    parts: Iterable[tuple[str, DeclaredType]], name: str, mapped: Mapped, rows: dict[str, DeclaredType], kind: SqlType
) -> Any:
    """A record, or its name if there is one like it."""
    row = DeclaredType(kind, parts=tuple(parts))
    if name in rows:
        if rows[name] != row:
            raise _Unfit(f"two different rows that would be the record {name}", "another name of one of them")
        return name
    rows[name] = row
    fields = [_field(part, declared, name, mapped, rows) for part, declared in row.parts]
    return {"type": "record", "name": name, "fields": fields}


def _time(declared: DeclaredType, mapped: Mapped) -> str:
    word = TIMESTAMPS[declared.kind]
    digits = f"({declared.digits})" if declared.digits is not None else ""
    if (logical := mapped.times.get(declared.kind)) is None:
        raise _Unfit(f"{word}{digits}", mapped.hints.get(declared.kind))
    if (declared.digits or 0) > mapped.digits:
        raise _Unfit(f"{word}{digits}", f"{word}({mapped.digits})")
    return logical
