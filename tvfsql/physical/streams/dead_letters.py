"""Dead letters: the table for rows and messages that a stream cannot read (`tvfsql.dead-letter`).

Source: docs/streams.md#dead-letters.
"""

from __future__ import annotations

from collections.abc import Iterable

from tvfsql.catalog import Catalog, Table
from tvfsql.catalog.connectors import Connector, Kafka, Managed
from tvfsql.catalog.connectors.kafka import bytes_of_raw
from tvfsql.errors import OptionError, did_you_mean
from tvfsql.options import Options
from tvfsql.options.known import DEAD_LETTER
from tvfsql.plan.values.types import STRING, is_time

PARSED = ("csv", "json")  # by Spark, in files and messages
OF_COLUMNS = ("parquet", "orc")  # files in which only a time can be bad
OF_MESSAGES = (*PARSED, "avro", "avro-confluent", "protobuf")
STRINGS = ("table_name", "place", "text", "error")
READ_AT = "read_at"


def dead_letter_table(source: Table, catalog: Catalog, options: Options) -> Table | None:
    """Return the table for the unreadable rows of `source`. None if the option is not set, or if no format of `source`
    can detect bad rows. Raises OptionError if the table cannot store them.
    """
    name = options[DEAD_LETTER]
    if not name or not options.streaming or not _is_parsed(source):
        return None
    found = catalog.find(name)
    if not isinstance(found, Table) or found.connector is None:
        hint = did_you_mean(name, catalog.names(Table)) or f"CREATE TABLE {name} (...) WITH (...)"
        raise OptionError(f"table {name} of {DEAD_LETTER.key} {'is a view' if found else 'does not exist'}", hint=hint)
    for part in found.physical:
        if part.name not in (*STRINGS, READ_AT):
            known = did_you_mean(part.name, (*STRINGS, READ_AT), otherwise="columns: ")
            raise OptionError(f"table {name} of {DEAD_LETTER.key} cannot have a column {part.name}", hint=known)
        if not (is_time(part.type) if part.name == READ_AT else part.type == STRING):
            hint = f"{part.name} {'TIMESTAMP_LTZ(3)' if part.name == READ_AT else 'STRING'}"
            raise OptionError(f"column {part.name} of {name} has the wrong type for {DEAD_LETTER.key}", hint=hint)
    if not found.connector.takes_micro_batches or _is_source(found.connector, source.connector):
        hint = "a table with a folder of its own, a Kafka topic, or print"
        raise OptionError(f"table {name} of {DEAD_LETTER.key} cannot be written by this stream", hint=hint)
    return found


def _is_source(target: Connector, source: Connector | None) -> bool:
    """Whether the target is the folder or the topic that the source reads."""
    if isinstance(target, Kafka):
        return isinstance(source, Kafka) and (target.topic, target.options) == (source.topic, source.options)
    return source is not None and target.path is not None and target.path == source.path


def _is_parsed(source: Table) -> bool:
    """Whether its rows are parsed by a format that can fail at a row."""
    connector = source.connector
    if connector is None:
        return False
    if connector.changes is not None:
        return True
    if isinstance(connector, Kafka):
        return any(
            (part.format in OF_MESSAGES and (part.format not in PARSED or stops_at_bad_rows(part.options)))
            or bytes_of_raw(part, source.physical)
            for part in connector.parts.values()
        )
    if connector.format in OF_COLUMNS:
        times = any(is_time(part) for column in source.physical for part in column.type.walk())
        return times and not isinstance(connector, Managed)
    return connector.format in PARSED and stops_at_bad_rows(connector.options)


def stops_at_bad_rows(options: Iterable[tuple[str, str]]) -> bool:
    """Whether a row that Spark cannot parse with these options is an error."""
    return dict(options).get("mode", "").upper() == "FAILFAST"
