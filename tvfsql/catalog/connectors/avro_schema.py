"""The Avro schema that Flink derives from the columns of a table. Source: its AvroSchemaConverter, asked in
tests/data/flink_avro.json.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tvfsql.errors import Span, UnsupportedError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

RECORD = "record"
NAMESPACE = "org.apache.flink.avro.generated"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SIMPLE: dict[SqlType, Any] = {
    types.STRING: "string",
    types.BOOLEAN: "boolean",
    types.BYTES: "bytes",
    types.TINYINT: "int",
    types.SMALLINT: "int",
    types.INT: "int",
    types.BIGINT: "long",
    types.FLOAT: "float",
    types.DOUBLE: "double",
    types.DATE: {"type": "int", "logicalType": "date"},
}
TIME = {"type": "int", "logicalType": "time-millis"}
MILLIS, LOCAL_MILLIS = "timestamp-millis", "local-timestamp-millis"
LEGACY = "avro.timestamp_mapping.legacy"


@dataclass(frozen=True)
class Mapped:
    """How a format maps times: the logical types that it has for them, and how many digits they may have."""

    form: str
    times: Mapping[SqlType, str]
    digits: int
    hints: Mapping[SqlType, str] = field(default_factory=dict)


def record_schema(columns: Mapping[str, SqlType], mapped: Mapped, places: Mapping[str, Span]) -> dict[str, Any]:
    """The schema of a record whose fields are columns. Raises UnsupportedError, at its place, for a column that has
    none.
    """
    rows: dict[str, SqlType] = {}
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


def _field(name: str, declared: SqlType, record: str, mapped: Mapped, rows: dict[str, SqlType]) -> dict[str, Any]:
    if not NAME.fullmatch(name):
        raise _Unfit(f"the name {name}", "letters, digits and _")
    default = {"default": None} if declared.nullable else {}
    return {"name": name, "type": _type(declared, f"{record}_{name}", mapped, rows), **default}


def _type(declared: SqlType, name: str, mapped: Mapped, rows: dict[str, SqlType]) -> Any:
    """The type of a value in the field `name`, which is also the name of its record. `rows` are those named so far."""
    plain = _not_null(declared, name, mapped, rows)
    return ["null", plain] if declared.nullable else plain


def _not_null(declared: SqlType, name: str, mapped: Mapped, rows: dict[str, SqlType]) -> Any:
    match declared:
        case types.Row():
            return _row(declared, name, mapped, rows)
        case types.Array(element):
            return {"type": "array", "items": _type(element, name, mapped, rows)}
        case types.Map(key, value):
            if key != types.STRING:
                raise _Unfit(declared.flink, "MAP<STRING, ...>")
            # counts of a MULTISET are never NULL, but Flink's schema says that they may be
            values = types.INT if isinstance(declared, types.Multiset) else value
            return {"type": "map", "values": _type(values, name, mapped, rows)}
        case types.Decimal(precision, scale):
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        case types.Time():
            return TIME
        case types.Timestamp() | types.TimestampLtz():
            return {"type": "long", "logicalType": _time(declared, mapped)}
    if declared not in SIMPLE:
        raise _Unfit(declared.flink)
    return SIMPLE[declared]


def _row(row: types.Row, name: str, mapped: Mapped, rows: dict[str, SqlType]) -> Any:
    """A record, or its name if there is one like it."""
    if name in rows:
        if rows[name].flink != row.flink:
            raise _Unfit(f"two different rows that would be the record {name}", "another name of one of them")
        return name
    rows[name] = row
    fields = [_field(part, declared, name, mapped, rows) for part, declared in row.fields]
    return {"type": "record", "name": name, "fields": fields}


def _time(declared: types.Timestamp | types.TimestampLtz, mapped: Mapped) -> str:
    if (logical := mapped.times.get(declared)) is None:
        raise _Unfit(declared.flink, mapped.hints.get(declared))
    if declared.digits > mapped.digits:
        raise _Unfit(declared.flink, replace(declared, digits=mapped.digits).flink)
    return logical
