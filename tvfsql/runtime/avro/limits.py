"""Limits of what a record may ask of its reader: fastavro follows any depth with C's stack, and makes a list as long as
a record says, even of values that take no bytes.

Most schemas can do neither, since their depth is fixed and each of their values takes a byte; their records are not
looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from tvfsql.runtime.messages.rows import BadMessage

Schema = Any  # as fastavro has parsed it: a name, a list of schemas, or a mapping

DEEPEST = 200  # values in each other; Protocol Buffers has 100
LONGEST = 100_000  # values of lists that take no bytes
FIXED = {"null": 0, "boolean": 1, "float": 4, "double": 8}  # bytes
NUMBERS = ("int", "long", "enum")
TEXTS = ("string", "bytes")
RECORDS = ("record", "error")


@dataclass(frozen=True)
class Next:
    """Values that come next in a record: `times` of one type, inside of `depth` others."""

    schema: Schema
    depth: int = 0
    times: int = 1


class Limits:
    """The limits of the records of one schema, as fastavro has parsed it."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.named: dict[str, Schema] = schema.get("__named_schemas", {}) if isinstance(schema, dict) else {}
        self.needed = self._is_recursive(schema, ()) or any(map(self._is_empty, self._items(schema)))

    def check(self, record: bytes) -> None:
        """Raise BadMessage for a record beyond the limits. Other errors are left to the reader."""
        if not self.needed:
            return
        stream, empty = BytesIO(record), 0
        todo = [Next(self.schema)]
        while todo:
            one = todo.pop()
            if one.depth > DEEPEST:
                raise BadMessage(f"a message has more than {DEEPEST} values in each other")
            if one.times > 1:
                if self._is_empty(one.schema):
                    empty += one.times
                    if empty > LONGEST:
                        raise BadMessage(f"a message has {empty} values without bytes; {LONGEST} are the most")
                    continue
                todo.append(Next(one.schema, one.depth, one.times - 1))
            try:
                todo += self._skip(self._resolved(one.schema), one.depth, stream)
            except (EOFError, IndexError):
                return

    def _skip(self, schema: Schema, depth: int, stream: BytesIO) -> list[Next]:
        """Read a value up to its parts. The parts, last first."""
        if isinstance(schema, list):
            return [Next(schema[_number(stream)], depth + 1)]
        kind = _kind(schema)
        if kind in FIXED:
            stream.seek(FIXED[kind], 1)
        elif kind in NUMBERS:
            _number(stream)
        elif kind in TEXTS:
            stream.seek(max(_number(stream), 0), 1)
        elif kind == "fixed":
            stream.seek(schema["size"], 1)
        elif kind in RECORDS:
            return [Next(field["type"], depth + 1) for field in reversed(schema["fields"])]
        elif kind in ("array", "map"):
            return _block(schema, kind, depth, stream)
        return []

    def _resolved(self, schema: Schema) -> Schema:
        return self.named.get(schema, schema) if isinstance(schema, str) else schema

    def _parts(self, schema: Schema) -> list[Schema]:
        if isinstance(schema, list):
            return schema
        if not isinstance(schema, dict):
            return []
        fields = [field["type"] for field in schema.get("fields", ())]
        return [*fields, *(schema[part] for part in ("items", "values") if part in schema)]

    def _items(self, schema: Schema) -> Iterator[Schema]:
        """The types of values in arrays. Names are not followed: what they name is in the schema too."""
        if isinstance(schema, dict) and "items" in schema:
            yield schema["items"]
        for part in self._parts(schema):
            yield from self._items(part)

    def _is_recursive(self, schema: Schema, inside: tuple[str, ...]) -> bool:
        if isinstance(schema, str):
            return schema in inside
        name = schema.get("name") if isinstance(schema, dict) else None
        return any(self._is_recursive(part, (*inside, name) if name else inside) for part in self._parts(schema))

    def _is_empty(self, schema: Schema, inside: tuple[str, ...] = ()) -> bool:
        """Whether a value takes no bytes."""
        schema = self._resolved(schema)
        kind = _kind(schema)
        if kind in RECORDS:
            name = schema["name"]
            return name not in inside and all(self._is_empty(part, (*inside, name)) for part in self._parts(schema))
        return kind == "null" or (kind == "fixed" and schema["size"] == 0)


def _block(schema: Schema, kind: str, depth: int, stream: BytesIO) -> list[Next]:
    """A block of an array or a map, and then the next one: it is what is left of the same value."""
    count = _number(stream)
    if count < 0:
        count, _ = -count, _number(stream)
    if count == 0:
        return []
    item = schema["items"] if kind == "array" else _entry(schema["values"])
    return [Next(schema, depth), Next(item, depth + 1, count)]


def _entry(value: Schema) -> dict[str, Schema]:
    return {"type": "record", "name": "", "fields": [{"type": "string"}, {"type": value}]}


def _kind(schema: Schema) -> str:
    found = schema["type"] if isinstance(schema, dict) else schema
    return found if isinstance(found, str) else ""


def _number(stream: BytesIO) -> int:
    """A number of variable length, as Avro writes it. Raises EOFError."""
    found = shift = 0
    while True:
        read = stream.read(1)
        if not read or shift > 63:
            raise EOFError
        found |= (read[0] & 0x7F) << shift
        shift += 7
        if read[0] < 0x80:
            return (found >> 1) ^ -(found & 1)
