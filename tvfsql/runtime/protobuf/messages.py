"""Rows from messages of Protocol Buffers, and messages from rows, as Flink maps them. Source: Flink 2.3, asked in
tests/data/flink_protobuf.json.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Never, cast

import pyarrow as pa
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message
from pyspark.sql import Column
from pyspark.sql import types as T

from tvfsql.errors import DataError
from tvfsql.runtime.functions.of_rows import arrow_function
from tvfsql.runtime.messages.rows import BadMessage, Row, read_column

Get = Callable[[Any], Any]
Put = Callable[[Message, Any], None]
BITS = {FieldDescriptor.CPPTYPE_UINT32: 32, FieldDescriptor.CPPTYPE_UINT64: 64}
UNKNOWN = "UNRECOGNIZED"  # Java's name of an enum's value that it does not know


def from_protobuf(message: Column, columns: str, *, descriptor: str, name: str, defaults: bool = False) -> Column:
    """A struct column with `columns` (Spark's DDL), read from a binary column of messages; NULL for NULL. It stands
    among the columns of Spark's source `kafka`.

    `descriptor` is a file of protoc (--descriptor_set_out, --include_imports), `name` a message in it. A field that a
    message lacks is NULL, or its default if `defaults`, or if it is a number, text or enum of proto3. Raises DataError,
    when it runs, for bytes that are not such a message.
    """
    kind = cast(T.StructType, T.StructType.fromDDL(columns))
    return read_column(message, kind, Reader(_bytes(descriptor), name, kind.json(), defaults))


def to_protobuf(row: Column, columns: str, *, descriptor: str, name: str, null_text: str = "") -> Column:
    """A binary column of messages from a struct column; NULL for NULL. A NULL is not written; in arrays and maps it is
    the default of its type, or `null_text`. Otherwise as `from_protobuf`.
    """
    kind, data = cast(T.StructType, T.StructType.fromDDL(columns)), _bytes(descriptor)
    make = arrow_function(lambda rows: write(rows, kind, data, name, null_text), T.BinaryType())
    return make(row)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Reader:
    """Reads one message, in a worker: `data` are the bytes of the file of descriptors."""

    data: bytes
    name: str
    columns: str  # as JSON
    defaults: bool = False

    def __call__(self, message: bytes) -> Row:
        try:
            made, read = _reader(self)
        except (KeyError, TypeError, DecodeError) as error:
            raise DataError(f"the file of descriptors has no message {self.name} any more: {error!r}") from error
        try:
            found = made.FromString(message)
        except DecodeError as error:
            raise BadMessage(f"a message is not {self.name}: {error}") from error
        if not found.IsInitialized():
            lacks = ", ".join(found.FindInitializationErrors())
            raise BadMessage(f"a message is not {self.name}: it has no {lacks}")
        return read(found)  # type: ignore[no-any-return]


def write(rows: pa.Array, columns: T.StructType, data: bytes, name: str, null_text: str = "") -> pa.Array:
    """A binary array of messages from a struct array. Raises DataError."""
    made, _ = _message(data, name)
    put = _writer(made.DESCRIPTOR, columns, null_text)
    messages: list[bytes | None] = []
    for row in rows.to_pylist():
        if row is None:
            messages.append(None)
            continue
        message = made()
        put(message, row)
        try:
            messages.append(message.SerializeToString(deterministic=True))
        except EncodeError as error:
            raise DataError(f"a row is not {name}: {error}") from error
    return pa.array(messages, pa.binary())


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise DataError(f"the file of descriptors {path} cannot be read: {error.strerror}") from error


@cache
def _message(data: bytes, name: str) -> tuple[type[Message], bool]:
    """The class of a message, and whether it is of proto3."""
    pool, syntax = descriptor_pool.DescriptorPool(), {}
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.Add(file)
        syntax[file.name] = file.syntax
    found = pool.FindMessageTypeByName(name)
    return message_factory.GetMessageClass(found), syntax[found.file.name] == "proto3"


# ---- reading ---------------------------------------------------------------------------------------


@cache
def _reader(of: Reader) -> tuple[type[Message], Get]:
    made, proto3 = _message(of.data, of.name)
    columns = T.StructType.fromJson(json.loads(of.columns))
    return made, _row_reader(made.DESCRIPTOR, columns, of.defaults, proto3)


def _row_reader(descriptor: Descriptor, columns: T.StructType, defaults: bool, proto3: bool) -> Get:
    of = descriptor.fields_by_name
    parts = [
        (field.name, _field_reader(of[field.name], field.dataType, defaults, proto3))
        for field in columns.fields
        if field.name in of
    ]
    return lambda message: {name: get(message) for name, get in parts}


def _field_reader(field: FieldDescriptor, kind: T.DataType, defaults: bool, proto3: bool) -> Get:
    name = field.name
    match kind:
        case T.MapType():
            assert field.message_type is not None
            entry = field.message_type.fields_by_name
            key = _value_reader(entry["key"], kind.keyType, defaults, proto3)
            value = _value_reader(entry["value"], kind.valueType, defaults, proto3)

            def items(message: Message) -> object:
                found = [(key(one), value(each)) for one, each in getattr(message, name).items()]
                return found if found or defaults else None

            return items
        case T.ArrayType():
            item = _value_reader(field, kind.elementType, defaults, proto3)

            def elements(message: Message) -> object:
                found = [item(each) for each in getattr(message, name)]
                return found if found or defaults else None

            return elements
    value = _value_reader(field, kind, defaults, proto3)
    if defaults or (proto3 and field.message_type is None):
        return lambda message: value(getattr(message, name))
    return lambda message: value(getattr(message, name)) if message.HasField(name) else None


def _value_reader(field: FieldDescriptor, kind: T.DataType, defaults: bool, proto3: bool) -> Get:
    if isinstance(kind, T.StructType):
        assert field.message_type is not None
        return _row_reader(field.message_type, kind, defaults, proto3)
    if field.enum_type is not None:
        names = {number: value.name for number, value in field.enum_type.values_by_number.items()}
        if isinstance(kind, T.StringType):
            return lambda number: names.get(number, UNKNOWN)
        return lambda number: number if number in names else _refuse_number(number, field)
    if bits := BITS.get(field.cpp_type):
        top = 1 << (bits - 1)
        return lambda number: number - 2 * top if number >= top else number
    return lambda value: value


def _refuse_number(number: int, field: FieldDescriptor) -> Never:
    raise BadMessage(f"{number} in a message is not a value of {field.name}")


# ---- writing ---------------------------------------------------------------------------------------


def _writer(descriptor: Descriptor, columns: T.StructType, null_text: str) -> Put:
    parts = [
        (field.name, _field_writer(descriptor.fields_by_name[field.name], field.dataType, null_text))
        for field in columns.fields
    ]

    def put(message: Message, row: Row) -> None:
        for name, write_field in parts:
            if row[name] is not None:
                write_field(message, row[name])

    return put


def _field_writer(field: FieldDescriptor, kind: T.DataType, null_text: str) -> Put:
    name = field.name
    match kind:
        case T.MapType():
            assert field.message_type is not None
            entry = field.message_type.fields_by_name
            key = _value_writer(entry["key"], null_text)
            if isinstance(kind.valueType, T.StructType):
                put = _element_writer(entry["value"], kind.valueType, null_text)

                def write_map(message: Message, items: Iterable[tuple[object, Row | None]]) -> None:
                    for given, row in items:
                        put(getattr(message, name)[key(given)], row)

                return write_map
            value = _value_writer(entry["value"], null_text)
            return lambda message, items: getattr(message, name).update({key(k): value(v) for k, v in items})
        case T.ArrayType():
            if isinstance(kind.elementType, T.StructType):
                put = _element_writer(field, kind.elementType, null_text)

                def write_rows(message: Message, rows: Iterable[Row | None]) -> None:
                    for row in rows:
                        put(getattr(message, name).add(), row)

                return write_rows
            item = _value_writer(field, null_text)
            return lambda message, items: getattr(message, name).extend([item(each) for each in items])
        case T.StructType():
            put = _element_writer(field, kind, null_text)

            def write_row(message: Message, row: Row) -> None:
                getattr(message, name).SetInParent()
                put(getattr(message, name), row)

            return write_row
    value = _value_writer(field, null_text)
    return lambda message, given: setattr(message, name, value(given))


def _element_writer(field: FieldDescriptor, kind: T.StructType, null_text: str) -> Put:
    assert field.message_type is not None
    put = _writer(field.message_type, kind, null_text)
    return lambda message, row: put(message, row) if row is not None else None


def _value_writer(field: FieldDescriptor, null_text: str) -> Get:
    enum = field.enum_type
    if enum is not None:
        names: dict[str, int] = {name: value.number for name, value in enum.values_by_name.items()}
        first: int = enum.values[0].number

        def number(given: int | str | None) -> int:
            if given is None:
                return first
            found = names.get(given) if isinstance(given, str) else given
            if found is None or found not in enum.values_by_number:
                raise DataError(f"{given!r} is not a value of {field.name}", hint=f"values: {', '.join(names)}")
            return found

        return number
    if bits := BITS.get(field.cpp_type):
        return lambda given: (given or 0) % (1 << bits)
    empties: dict[int, str | bytes] = {field.TYPE_STRING: null_text, field.TYPE_BYTES: b""}
    empty = empties.get(field.type, 0)
    return lambda given: empty if given is None else given
