"""Tables as datasets: their namespace and name by OpenLineage's naming conventions, which other tools use too."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from tvfsql.catalog import Table
from tvfsql.catalog.connectors.kafka import SERVERS
from tvfsql.plan.node import Field
from tvfsql.secrets import without_passwords

OWN = "tvfsql"  # the namespace of what only this program has, such as a DataFrame
SCHEMES = {"s3a": "s3", "s3n": "s3", "postgresql": "postgres", "mariadb": "mysql"}  # under OpenLineage's names
PORTS = {"postgres": 5432, "mysql": 3306, "sqlserver": 1433, "oracle": 1521}
SCHEMAS = {"postgres": "public", "sqlserver": "dbo"}  # where a table without one is


@dataclass(frozen=True)
class Dataset:
    """A table as OpenLineage names it, with its stored columns."""

    namespace: str
    name: str
    fields: tuple[Field, ...] = ()


def datasets(table: Table) -> Iterator[Dataset]:
    """The datasets of a table: one, or one for each topic. They hold no passwords."""
    fields = tuple(Field(column.name, column.type) for column in table.columns if column.scalar is None)
    for namespace, name in _names(table):
        yield Dataset(namespace, name, fields)


def _names(table: Table) -> Iterator[tuple[str, str]]:
    connector, options = table.connector, dict(table.options)
    kind = connector.name if connector is not None else ""
    if kind in ("kafka", "upsert-kafka"):
        server = options.get(SERVERS, "").split(",")[0].strip()
        for topic in (options.get("topic") or options.get("topic-pattern") or table.name).split(";"):
            yield f"kafka://{server}", topic.strip()
    elif connector is not None and connector.path is not None:
        yield _of_path(connector.path)
    elif kind == "jdbc" and "url" in options:
        yield _of_database(options["url"], options.get("table-name") or options.get("dbtable") or table.name)
    elif kind == "spark-catalog":
        yield "spark", options.get("table-name", table.name)
    else:
        yield kind or OWN, table.name


def _of_path(path: str) -> tuple[str, str]:
    """A file or folder: `file` and its absolute path, or the bucket and the key in it."""
    url = urlsplit(path)
    if url.scheme in ("", "file"):
        return "file", os.path.abspath(unquote(url.path) if url.scheme else path)
    scheme = SCHEMES.get(url.scheme, url.scheme)
    container = f"{url.username}@" if scheme in ("abfss", "wasbs") and url.username else ""
    name = url.path if scheme == "hdfs" else url.path.strip("/") or "/"
    return f"{scheme}://{container}{_host(url.netloc)}", name


def _of_database(url: str, table: str) -> tuple[str, str]:
    """A table of a database: its server, and database.schema.table."""
    plain = without_passwords(url).removeprefix("jdbc:")
    kind = plain.partition(":")[0]
    scheme = SCHEMES.get(kind, kind)
    server, _, path = re.sub(r"^[^/@]*(@//|://|@)", "", plain).partition("/")
    server, *properties = server.split(";")
    named = dict(each.lower().partition("=")[::2] for each in properties)
    database = named.get("databasename") or named.get("database") or path.partition("?")[0]
    host = _host(server).split(",")[0]
    port = PORTS.get(scheme)
    if port and ":" not in host.rpartition("]")[2]:
        host = f"{host or 'localhost'}:{port}"
    parts = [part.strip('`"[]') for part in table.split(".")]
    if len(parts) == 1 and scheme in SCHEMAS:
        parts = [SCHEMAS[scheme], *parts]
    if database and len(parts) < (2 if scheme == "mysql" else 3):
        parts = [database, *parts]
    return f"{scheme}://{host}", ".".join(parts)


def _host(server: str) -> str:
    return server.rpartition("@")[2]
