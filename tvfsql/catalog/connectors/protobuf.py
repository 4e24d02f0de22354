"""The format protobuf of `kafka`, with Flink's options. Flink finds the message by its Java class; here a file of
descriptors, made by protoc, says what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

PROTOBUF = "protobuf"
CLASS, FILE = "protobuf.message-class-name", "protobuf.descriptor-file"
DEFAULTS, NULL_TEXT = "protobuf.read-default-values", "protobuf.write-null-string-literal"
IGNORE = "protobuf.ignore-parse-errors"
NAMES = (CLASS, FILE, DEFAULTS, NULL_TEXT, IGNORE)
MADE = "'{}' = 'orders.desc', made by protoc --include_imports --descriptor_set_out=orders.desc orders.proto"


def protobuf_options(
    options: TableOptions, side: str, columns: Mapping[str, SqlType], places: Mapping[str, Span]
) -> tuple[tuple[str, str], ...]:
    """Return the file, the name of the message, and how NULLs are read and written. `side` is "key.", "value." or "".
    Raises BindError, at its place for a column that the message does not have.
    """
    if f"{side}{FILE}" not in options:
        problem = "format protobuf needs a file of descriptors, as it has no Java class to ask"
        span = options.spans.get(f"{side}format", options.table)
        raise BindError(problem, span=span, hint=MADE.format(f"{side}{FILE}"))
    if options.word(f"{side}{IGNORE}", ("true", "false"), "false") == "true":
        hint = "SET 'tvfsql.dead-letter' = 'a_table' keeps messages that cannot be read"
        raise options.error(f"{side}{IGNORE}", "would drop messages without a word", hint)
    path = options.text(f"{side}{FILE}")
    called = options.text(f"{side}{CLASS}", example="com.acme.Order")
    message = _message(options, side, path, called)
    for name, kind in columns.items():
        _check(message, name, kind, places[name])
    return (
        ("descriptor", path),
        ("message", message.full_name),
        ("defaults", options.word(f"{side}{DEFAULTS}", ("true", "false"), "false")),
        ("null_text", options.text(f"{side}{NULL_TEXT}", "")),
    )


def _message(options: TableOptions, side: str, path: str, called: str) -> Descriptor:
    """The message with a Java class or a name of its own."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import DecodeError

    try:
        with open(path, "rb") as file:
            files = FileDescriptorSet.FromString(file.read()).file
        pool = DescriptorPool()
        for each in files:
            pool.Add(each)
        named = {name: message for each in files for name, message in _messages(pool, each)}
    except (OSError, DecodeError, KeyError, TypeError) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or 'it is not a descriptor file'}"
        raise options.error(f"{side}{FILE}", problem, MADE.format(f"{side}{FILE}")) from None
    found = named.get(called.replace("$", "."))
    if found is None:
        hint = did_you_mean(called, [name for name in named if not name.startswith("google.")], otherwise="messages: ")
        raise options.error(f"{side}{CLASS}", f"names no message of {path}", hint)
    return found


def _messages(pool: DescriptorPool, file: FileDescriptorProto) -> Iterator[tuple[str, Descriptor]]:
    """The messages of a file, by their Java class (with dots for $) and by their own name."""
    options = file.options
    package = options.java_package or file.package
    outer = options.java_outer_classname or _outer_class(file)
    java = [package, *([] if options.java_multiple_files else [outer])]

    def walk(message: Descriptor) -> Iterator[tuple[str, Descriptor]]:
        own = message.full_name.removeprefix(f"{file.package}.")
        yield ".".join(filter(None, [*java, own])), message
        yield message.full_name, message
        for nested in message.nested_types:
            yield from walk(nested)

    for message in pool.FindFileByName(file.name).message_types_by_name.values():
        yield from walk(message)


def _outer_class(file: FileDescriptorProto) -> str:
    """The Java class around the messages of a file without java_multiple_files."""
    base = file.name.rpartition("/")[2].removesuffix(".proto")
    name, upper = "", True
    for char in base:
        name += (char.upper() if upper else char) if char.isalnum() else ""
        upper = not char.isalpha()
    taken = {each.name for each in (*file.message_type, *file.enum_type, *file.service)}
    return f"{name}OuterClass" if name in taken else name


def _check(message: Descriptor, name: str, kind: SqlType, place: Span) -> None:
    """Raise BindError if a column, or a field of a row in it, is not a field of the message, or has another type."""
    field = message.fields_by_name.get(name)
    if field is None:
        hint = did_you_mean(name, list(message.fields_by_name), otherwise="fields: ")
        raise BindError(f"the message {message.full_name} has no field {name}", span=place, hint=hint)
    wanted = _kinds(field)
    if isinstance(kind, types.Row):
        wanted = [kind if isinstance(each, types.Row) else each for each in wanted]
    if field.message_type is not None and (inner := _row_of(field, kind)) is not None:
        row, inside = inner
        for part, of_part in types.fields(inside).items():
            _check(row, part, of_part, place)
        return
    if kind not in wanted:
        hint = f"{name} {wanted[0].flink}"
        raise BindError(f"{name} is not {kind.flink} in the message {message.full_name}", span=place, hint=hint)


def _row_of(field: FieldDescriptor, kind: SqlType) -> tuple[Descriptor, SqlType] | None:
    """The message in a field, and the ROW for it in a column of this type; None if it is not such a column."""
    message = field.message_type
    assert message is not None
    if message.GetOptions().map_entry:
        key, value = message.fields_by_name["key"], message.fields_by_name["value"]
        if value.message_type is None or not isinstance(kind, types.Map) or kind.key not in _kinds(key):
            return None
        return (value.message_type, kind.value) if isinstance(kind.value, types.Row) else None
    inside = types.element_type(kind) if field.is_repeated else kind
    return (message, inside) if isinstance(inside, types.Row) else None


def _kinds(field: FieldDescriptor) -> list[SqlType]:
    """The types that a column for a field may have."""
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        keys, values = (_kinds(message.fields_by_name[part]) for part in ("key", "value"))
        return [types.Map(key, value) for key in keys for value in values]
    ones: list[SqlType] = SIMPLE.get(field.cpp_type, [types.STRING, types.INT])  # an enum is its name or its number
    if message is not None:
        ones = [types.Row(tuple((part.name, _kinds(part)[0]) for part in _plain(message)))]
    elif field.type == field.TYPE_BYTES:
        ones = [types.BYTES]
    return [*map(types.Array, ones)] if field.is_repeated else ones


def _plain(message: Descriptor) -> Iterator[FieldDescriptor]:
    """The fields that are not messages, of which a message may hold itself."""
    return (field for field in message.fields if field.message_type is None)


# by google.protobuf's numbers of C++ types; the signed ones are for unsigned numbers too, as in Flink
SIMPLE: dict[int, list[SqlType]] = {
    1: [types.INT], 3: [types.INT], 2: [types.BIGINT], 4: [types.BIGINT],
    5: [types.DOUBLE], 6: [types.FLOAT], 7: [types.BOOLEAN], 9: [types.STRING],
}  # fmt: skip
