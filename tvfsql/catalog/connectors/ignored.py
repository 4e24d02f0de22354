"""Options of Flink's connectors and formats that do not change any row here. A table may set them; a warning says that
they have no effect. Options with values that would change rows are listed with the values that are accepted.

Source: the options of Flink 2.3, of its Kafka connector 4.0, and of tables in Confluent's cloud.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tvfsql.errors import BindError, Span

ANY: tuple[str, ...] = ()  # every value is accepted
Ignored = Mapping[str, tuple[str, ...]]


def _any(names: str) -> Ignored:
    return dict.fromkeys(names.split(), ANY)


OF_ALL = _any(
    "property-version scan.parallelism sink.parallelism source.parallelism scan.watermark.alignment.group "
    "scan.watermark.alignment.max-drift scan.watermark.alignment.update-interval scan.watermark.emit.on-event.gap"
)
# Options of tables in Confluent's cloud, where all tables are topics.
OF_TOPICS = (
    "connector error-handling.log.target error-handling.mode kafka.cleanup-policy kafka.compaction.time "
    "kafka.consumer.isolation-level kafka.max-message-size kafka.message-timestamp-type "
    "kafka.producer.compression.type "
    "kafka.retention.size kafka.retention.time key.fields-prefix key.format scan.bounded.mode scan.startup.mode "
    "value.fields-include value.format"
)
KAFKA: Ignored = {
    **_any(
        "scan.topic-partition-discovery.interval sink.buffer-flush.interval sink.buffer-flush.max-rows "
        "sink.partitioner sink.transactional-id-prefix sink.transaction-naming-strategy"
    ),
    "key.fields-prefix": ("",),
}
OF_CONNECTORS: dict[str, Ignored] = {
    "": {**_any(OF_TOPICS), "changelog.mode": ("append",)},
    "blackhole": {},
    "datagen": {},
    "faker": {},
    "filesystem": _any(
        "avro.timestamp_mapping.legacy "
        "auto-compaction compaction.file-size compaction.parallelism partition.default-name "
        "partition.time-extractor.class partition.time-extractor.kind partition.time-extractor.timestamp-formatter "
        "partition.time-extractor.timestamp-pattern sink.partition-commit.delay "
        "sink.partition-commit.policy.class sink.partition-commit.policy.class.parameters "
        "sink.partition-commit.policy.kind sink.partition-commit.success-file.name sink.partition-commit.trigger "
        "sink.partition-commit.watermark-time-zone sink.rolling-policy.check-interval sink.rolling-policy.file-size "
        "sink.rolling-policy.inactivity-interval sink.rolling-policy.rollover-interval "
        "sink.shuffle-by-partition.enable source.report-statistics"
    ),
    "kafka": KAFKA,
    "jdbc": _any(
        "connection.max-retry-timeout scan.fetch-size scan.auto-commit sink.buffer-flush.max-rows "
        "sink.buffer-flush.interval sink.max-retries lookup.cache lookup.max-retries lookup.cache.max-rows "
        "lookup.cache.ttl lookup.cache.caching-missing-key lookup.partial-cache.max-rows "
        "lookup.partial-cache.expire-after-write lookup.partial-cache.expire-after-access "
        "lookup.partial-cache.cache-missing-key"
    ),
    "nexmark": {
        **_any(
            "auction.avg-size bid.avg-size keep-alive max-emit-speed person.avg-size rate.limited rate.period "
            "rate.shape"
        ),
        "stop-at": ("-1",),
    },
    "upsert-kafka": KAFKA,
    "print": _any("print-identifier standard-error"),
}
MAPS = {"map-null-key.mode": ANY, "map-null-key.literal": ANY}  # Spark's maps have no NULL keys
CHANGES: Ignored = MAPS
OF_FORMATS: dict[str, Ignored] = {
    "avro": {**_any("codec"), "encoding": ("binary",)},
    "canal-json": CHANGES,
    "csv": {
        **_any("allow-trailing-comma array-element-delimiter write-bigdecimal-in-scientific-notation"),
        "fail-on-missing-columns": ("true",),
        "ignore-trailing-unmappable": ("false",),
        "empty-string-as-null": ("true",),
    },
    "debezium-json": CHANGES,
    "json": {
        **MAPS,
        **_any("decode.json-parser.enabled encode.decimal-as-plain-number"),
        "fail-on-missing-field": ("false",),
    },
    "orc": {},
    "parquet": _any("utc-timezone write.int64.timestamp timestamp.time.unit"),
    "raw": {"charset": ("utf-8",), "endianness": ("big-endian",)},
}
WHOLE = ("orc", "parquet")  # formats whose other options configure the file writers


def without_ignored(options: Mapping[str, str], spans: Mapping[str, Span]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the options of a WITH clause that have an effect, and the keys of those that have none.

    Raises BindError for a value that would change rows.
    """
    connector = options.get("connector", "")
    kept: dict[str, str] = {}
    ignored: list[str] = []
    for key, value in options.items():
        values = _values(key, connector)
        if values is None:
            kept[key] = value
        elif not values:
            ignored.append(key)
        elif value.lower() not in values:
            hint = " or ".join(f"'{each}'" for each in values)
            raise BindError(f"{key} cannot be {value!r}", span=spans[key], hint=hint)
    return kept, tuple(ignored)


def ignored_names(connector: str) -> tuple[str, ...]:
    """Names that a hint may suggest besides options with an effect."""
    formats = (f"{form}.{key}" for form, keys in OF_FORMATS.items() for key in keys)
    return (*OF_ALL, *OF_CONNECTORS.get(connector, ()), *formats)


def _values(key: str, connector: str) -> tuple[str, ...] | None:
    """The values of an option that have no effect, ANY for all; None: the option has an effect, or is unknown."""
    if connector not in OF_CONNECTORS:
        return None
    of_format = re.fullmatch(r"(?:key\.|value\.)?([a-z-]+)\.(.+)", key)
    if of_format and of_format[1] in OF_FORMATS:
        whole = ANY if of_format[1] in WHOLE else None
        if (values := OF_FORMATS[of_format[1]].get(of_format[2], whole)) is not None:
            return values
    return {**OF_ALL, **OF_CONNECTORS[connector]}.get(key)
