"""The formats avro and avro-confluent of `kafka`, with Flink's options: Avro messages whose schema is that of the
table's columns, or is in a registry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from tvfsql.catalog.connectors.avro_schema import LEGACY, LOCAL_MILLIS, MILLIS, Mapped, record_schema
from tvfsql.errors import Span
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values.types import TIMESTAMP, TIMESTAMP_LTZ, SqlType

AVRO, CONFLUENT = "avro", "avro-confluent"
URL, OLD_URL = "url", "schema-registry.url"
SUBJECT = "subject"
LOGIN = USER_INFO, TOKEN = "basic-auth.user-info", "bearer-auth.token"
# Options that say where the two before come from; Flink's only other place is the URL or an OAuth server.
SOURCES = {"basic-auth.credentials-source": "USER_INFO", "bearer-auth.credentials-source": "STATIC_TOKEN"}
NAMES = (URL, OLD_URL, SUBJECT, USER_INFO, TOKEN, *SOURCES)


def avro_options(
    options: TableOptions, side: str, columns: Mapping[str, SqlType], places: Mapping[str, Span]
) -> tuple[tuple[str, str], ...]:
    """Return the schema of the key or the value of a message. `side` is "key.", "value." or "". Raises UnsupportedError
    for a column that Avro cannot represent.

    Flink 2.3 writes a TIMESTAMP with more than 3 digits in milliseconds whatever its schema says.
    """
    for name in (f"{side}{AVRO}.{url}" for url in (URL, OLD_URL)):
        if name in options:
            raise options.error(name, "is not an option of avro", f"'{side}format' = '{CONFLUENT}' reads a registry")
    name = f"{side}{LEGACY}"
    if options.word(name, ("true", "false"), "true") == "true":
        mapped = Mapped(AVRO, {TIMESTAMP: MILLIS}, 3, {TIMESTAMP_LTZ: f"'{name}' = 'false'"})
    else:
        mapped = Mapped(AVRO, {TIMESTAMP: LOCAL_MILLIS, TIMESTAMP_LTZ: MILLIS}, 3)
    return (_schema(columns, mapped, places),)


def confluent_options(
    options: TableOptions,
    side: str,
    columns: Mapping[str, SqlType],
    places: Mapping[str, Span],
    topic: str | None,
) -> tuple[tuple[str, str], ...]:
    """Return the schema of what is written, url, subject, and what logs in to the registry; otherwise as
    `avro_options`. Raises BindError for a missing url.
    """
    prefix = f"{side}{CONFLUENT}."
    names = [name for name in (URL, OLD_URL) if f"{prefix}{name}" in options]
    found = {"url": options.text(f"{prefix}{names[0] if names else URL}", example="http://localhost:8081")}
    if "@" in found["url"]:
        hint = f"'{prefix}{USER_INFO}' = '${{ENV:REGISTRY_LOGIN}}'"
        raise options.error(f"{prefix}{names[0]}", "cannot hold a login", hint)
    for name in (USER_INFO, TOKEN):
        if f"{prefix}{name}" in options:
            found[name] = options.text(f"{prefix}{name}")
    for name, source in SOURCES.items():
        if f"{prefix}{name}" in options:
            options.word(f"{prefix}{name}", (source.lower(),))
    of_topic = f"{topic or ''}-{side.rstrip('.') or 'value'}"
    found["subject"] = options.text(f"{prefix}{SUBJECT}", of_topic)
    mapped = Mapped(CONFLUENT, {TIMESTAMP: MILLIS, TIMESTAMP_LTZ: MILLIS}, 9)
    return (*found.items(), _schema(columns, mapped, places))


def _schema(columns: Mapping[str, SqlType], mapped: Mapped, places: Mapping[str, Span]) -> tuple[str, str]:
    return "schema", json.dumps(record_schema(columns, mapped, places))
