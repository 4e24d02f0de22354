"""A client of schema registries: of Confluent, and of others with its REST API (`/schemas/ids`, `/subjects`).

Python's workers call it. A process keeps what it has learnt, as a schema never changes its number.
"""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from tvfsql.errors import DataError
from tvfsql.runtime.avro.limits import Schema
from tvfsql.runtime.messages.rows import BadMessage

JSON = "application/vnd.schemaregistry.v1+json"
TRIES, PAUSE, TIMEOUT = 4, 0.5, 20  # seconds
LONGEST = 30  # seconds that it waits because the registry asks for more
LARGEST = 0x7FFFFFFF  # the largest number of a schema
NO_SUCH_SCHEMA = 40403  # "error_code" of an answer 404; a wrong URL has another
LATER = (408, 429)  # the registry asks to come again, as it does by any 5xx
REMEMBERED = 60  # seconds that an unknown number is not asked for again
MOST_REMEMBERED = 10_000


@dataclass(frozen=True)
class Registry:
    """The registry at `url`; `user_info` is "name:password", `token` a bearer token, "" if there is none."""

    url: str
    user_info: str = ""
    token: str = ""

    def schema(self, number: int) -> Schema:
        """The parsed schema with a number. Raises BadMessage if there is none, or none that can be used, which is the
        fault of a message; DataError if the registry does not answer, or refuses to.
        """
        found = _unknown(number) if number > LARGEST or _is_remembered(self, number) else _found(self, number)
        if isinstance(found, Unusable):
            raise BadMessage(found.why)
        return found

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
            pause = PAUSE * (i + 1)
            try:
                with urlopen(request, timeout=TIMEOUT) as answer:
                    return json.load(answer)
            except HTTPError as error:
                if error.code < 500 and error.code not in LATER:
                    raise Refused(path, error) from None
                problem = f"{error.code} {error.reason}"
                after = str(error.headers.get("Retry-After", ""))
                pause = max(pause, min(int(after), LONGEST)) if after.isdecimal() else pause
            except (OSError, HTTPException, ValueError) as error:  # ValueError: it answers in another language
                problem = str(getattr(error, "reason", error))
            if i + 1 < TRIES:
                time.sleep(pause)
        raise DataError(f"the schema registry does not answer: {problem}", hint="check 'avro-confluent.url'")


class Refused(DataError):
    """The registry answers a request with an error; `code` is the one in its answer, or that of HTTP."""

    def __init__(self, path: str, error: HTTPError) -> None:
        try:
            answer = json.load(error)
            self.code, reason = int(answer.get("error_code", error.code)), str(answer["message"])
        except (ValueError, KeyError, TypeError, AttributeError):
            self.code, reason = error.code, f"{error.code} {error.reason}"
        super().__init__(f"the schema registry refuses {path}: {reason}")


@dataclass(frozen=True)
class Unusable:
    """A number by which no message can be read, and why."""

    why: str


def _found(registry: Registry, number: int) -> Schema:
    try:
        return _schema(registry, number)
    except Refused as refused:
        if refused.code != NO_SUCH_SCHEMA:
            raise
        if len(_missing) >= MOST_REMEMBERED:
            _missing.clear()
        _missing[registry, number] = time.monotonic() + REMEMBERED
        return _unknown(number)


@cache
def _schema(registry: Registry, number: int) -> Schema:
    import fastavro

    found = registry.ask(f"schemas/ids/{number}")
    if not isinstance(found, dict) or "schema" not in found:
        raise DataError("the schema registry answers without a schema", hint="check 'avro-confluent.url'")
    if (kind := found.get("schemaType", "AVRO")) != "AVRO":
        return Unusable(f"schema {number} of the registry is {kind}, not Avro")
    if found.get("references"):
        return Unusable(f"schema {number} of the registry refers to other schemas, which is not supported")
    try:
        return fastavro.parse_schema(json.loads(found["schema"]))
    except Exception as error:  # fastavro has several classes of its own, and recurses
        return Unusable(f"schema {number} of the registry cannot be used: {error!r}")


_missing: dict[tuple[Registry, int], float] = {}  # until when not to ask


def _is_remembered(registry: Registry, number: int) -> bool:
    return time.monotonic() < _missing.get((registry, number), 0)


def _unknown(number: int) -> Unusable:
    return Unusable(f"the registry has no schema {number} (was the message written with a schema registry?)")


@cache
def _number(registry: Registry, subject: str, schema: str) -> int:
    return int(registry.ask(f"subjects/{quote(subject, safe='')}/versions", {"schema": schema})["id"])
