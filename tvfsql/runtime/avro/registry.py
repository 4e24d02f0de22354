"""A client of schema registries: of Confluent, and of others with its REST API (`/schemas/ids`, `/subjects`).

Python's workers call it. A process keeps what it has learnt, as a schema never changes its number.
"""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from tvfsql.errors import DataError

JSON = "application/vnd.schemaregistry.v1+json"
TRIES, PAUSE, TIMEOUT = 4, 0.5, 20  # seconds
UNKNOWN_SCHEMA = 404


@dataclass(frozen=True)
class Registry:
    """The registry at `url`; `user_info` is "name:password", `token` a bearer token, "" if there is none."""

    url: str
    user_info: str = ""
    token: str = ""

    def schema(self, number: int) -> Any:
        """The parsed schema with a number. Raises DataError if there is none, or the registry does not answer."""
        return _schema(self, number)

    def number(self, subject: str, schema: str) -> int:
        """The number of a schema (JSON) of a subject, which is registered if it is new. Raises DataError if the
        registry refuses it, or does not answer.
        """
        return _number(self, subject, schema)

    def ask(self, path: str, sent: dict[str, str] | None = None) -> Any:
        """The answer of the registry to GET, or to POST if something is sent. Raises DataError."""
        headers = {"Accept": JSON, "Content-Type": JSON}
        if self.user_info:
            headers["Authorization"] = "Basic " + base64.b64encode(self.user_info.encode()).decode()
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if sent is None else json.dumps(sent).encode()
        request = Request(f"{self.url.rstrip('/')}/{path}", data, headers)
        for i in range(TRIES):
            try:
                with urlopen(request, timeout=TIMEOUT) as answer:
                    return json.load(answer)
            except HTTPError as error:
                if error.code < 500:
                    raise DataError(f"the schema registry refuses {path}: {_reason(error)}") from None
                problem = f"{error.code} {error.reason}"
            except (URLError, OSError, ValueError) as error:  # ValueError: it answers in another language
                problem = str(getattr(error, "reason", error))
            time.sleep(PAUSE * i)
        raise DataError(f"the schema registry does not answer: {problem}", hint="check 'avro-confluent.url'")


@cache
def _schema(registry: Registry, number: int) -> Any:
    import fastavro

    found = registry.ask(f"schemas/ids/{number}")
    if (kind := found.get("schemaType", "AVRO")) != "AVRO":
        raise DataError(f"schema {number} of the registry is {kind}, not Avro")
    if found.get("references"):
        raise DataError(f"schema {number} of the registry refers to other schemas, which is not supported")
    return fastavro.parse_schema(json.loads(found["schema"]))


@cache
def _number(registry: Registry, subject: str, schema: str) -> int:
    return int(registry.ask(f"subjects/{quote(subject, safe='')}/versions", {"schema": schema})["id"])


def _reason(error: HTTPError) -> str:
    try:
        return str(json.load(error)["message"])
    except (ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"
