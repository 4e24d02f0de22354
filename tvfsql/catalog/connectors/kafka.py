"""The `kafka` connector: topics whose messages are rows, with Flink's options.

A message has a key, a value and metadata. The value holds all columns of the table, or those that are not in the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from tvfsql.catalog.connectors.avro import AVRO, CONFLUENT, NAMES, avro_options, confluent_options
from tvfsql.catalog.connectors.avro_schema import LEGACY
from tvfsql.catalog.connectors.changes import OPTIONS, Changes, changes_of, known_changes
from tvfsql.catalog.connectors.connector import Connector
from tvfsql.catalog.connectors.formats import known_options, spark_options, written_options
from tvfsql.catalog.connectors.ignored import ignored_names
from tvfsql.catalog.connectors.kafka_offsets import RESET, WITH_MODES, End, end_of, from_time, start_of, starts_at_group
from tvfsql.catalog.connectors.protobuf import NAMES as OF_PROTOBUF
from tvfsql.catalog.connectors.protobuf import PROTOBUF, protobuf_options
from tvfsql.errors import BindError, OtherMode, Span, UnsupportedError, did_you_mean
from tvfsql.plan.node import Field
from tvfsql.plan.start_mode import Place, StartMode
from tvfsql.plan.tables.internal_columns import ARRIVAL
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

FORMATS = ("json", "csv", "raw", AVRO, CONFLUENT, PROTOBUF)
OF_FLINK = ("debezium-avro-confluent", "maxwell-json", "ogg-json")
GUARANTEES = ("sink.delivery-guarantee", "sink.semantic")  # the second is an older name
DELIVERIES = ("at-least-once", EXACTLY_ONCE := "exactly-once", "none")
FIELDS_INCLUDE = ("all", "except_key")
SERVERS = "properties.bootstrap.servers"
# A message's metadata and the types that it can be read as.
METADATA = {
    "topic": (types.STRING,),
    "partition": (types.INT, types.BIGINT),
    "offset": (types.BIGINT,),
    "timestamp": (types.TIMESTAMP_LTZ, types.TIMESTAMP),
    "timestamp-type": (types.STRING,),
    "headers": (types.Map(types.STRING, types.BYTES),),
    "key": (types.STRING, types.BYTES),
}
WRITABLE = ("headers", "key", "partition")
# the bytes of an integer in format raw
RAW_BYTES = {types.TINYINT: 1, types.SMALLINT: 2, types.INT: 4, types.BIGINT: 8}
Declared = Mapping[str, SqlType | None]  # the types of columns as written; None for those of a query
# Spark's options for reading; its other options duplicate those here.
SPARK_KAFKA = (
    "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay", "minPartitions", "maxRecordsPerPartition",
    "failOnDataLoss", "groupIdPrefix", "kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
)  # fmt: skip
# Spark's names for options that have a name in Flink.
SAID_OTHERWISE = {
    "kafka.bootstrap.servers": SERVERS, "subscribe": "topic", "subscribePattern": "topic-pattern",
    "startingOffsets": "scan.startup.mode", "startingTimestamp": "scan.startup.timestamp-millis",
    "endingOffsets": "scan.bounded.mode",
}  # fmt: skip
# Options that are only read together with others.
OTHERS = (
    "topic-pattern", "key.format", "key.fields", "value.format", *WITH_MODES,
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """The key or the value of a message: its format, its columns, and Spark's options of the format; `written` are
    those for writing only.
    """

    format: str
    columns: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    written: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Kafka(Connector):
    """A topic. `options` are those of the client, `reading` those of a source. `key` is None if it holds no columns."""

    reading: tuple[tuple[str, str], ...] = ()
    topic: str | None = None  # the topic that rows are written to; None: there are several topics
    key: Part | None = None
    value: Part = Part("json", ())
    from_latest: bool = False
    end: End | None = None
    messages: Changes | None = None
    of_group: bool = False  # whether it should start at the offsets of its consumer group
    exactly_once: str | None = None  # the option that asks for transactions, which Spark does not have

    def notes(self, table: str) -> tuple[str, ...]:
        found = self.messages.notes(table) if self.messages else ()
        if not self.of_group:
            return found
        start = "latest" if self.from_latest else "earliest"
        return (*found, f"table {table} starts at the {start} offset: offsets of its consumer group are not read")

    def started(self, mode: StartMode) -> Kafka:
        if mode.place in (Place.BEGINNING, None):
            return self
        others = [(name, value) for name, value in self.reading if not name.startswith("starting")]
        start = [("startingOffsets", "latest")] if mode.time is None else from_time(mode.time)
        return replace(self, reading=(*others, *start), of_group=False)

    @property
    def counts_rows(self) -> bool:
        return True

    @property
    def partitioned(self) -> bool:
        return True

    @property
    def changes(self) -> Changes | None:
        return self.messages

    @property
    def arrival(self) -> Mapping[Field, str]:
        return {Field(f"{ARRIVAL}offset", types.BIGINT): "offset", **self.arrival_in_message}

    @property
    def parts(self) -> dict[str, Part]:
        """The parts that hold columns: the key, if it has any, and the value."""
        return {**({"key": self.key} if self.key is not None else {}), "value": self.value}

    def side_of(self, column: str) -> str | None:
        """Whether a column is read from the value or from the key; None: from neither."""
        return next((side for side, part in reversed(self.parts.items()) if column in part.columns), None)

    @property
    def endless(self) -> bool:
        return self.end is None

    @property
    def package(self) -> str:
        return "spark-sql-kafka-0-10_2.13"

    @property
    def writing(self) -> tuple[tuple[str, str], ...]:
        return (*self.options, ("topic", self.topic or ""))

    @property
    def metadata(self) -> Mapping[str, tuple[SqlType, ...]]:
        """The possible metadata columns. A key that holds columns is not one."""
        own = {name: kinds for name, kinds in METADATA.items() if name != "key" or self.key is None}
        return own | (self.messages.metadata if self.messages else {})

    def refuse_batch(self, table: str) -> None:
        if self.from_latest:
            raise UnsupportedError(
                f"table {table} starts at the latest offset, so a batch query would read nothing",
                hint=OtherMode("streaming", f"'scan.startup.mode' = 'earliest-offset' in CREATE TABLE {table}"),
            )

    def refuse_insert(self, table: str, metadata: Mapping[str, str], overwrite: bool, span: Span) -> None:
        if overwrite:
            raise BindError("INSERT OVERWRITE does not work with Kafka", span=span, hint="INSERT INTO")
        if self.topic is None:
            raise BindError(
                f"{table} has several topics, so rows cannot be written to it",
                span=span,
                hint="INSERT INTO a table with a single topic",
            )
        if self.exactly_once:
            raise UnsupportedError(
                f"'{self.exactly_once}' = '{EXACTLY_ONCE}' is not supported: Spark writes to Kafka at least once",
                span=span,
                hint=f"'{self.exactly_once}' = 'at-least-once'; in 'connector' = 'upsert-kafka' a message that comes "
                "twice changes nothing",
            )
        for column, key in metadata.items():
            if key not in WRITABLE:
                hint = f"METADATA FROM '{key}' VIRTUAL in CREATE TABLE {table}"
                raise BindError(f"column {column} is metadata that cannot be written", span=span, hint=hint)


@dataclass(frozen=True)
class UpsertKafka(Kafka):
    """A topic of rows that replace those with the same key; a message without a value deletes its row. Streams read
    its messages as versions of a key, of which ChangelogNormalize makes changes.
    """

    @property
    def replaces_by(self) -> tuple[str, ...]:
        return self.key.columns if self.key is not None else ()


def bytes_of_raw(part: Part, columns: Sequence[Field]) -> int | None:
    """How many bytes each message of a part has; None: any number."""
    if part.format != "raw":
        return None
    return next((RAW_BYTES.get(field.type) for field in columns if field.name in part.columns), None)


def kafka(options: TableOptions, columns: Sequence[Field], places: Mapping[str, Span], declared: Declared) -> Kafka:
    """Return the topics that a WITH clause describes. `columns` are those of the messages, `places` the spans of their
    names, `declared` their types as written. Raises BindError.
    """
    for name in SAID_OTHERWISE:
        if name in options:
            raise options.error(name, "is an option of Spark, not of tvfsql", f"use '{SAID_OTHERWISE[name]}'")
    reading, topic = _topics(options)
    reading += start_of(options, topic)
    reading += [(name, options.text(name)) for name in SPARK_KAFKA if name in options]
    key, value = _parts(options, columns, places, declared, topic)
    end, of_group, client = end_of(options, topic), starts_at_group(options), _client(options)
    asked = [name for name in GUARANTEES if options.word(name, DELIVERIES, DELIVERIES[0]) == EXACTLY_ONCE]
    changes = _changes(options, value)
    known = (
        *SPARK_KAFKA,
        *OTHERS,
        *known_options("json"),
        *known_options("csv"),
        LEGACY,
        *OF_PROTOBUF,
        *(f"{CONFLUENT}.{name}" for name in NAMES),
    )
    options.refuse_unread(known, ignored_names("kafka"))
    from_latest = ("startingOffsets", "latest") in reading
    return Kafka(
        "kafka", "kafka", None, client, (), tuple(reading), topic, key, value, from_latest, end, changes, of_group,
        asked[0] if asked else None,
    )  # fmt: skip


UPSERT = {"name": "upsert-kafka", "exactly_once": None}  # a message that comes twice changes nothing


def upsert_kafka(
    options: TableOptions,
    columns: Sequence[Field],
    places: Mapping[str, Span],
    key: Sequence[str],
    op: str | None,
    declared: Declared,
) -> UpsertKafka:
    """Return a topic whose messages replace earlier ones with the same key, the table's primary key. `op` is the column
    of operations, if the table names one. Raises BindError.
    """
    if op is not None:
        hint = f"leave out 'changelog.op' and {op}"
        raise BindError("upsert-kafka needs no column of operations", span=places[op], hint=hint)
    if not key:
        hint = "PRIMARY KEY (k) NOT ENFORCED"
        raise BindError("connector upsert-kafka needs a primary key", span=options.table, hint=hint)
    for name in ("key.fields", "format", *(each for each in options.values if each.startswith("scan.startup."))):
        if name in options:
            raise options.error(name, "is not an option of upsert-kafka", "leave it out")
    for name in ("key.format", "value.format"):
        options.text(name, example="json")
    made = kafka(options.with_values({"key.fields": ";".join(key)}), columns, places, declared)
    if made.changes is not None:
        problem = f"cannot be {made.changes.format}, because its messages replace rows by key themselves"
        raise options.error("value.format", problem, "'value.format' = 'json', or 'connector' = 'kafka'")
    return UpsertKafka(**{field.name: getattr(made, field.name) for field in fields(made)} | UPSERT)


def _client(options: TableOptions) -> tuple[tuple[str, str], ...]:
    """The options `properties.*` under Spark's names."""
    options.text(SERVERS, example="localhost:9092")
    names = [key for key in options.given if key.startswith("properties.") and key.lower() != RESET]
    return tuple(("kafka." + name.removeprefix("properties."), options.text(name)) for name in names)


def _topics(options: TableOptions) -> tuple[list[tuple[str, str]], str | None]:
    """Spark's options for the subscription, and the topic if there is only one."""
    if "topic-pattern" in options:
        if "topic" in options:
            raise options.error("topic-pattern", "and topic cannot both be set", "leave out one of them")
        return [("subscribePattern", options.text("topic-pattern"))], None
    topics = [topic.strip() for topic in options.text("topic", example=options.called).split(";") if topic.strip()]
    if not topics:
        raise options.error("topic", "names no topic", f"'topic' = '{options.called}'")
    return [("subscribe", ",".join(topics))], topics[0] if len(topics) == 1 else None


def _parts(
    options: TableOptions, columns: Sequence[Field], places: Mapping[str, Span], declared: Declared, topic: str | None
) -> tuple[Part | None, Part]:
    """The contents of the key (None: no columns) and of the value."""
    names = tuple(field.name for field in columns)
    if "format" in options and "value.format" in options:
        raise options.error("value.format", "and format cannot both be set", "leave out one of them")
    side = "value." if "value.format" in options else ""
    include = options.word("value.fields-include", FIELDS_INCLUDE, "all")
    key: Part | None = None
    if "key.format" in options:
        fields = tuple(name for name in options.text("key.fields", example=";".join(names[:1])).split(";") if name)
        for name in fields:
            if name not in names:
                raise options.error("key.fields", f"names {name}, which is not a column", did_you_mean(name, names))
        key = _part(options, "key.", fields, columns, places, declared, topic)
    elif include == "except_key":
        raise options.error("value.fields-include", "needs key.fields", "'key.format' = 'json', 'key.fields' = 'item'")
    kept = tuple(name for name in names if include == "all" or key is None or name not in key.columns)
    return key, _part(options, side, kept, columns, places, declared, topic)


def _changes(options: TableOptions, value: Part) -> Changes | None:
    """The format of messages that are changes; None for plain rows."""
    side = "value." if "value.format" in options else ""
    known = {f"{side}{key}": key for key in known_changes(value.format)}
    given = {known[key]: options.text(key) for key in known if key in options}
    spans = {known[key]: options.spans[key.lower()] for key in known if key in options}
    return changes_of(value.format, given, spans) if value.format in OPTIONS else None


def _part(
    options: TableOptions,
    side: str,
    names: tuple[str, ...],
    columns: Sequence[Field],
    places: Mapping[str, Span],
    declared: Declared,
    topic: str | None,
) -> Part:
    if (form := options.given.get(f"{side}format", "").lower()) in OF_FLINK:
        hint = f"'{side}format' = 'json' or '{CONFLUENT}', or 'raw' and a Python function that reads the bytes"
        span = options.spans.get(f"{side}format", options.table)
        raise UnsupportedError(f"the format {form} is not supported", span=span, hint=hint)
    form = options.word(f"{side}format", FORMATS if side == "key." else (*FORMATS, *OPTIONS))
    kinds = {field.name: field.type for field in columns}
    if form == AVRO:
        if unknown := [name for name in names if declared.get(name) is None]:
            raise BindError(
                f"format avro needs columns with declared types, and {unknown[0]} has that of a query",
                span=options.spans.get(f"{side}format", options.table),
                hint=f"CREATE TABLE ... ({unknown[0]} {kinds[unknown[0]].flink}, ...), then INSERT INTO",
            )
        return Part(form, names, avro_options(options, side, _declared(names, kinds, declared), places))
    if form == PROTOBUF:
        return Part(form, names, protobuf_options(options, side, {name: kinds[name] for name in names}, places))
    if form == CONFLUENT:
        of_part = _declared(names, kinds, declared)
        return Part(form, names, confluent_options(options, side, of_part, places, topic))
    if form == "raw" and (len(names) != 1 or kinds[names[0]] not in (types.STRING, types.BYTES, *RAW_BYTES)):
        span = places[names[-1]] if names else options.table
        hint = f"'{side}format' = 'json'"
        raise BindError("format raw needs a single column: STRING, BYTES or an integer", span=span, hint=hint)
    for name in names:
        if form == "csv" and kinds[name].parts:
            problem = f"format csv does not support {kinds[name].flink}, the type of {name}"
            raise BindError(problem, span=places[name], hint=f"'{side}format' = 'json'")
    if form == "raw" and f"{side}raw.endianness" in options:
        options.word(f"{side}raw.endianness", ("big-endian",), "big-endian")
    given = {known: options.text(f"{side}{known}") for known in known_options(form) if f"{side}{known}" in options}
    spans = {known: options.spans[f"{side}{known}".lower()] for known in given}
    return Part(form, names, spark_options(form, given, spans), written_options(form, given))


def _declared(names: Sequence[str], kinds: Mapping[str, SqlType], declared: Declared) -> dict[str, SqlType]:
    return {name: declared.get(name) or kinds[name] for name in names}
