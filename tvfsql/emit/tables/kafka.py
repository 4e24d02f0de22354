"""Emits code for the `kafka` connector: rows from messages, and messages from rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import Kafka, UpsertKafka
from tvfsql.catalog.connectors.avro import AVRO, CONFLUENT, LOGIN
from tvfsql.catalog.connectors.changes import OPTIONS
from tvfsql.catalog.connectors.formats import keeps_text
from tvfsql.catalog.connectors.kafka import RAW_BYTES, Part, bytes_of_raw
from tvfsql.catalog.connectors.kafka_offsets import End
from tvfsql.catalog.connectors.protobuf import PROTOBUF
from tvfsql.emit import columns
from tvfsql.emit.python_module import Call, Chain, PythonModule, Rows, literal, option_value
from tvfsql.emit.tables.changes import as_message, captured, in_order
from tvfsql.emit.tables.dead_letters import MESSAGE, OF_TEXT, columns_ddl, forgiven, near_times, parsing, tell_letters
from tvfsql.physical.operators import TableSourceScan
from tvfsql.physical.streams.dead_letters import OF_MESSAGES, PARSED, stops_at_bad_rows
from tvfsql.plan.node import Field
from tvfsql.plan.tables.internal_columns import ADDED, CHANNEL, TEXT
from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.types import BIGINT, BYTES, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, SqlType

# The metadata columns of Spark's messages.
SPARK_TYPES = {"topic": STRING, "partition": INT, "offset": BIGINT, "timestamp": TIMESTAMP_LTZ, "key": BYTES}
# Metadata that Spark has in another form, and headers as it writes them.
OTHER_FORM = {
    "headers": "coalesce(map_from_entries(headers), map())",  # the last one of a name, as in Flink
    "timestamp-type": "CASE timestampType WHEN 0 THEN 'CreateTime' WHEN 1 THEN 'LogAppendTime' "
    "ELSE 'NoTimestampType' END",
}
HEADERS = "array<struct<key: string, value: binary>>"


def read_messages(node: TableSourceScan, source: Kafka, module: PythonModule) -> Rows:
    """Load messages, parse keys and values, and select the columns of the scan."""
    read = {field.name for field in node.fields}
    loaded = Chain("spark.readStream" if node.streaming else "spark.read").then("format", literal(source.format))
    end = source.end or End()
    for option, value in (*source.options, *source.reading, *(() if node.streaming else end.options)):
        loaded = loaded.then("option", literal(option), option_value(value, module))
    if any(column.metadata == "headers" for name, column in node.source.metadata.items() if name in read):
        loaded = loaded.then("option", literal("includeHeaders"), literal("true"))
    rows = module.rows(node.source.name, loaded.then("load"))
    if end.kept and (node.streaming or not end.options):
        rows = rows.then("where", literal(end.kept))
    if isinstance(source, UpsertKafka):
        if node.versions:  # a message without a value ends the version of its key
            gone = Chain("F").then("expr", literal("CASE WHEN value IS NULL THEN -1L ELSE 1L END"))
            rows = rows.then("withColumn", literal(node.sign), gone)
        else:
            rows = rows.transform(module.need("tvfsql.runtime", "latest_messages"))
    rows = in_order(rows, node)
    sides = {field.name: source.side_of(field.name) for field in node.fields}
    needed = {*sides.values(), *("key" for name in sides if _of_key(name, node, source))}
    # of csv and json also a side that the query does not read, so that what it reads does not decide what is bad
    parsed = [
        side
        for side, part in source.parts.items()
        if part.format in PARSED or (side in needed and part.format not in ("raw", *OPTIONS))
    ]
    for side in parsed:
        rows = rows.then("withColumn", literal(side), _parsed(side, source.parts[side], node, module))
    texts = {
        side: text
        for side, part in source.parts.items()
        if side in {*parsed, *needed} and (text := _text(side, part, node))
    }
    if node.dead_letters is not None and not source.changes:
        text = f"coalesce({', '.join(texts.values())})" if texts else "CAST(NULL AS STRING)"
        paths = _paths(node, source, sides, [*texts]) or {"value": "value"}
        rows = tell_letters(rows, literal(text), node, module, paths)
        if module.of_dead_letters:
            return rows
    elif stopping := [side for side in parsed if _stops(source.parts[side])]:
        refuse = module.need("tvfsql.runtime", "refuse_unreadable")
        unread = [side for side in stopping if side not in needed or _may_be_unread(node)]
        given = [
            *(literal(side) for side in stopping if side not in unread),
            *([f"unread={literal(unread)}"] if unread else []),
        ]
        rows = rows.transform(refuse, *given)
        if paths := _paths(node, source, sides, stopping):
            rows = near_times(rows, MESSAGE, node, module, paths)
    for side in parsed:
        if source.parts[side].format in PARSED and not _stops(source.parts[side]):
            paths = _paths(node, source, sides, [side])
            rows = forgiven(rows, side, source.parts[side].options, node, module, paths)
    if source.changes:
        of_value = [field for field in node.fields if sides[field.name] == "value"]
        keys = {column.metadata or "" for name, column in node.source.metadata.items() if name in read}
        told = [key for key in source.changes.metadata if key in keys]
        rows = captured(rows, source.changes, node, of_value, MESSAGE, module, told)
        if module.of_dead_letters:
            return rows
    wanted = (_column(field, sides[field.name], node, source, module) for field in node.fields)
    signs = [literal(node.sign)] if node.sign else []
    return rows.then("select", *wanted, *signs, *columns.names(part.name for part in node.arrival))


def _may_be_unread(node: TableSourceScan) -> bool:
    """Whether the query may read no column, as COUNT(*): a scan always has one."""
    return len([field for field in node.fields if field in node.source.physical]) == 1


def _of_key(name: str, node: TableSourceScan, source: Kafka) -> bool:
    """Whether a column is read from the key of messages that have no value."""
    return node.versions and isinstance(source, UpsertKafka) and name in source.replaces_by


def _text(side: str, part: Part, node: TableSourceScan) -> str | None:
    """The SQL for the text of messages that cannot be read; None if all can."""
    if part.format in OF_MESSAGES:
        return f"{side}.{quoted(TEXT)}"
    count = bytes_of_raw(part, node.source.physical)
    return f"CASE WHEN OCTET_LENGTH({side}) <> {count} THEN HEX({side}) END" if count else None


def _paths(
    node: TableSourceScan, source: Kafka, sides: Mapping[str, str | None], those: Collection[str]
) -> dict[str, str]:
    """The SQL for each column of the scan that is in one of `those` sides."""
    held = ((field.name, side) for field in node.fields if (side := sides[field.name]) in those)
    raw = [side for side, part in source.parts.items() if part.format == "raw"]
    return {name: side if side in raw else f"{side}.{columns.reference(name)}" for name, side in held if side}


def as_messages(rows: Chain, table: Table, target: Kafka, module: PythonModule) -> Chain:
    """The rows of an INSERT as messages: their columns are the key (if the table has one), the value and written
    metadata. Where rows replace others by key, a retraction has no value: it is a tombstone.
    """
    parts = {side: _written(part, table, module) for side, part in target.parts.items()}
    if table.op is not None and target.replaces_by:
        added = _column_of(table.op).then("isin", *map(literal, ADDED))
        parts["value"] = Chain("F").then("when", added.flat(), parts["value"].flat())
    made = [part.then("alias", literal(side)) for side, part in parts.items()]
    for column in table.written:
        if column.metadata is not None:
            value = _column_of(column.name)
            if column.metadata == "headers":
                value = _as(Chain("F").then("map_entries", columns.name(column.name)), HEADERS)
            elif column.type == BIGINT:
                value = _as(value, "int")
            made.append(value.then("alias", literal(column.metadata)))
    return rows.then("select", *made)


def _parsed(side: str, part: Part, node: TableSourceScan, module: PythonModule) -> Chain:
    stored = _stored(part, node.source)
    told = _stops(part) or (node.dead_letters is not None and part.format in OF_MESSAGES)
    stored += f", {OF_TEXT}" if told or keeps_text(part.options) else ""
    if part.format in (AVRO, CONFLUENT):
        return _avro("from_avro", _column_of(side), stored, part, module)
    if part.format == PROTOBUF:
        return _protobuf("from_protobuf", _column_of(side), stored, part, module)
    text = _as(_column_of(side), "string").flat()
    options = parsing(part.options) if told else part.options
    return Chain("F").then(f"from_{part.format}", text, literal(stored), literal(dict(options)))


def _stops(part: Part) -> bool:
    """Whether Spark parses it, and a text that it cannot parse is an error or a dead letter."""
    return part.format in PARSED and stops_at_bad_rows(part.options)


def _stored(part: Part, table: Table) -> str:
    """The columns of a part in their order there, as DDL."""
    fields = {field.name: field for field in table.physical}
    return columns_ddl(fields[name] for name in part.columns)


def _avro(function: str, value: Chain, stored: str, part: Part, module: PythonModule) -> Chain:
    """A call of `from_avro` or `to_avro`, which has the schema and the subject; without a registry both have the
    schema.
    """
    given = dict(part.options)
    arguments = [value.flat(), literal(stored)]
    if part.format == AVRO:
        arguments += [f"schema={literal(given['schema'])}"]
        return Chain("", (Call(module.need("tvfsql.runtime", f"{function}_record"), tuple(arguments)),))
    if function == "to_avro":
        arguments += [f"{key}={literal(given[key])}" for key in ("schema", "subject")]
    arguments += [f"url={option_value(given['url'], module)}"]
    login = ", ".join(f"{literal(key)}: {option_value(given[key], module)}" for key in LOGIN if key in given)
    arguments += [f"login={{{login}}}"] if login else []
    return Chain("", (Call(module.need("tvfsql.runtime", function), tuple(arguments)),))


def _protobuf(function: str, value: Chain, stored: str, part: Part, module: PythonModule) -> Chain:
    """A call of `from_protobuf` or `to_protobuf`."""
    given = dict(part.options)
    arguments = [value.flat(), literal(stored)]
    arguments += [f"descriptor={literal(given['descriptor'])}", f"name={literal(given['message'])}"]
    if function == "from_protobuf" and given["defaults"] == "true":
        arguments += ["defaults=True"]
    if function == "to_protobuf" and given["null_text"]:
        arguments += [f"null_text={literal(given['null_text'])}"]
    return Chain("", (Call(module.need("tvfsql.runtime", function), tuple(arguments)),))


def _written(part: Part, table: Table, module: PythonModule) -> Chain:
    if part.format == "raw":
        (name,) = part.columns
        kind = next(column.type for column in table.columns if column.name == name)
        return _bytes_of(name, RAW_BYTES[kind]) if kind in RAW_BYTES else _column_of(name)
    if part.format in OPTIONS:
        assert isinstance(table.connector, Kafka) and table.connector.changes is not None, table.name
        fields = [field for name in part.columns for field in table.physical if field.name == name]
        return as_message(table, table.connector.changes, fields, module)
    options = {name: value for name, value in (*part.options, *part.written) if name != "mode"}  # the parser's mode
    struct = Chain("F").then("struct", *columns.names(part.columns))
    if part.format in (AVRO, CONFLUENT):
        return _avro("to_avro", struct, _stored(part, table), part, module)
    if part.format == PROTOBUF:
        return _protobuf("to_protobuf", struct, _stored(part, table), part, module)
    return Chain("F").then(f"to_{part.format}", struct, *([literal(options)] if options else []))


def _column(field: Field, side: str | None, node: TableSourceScan, source: Kafka, module: PythonModule) -> str | Chain:
    """A column of the scan, from parsed messages. `side`: whether it is in the key or in the value."""
    if field.name == CHANNEL:
        channel = Chain("F").then("concat_ws", '"-"', '"topic"', '"partition"')
        channel = channel if source.topic is None else _as(_column_of("partition"), "string")
        return channel.then("alias", literal(CHANNEL))
    if side is None:
        return _metadata(field, node, module)
    if side == "value" and _of_key(field.name, node, source):
        sides = (_column(field, side, replace(node, versions=False), source, module) for side in ("value", "key"))
        return Chain("F").then("coalesce", *sides).then("alias", literal(field.name))
    if source.parts[side].format == "raw":
        value = _column_of(side) if field.type == BYTES else _as(_column_of(side), "string")
        if field.type in RAW_BYTES:
            value = _integer_of(side, field.type)
        return value.then("alias", literal(field.name))
    return literal(f"{side}.{columns.reference(field.name)}")


def _metadata(field: Field, node: TableSourceScan, module: PythonModule) -> str | Chain:
    key = node.source.metadata[field.name].metadata
    assert key is not None and isinstance(node.source.connector, Kafka), field.name
    if key in OTHER_FORM:
        return Chain("F").then("expr", literal(OTHER_FORM[key])).then("alias", literal(field.name))
    if field.type == (SPARK_TYPES.get(key) or node.source.connector.metadata[key][0]):
        return literal(key) if field.name == key else _column_of(key).then("alias", literal(field.name))
    if field.type == TIMESTAMP:
        clock = f"{module.need('tvfsql.runtime', 'local_time')}({literal(key)}, {literal(node.zone)})"
        return Chain(clock).then("alias", literal(field.name))
    return _as(_column_of(key), field.type.spark).then("alias", literal(field.name))


def _integer_of(side: str, kind: SqlType) -> Chain:
    """An integer from its bytes, the highest byte first."""
    count = RAW_BYTES[kind]
    number = f"CAST(CONV(HEX({side}), 16, -10) AS BIGINT)"
    if count < 8:  # values in the upper half are negative
        number = f"MOD({number} + {2 ** (8 * count - 1)}L, {2 ** (8 * count)}L) - {2 ** (8 * count - 1)}L"
    wrong = f"RAISE_ERROR('the {side} of a message has no {count} bytes, as {kind.ddl} has in format raw')"
    checked = f"CASE WHEN OCTET_LENGTH({side}) <> {count} THEN {wrong} ELSE CAST({number} AS {kind.ddl}) END"
    return Chain("F").then("expr", literal(checked))


def _bytes_of(name: str, count: int) -> Chain:
    """The bytes of an integer, the highest byte first."""
    digits = f"LPAD(HEX(CAST({quoted(name)} AS BIGINT)), 16, '0')"
    return Chain("F").then("expr", literal(f"UNHEX(RIGHT({digits}, {2 * count}))"))


def _column_of(name: str) -> Chain:
    return Chain("F").then("col", columns.name(name))


def _as(value: Chain, kind: str) -> Chain:
    return value.then("cast", literal(kind))
