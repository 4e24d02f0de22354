"""The format avro-confluent of `kafka`: Avro messages whose schemas are in a registry, with Flink's options."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tvfsql.errors import UnsupportedError
from tvfsql.plan.node import Field
from tvfsql.plan.table_options import TableOptions

AVRO = "avro-confluent"
URL, OLD_URL = "url", "schema-registry.url"
SUBJECT = "subject"
LOGIN = USER_INFO, TOKEN = "basic-auth.user-info", "bearer-auth.token"
# Options that say where the two before come from; Flink's only other place is the URL or an OAuth server.
SOURCES = {"basic-auth.credentials-source": "USER_INFO", "bearer-auth.credentials-source": "STATIC_TOKEN"}
NAMES = (URL, OLD_URL, SUBJECT, USER_INFO, TOKEN, *SOURCES)
KEYS = re.compile(r"map<(?!string\b)")  # Avro's maps have texts as keys


def avro_options(options: TableOptions, side: str, topic: str | None) -> tuple[tuple[str, str], ...]:
    """Return url, subject, and what logs in to the registry, for the key or the value of a message. `side` is "key.",
    "value." or "". Raises BindError for a missing url.
    """
    prefix = f"{side}{AVRO}."
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
    return tuple(found.items())


def refuse_columns(options: TableOptions, side: str, columns: Sequence[Field]) -> None:
    """Raise UnsupportedError for a column that Avro cannot represent."""
    for field in columns:
        if KEYS.search(field.type):
            raise UnsupportedError(
                f"{AVRO} has no maps with keys like those of {field.name}",
                span=options.spans.get(f"{side}format", options.table),
                hint="MAP<STRING, ...>",
            )
