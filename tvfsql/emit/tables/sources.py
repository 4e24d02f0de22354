"""Emits code that reads tables, by connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tvfsql.bind.scalar import text_literal
from tvfsql.catalog.connectors import Connector, Generated, Kafka, Managed, SparkCatalog
from tvfsql.catalog.connectors.formats import keeps_text
from tvfsql.catalog.connectors.spark_catalog import DELTA
from tvfsql.emit import columns
from tvfsql.emit.python_module import Call, Chain, PythonModule, Rows, literal, option_value
from tvfsql.emit.tables.changes import captured, in_order
from tvfsql.emit.tables.dead_letters import FILE, OF_TEXT, columns_ddl, forgiven, near_times, parsing, tell_letters
from tvfsql.emit.tables.kafka import read_messages
from tvfsql.physical.operators import TableSourceScan
from tvfsql.physical.streams.dead_letters import OF_COLUMNS, OF_MESSAGES, PARSED, stops_at_bad_rows
from tvfsql.plan.node import Field
from tvfsql.plan.tables.delta_paths import folder_of
from tvfsql.plan.tables.file_order import FileOrder
from tvfsql.plan.tables.internal_columns import ADDED, BEFORE_UPDATE, REMOVED, TEXT
from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.types import INT, SMALLINT, TINYINT, SqlType

RUNTIME = "tvfsql.runtime"
STREAM = "tvfsql.runtime.stream"
SMALL = (TINYINT, SMALLINT)
NO_TEXT = "CAST(NULL AS STRING)"  # of a row that Spark reads in any case
SOURCES = {"datagen": "DatagenSource", "faker": "FakerSource", "nexmark": "NexmarkSource"}
# A stream passes over files that are older than the newest one by more than this, by default 7 days. Unless a table has
# the option, files of any age are read: Spark then remembers the names of all, which are in its log anyway.
AGE, ANY_AGE = "maxFileAge", "1000000d"
SUBFOLDERS = "recursiveFileLookup"
PRUNING = "columnPruning"
OF_LISTS = (SUBFOLDERS, "pathGlobFilter")  # the options that say which files a folder has
# How Spark reads a list of files: all of them, anew in each micro-batch.
AS_LISTED = ((SUBFOLDERS, "true"), ("maxCachedFiles", "0"))
SCHEME = "^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?"  # and the authority, before the path of a URI


def read_table(node: TableSourceScan, module: PythonModule) -> Rows:
    """The rows of a table, with the columns of the scan."""
    source = node.source.connector
    if node.sign and node.source.op is not None:
        return _signed(node, node.source.op, module)
    table = node.source.name
    if source is None:
        rows = in_order(module.rows(table, Chain("spark").then("table", columns.name(table))), node)
        narrow = node.fields != node.source.physical  # set operations match columns by position
        return rows.then("select", *columns.names(node.columns)) if narrow else rows
    if isinstance(source, SparkCatalog):
        return module.rows(table, _of_catalog(node, source, module))
    if isinstance(source, Kafka):
        return read_messages(node, source, module)
    if source.changes:
        messages = in_order(module.rows(table, _loaded(node, source, _reader(node, source), module)), node)
        values = (literal(f"value.{columns.reference(field.name)}") for field in node.fields)
        changes = captured(messages, source.changes, node, node.fields, FILE, module)
        if module.of_dead_letters:
            return changes
        return changes.then("select", *values, literal(node.sign), *columns.names(part.name for part in node.arrival))
    fields = node.source.physical
    parts = node.source.partitioned_by if source.of_files else ()
    if isinstance(source, Generated):
        module.once(Chain("spark.dataSource").then("register", module.need(RUNTIME, SOURCES[source.format])))
        fields = node.fields or fields[:1]  # only these are generated
    reader = _reader(node, source)
    if source.takes_schema:
        reader = reader.then("schema", literal(_schema(fields, parts, node, source)))
    rows = in_order(module.rows(table, _loaded(node, source, reader, module)), node)
    if node.dead_letters is not None:
        rows = tell_letters(rows, literal(quoted(TEXT) if source.format in PARSED else NO_TEXT), node, module)
        if module.of_dead_letters:
            return rows
    elif source.format in PARSED and not stops_at_bad_rows(source.options):
        rows = forgiven(rows, "", source.options, node, module)
    elif source.format in OF_MESSAGES:
        rows = near_times(rows, FILE, node, module)
    elif source.format in OF_COLUMNS and not isinstance(source, Managed):  # the file would be a column of the scan
        rows = near_times(rows, text_literal(source.path or "").sql, node, module)
    if not source.takes_schema:
        wanted = (
            Chain("F").then("col", columns.name(field.name)).then("cast", literal(field.type.spark))
            for field in node.fields
        )
        return rows.then("select", *wanted)
    if any(_stored(field, source) != field.type for field in node.fields):
        arrival = columns.names(part.name for part in node.arrival)
        return rows.then("select", *(_checked(field, source) for field in node.fields), *arrival)
    if node.fields != fields or parts:  # Spark has the columns of folders last
        return rows.then("select", *columns.names(node.columns))
    return rows


def _schema(fields: Sequence[Field], parts: Sequence[str], node: TableSourceScan, source: Connector) -> str:
    """The columns as Spark is to read them, as DDL. Those of folders (`parts`) come last, where Spark puts them once it
    knows the folders: a stream that starts without files takes columns by position.
    """
    stored = {field.name: replace(field, type=_stored(field, source)) for field in fields}
    of_files = columns_ddl(field for name, field in stored.items() if name not in parts)
    parts = () if node.streaming and source.order is not None and source.is_folder else parts  # these are added later
    told = node.dead_letters is not None and source.format in PARSED
    text = OF_TEXT if told or keeps_text(source.options) else ""
    return ", ".join(filter(None, (of_files, text, columns_ddl(stored[name] for name in parts if name in stored))))


def _of_catalog(node: TableSourceScan, source: SparkCatalog, module: PythonModule) -> Chain:
    """A table of Spark's catalogs, or its changes. If it may have other types than those declared, its columns are cast
    to these.
    """
    feed = source.feed and source.reads_changes(node.streaming)
    rows = Chain("spark")
    if node.streaming or source.options:
        rows = rows.get("readStream" if node.streaming else "read")
    for key, value in (*source.options, *_of_any_age(node, source)):
        rows = rows.then("option", literal(key), literal(value))
    if feed and source.format == DELTA:
        rows = rows.then("option", '"readChangeFeed"', '"true"')
    folder = folder_of(source.table) if node.streaming else None  # Delta's streams do not take such a name
    if folder is not None:
        rows = rows.then("format", '"delta"').then("load", literal(folder))
    else:
        rows = rows.then("changes" if feed and source.format != DELTA else "table", literal(source.table))
    if source.exact and node.fields == node.source.physical and not node.source.is_changelog:
        return rows
    wanted: list[str | Chain] = [
        columns.name(part.name)
        if source.exact
        else Chain("F").then("col", columns.name(part.name)).then("cast", literal(part.type.spark))
        for part in node.fields
    ]
    if node.sign:
        sign = Chain(f'{module.need(RUNTIME, "feed_kind" if node.kinds else "feed_sign")}("_change_type")')
        wanted.append(sign.then("alias", literal(node.sign)))
    return rows.then("select", *wanted)


def _stored(field: Field, source: Connector) -> SqlType:
    """The type as which Spark is to read a column. From Parquet it would cut an INT to the bits of a smaller type."""
    cut = source.format == "parquet" and not isinstance(source, Managed)
    return field.type.transform(lambda kind: INT if kind in SMALL else kind) if cut else field.type


def _checked(field: Field, source: Connector) -> str | Chain:
    """A column of its own type. An error if it is read as a larger one, and a value does not fit."""
    if _stored(field, source) == field.type:
        return columns.name(field.name)
    cast = Chain("F").then("col", columns.name(field.name)).then("cast", literal(field.type.spark))
    return cast.then("alias", columns.name(field.name))


def _signed(node: TableSourceScan, op: str, module: PythonModule) -> Rows:
    """The changes of a table, with their sign computed from the operation in column `op`."""
    stored = node.source.physical
    read = tuple(field for field in stored if field in node.fields or field.name == op)
    read += tuple(field for field in node.fields if field not in stored)
    rows = read_table(replace(node, fields=read, sign=""), module)
    codes = dict(node.source.codes)
    sign = change_column(op, codes, node.kinds, module).then("alias", literal(node.sign))
    kept = (field.name for field in node.fields)
    for code in _of(codes, (BEFORE_UPDATE,)) if codes else [BEFORE_UPDATE]:
        if node.versions:  # the update that follows is the next version
            rows = rows.then("where", literal(f"{quoted(op)} IS DISTINCT FROM {text_literal(code)}"))
    return rows.then("select", *columns.names(kept), sign, *columns.names(part.name for part in node.arrival))


def change_column(op: str, codes: Mapping[str, str], kinds: bool, module: PythonModule) -> Chain:
    """The sign of a change, or with `kinds` its operation, as the column `op` says. Without `codes` it has the
    operations.
    """
    arguments = [columns.name(op)]
    if codes:
        arguments += [literal(dict(codes))] if kinds else [literal(_of(codes, each)) for each in (ADDED, REMOVED)]
    return Chain("", (Call(module.need(RUNTIME, "change_kind" if kinds else "change_sign"), tuple(arguments)),))


def _of(codes: Mapping[str, str], kinds: Sequence[str]) -> list[str]:
    """The codes of some operations."""
    return [code for code, kind in codes.items() if kind in kinds]


def _reader(node: TableSourceScan, source: Connector) -> Chain:
    return Chain("spark.readStream" if node.streaming else "spark.read").then("format", literal(source.format))


def _loaded(node: TableSourceScan, source: Connector, rows: Chain, module: PythonModule) -> Chain:
    told = node.dead_letters is not None and source.format in PARSED
    options = [*(parsing(source.options) if told else source.options), *_whole_rows(source)]
    lists = (*_of_any_age(node, source), *_with_subfolders(node, source))
    if node.streaming and source.order is not None:
        options, lists = [pair for pair in options if pair[0] not in OF_LISTS], (*AS_LISTED, (AGE, ANY_AGE))
    for key, value in (*options, *lists):
        rows = rows.then("option", literal(key), option_value(value, module))
    if isinstance(source, Managed) or node.folders:
        path = path_of(source, module)
        if node.folders:
            rows, path = rows.then("option", '"basePath"', path), _chosen(node, path, module)
        loaded = rows.then("load", path)
        return loaded.then("where", _of_pattern(source.pattern)) if source.pattern else loaded
    if node.streaming and source.order is not None:
        loaded = rows.then("load", _listed(node, source, source.order, module))
        for name in node.source.partitioned_by if source.is_folder else ():
            kind = next(field.type for field in node.source.physical if field.name == name)
            value = Call(module.need(RUNTIME, "folder_value"), (literal(name), literal(kind.ddl)))
            loaded = loaded.then("withColumn", columns.name(name), Chain("", (value,)))
        return loaded.then("where", _of_pattern(source.pattern)) if source.pattern else loaded
    found = source.streamed_path if node.streaming else source.path
    loaded = rows.then("load", *([literal(found)] if found else []))
    return loaded.then("where", _of_pattern(source.pattern)) if source.pattern else loaded


def _chosen(node: TableSourceScan, path: str, module: PythonModule) -> str:
    """The expression for the folders that bounds select."""
    arguments = ["spark", path, literal(node.folders[0].column)]
    for name, sign in (("least", ">"), ("most", "<")):
        ends = [literal(each.end.sql) for each in node.folders if each.sign[0] in (sign, "=")]
        arguments += [f"{name}=[{', '.join(ends)}]"] if ends else []
    return Chain("", (Call(module.need(RUNTIME, "chosen_folders"), tuple(arguments)),)).flat()


def _listed(node: TableSourceScan, source: Connector, order: FileOrder, module: PythonModule) -> str:
    """The expression for the folder in which Spark finds the files of a table in an order."""
    arguments = ["spark", literal(source.path), literal(node.source.name), literal(order.by)]
    arguments += [f"formatter={literal(order.formatter)}"] if order.formatter else []
    arguments += [f"pattern={literal(source.pattern)}"] if source.pattern else []
    options = {**dict(_with_subfolders(node, source)), **{k: v for k, v in source.options if k in OF_LISTS}}
    if node.source.partitioned_by and source.is_folder:
        options[SUBFOLDERS] = "true"
    arguments += [f"{key}={literal(value)}" for key, value in options.items()]
    return Chain("", (Call(module.need(STREAM, "listed_files"), tuple(arguments)),)).flat()


def _of_pattern(pattern: str) -> Chain:
    """The condition that the absolute path of a row's file matches a regular expression."""
    path = f'F.regexp_replace("_metadata.file_path", {literal(SCHEME)}, "")'
    decoded = f'F.url_decode(F.replace({path}, F.lit("+"), F.lit("%2B")))'
    return Chain(decoded).then("rlike", literal(f"^(?:{pattern})$"))


def path_of(connector: Connector, module: PythonModule) -> str:
    """The expression for the path of a table of files. The folder of a table without a connector is made there."""
    path = literal(connector.path)
    return f"{module.need(RUNTIME, 'managed_folder')}({path})" if isinstance(connector, Managed) else path


def _of_any_age(node: TableSourceScan, source: Connector) -> tuple[tuple[str, str], ...]:
    """The option by which a stream reads files of any age."""
    own = any(key.lower() == AGE.lower() for key, _ in source.options)
    return ((AGE, ANY_AGE),) if node.streaming and source.of_files and not own else ()


def _whole_rows(source: Connector) -> tuple[tuple[str, str], ...]:
    """The option without which Spark only splits a row of CSV into the values that the query reads: it would not notice
    that others lack, or are too many, nor compare the whole header.
    """
    own = any(key.lower() == PRUNING.lower() for key, _ in source.options)
    return ((PRUNING, "false"),) if source.format == "csv" and not own else ()


def _with_subfolders(node: TableSourceScan, source: Connector) -> tuple[tuple[str, str], ...]:
    """The option by which Spark reads files in subfolders too. Without it folders with names like `day=1` would make
    columns that the table does not have."""
    own = any(key.lower() == SUBFOLDERS.lower() for key, _ in source.options)
    return ((SUBFOLDERS, "true"),) if source.is_folder and not node.source.partitioned_by and not own else ()
