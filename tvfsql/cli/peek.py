"""`tvfsql peek`: the first rows of a table, a file or a topic, with the types of its columns."""

from __future__ import annotations

import argparse
import re
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from tvfsql.cli.output import Exit
from tvfsql.cli.scripts import planning_session
from tvfsql.errors import DataError, OptionError

if TYPE_CHECKING:
    from tvfsql.api import Compiled, Session

TYPED = ("table", "markdown", "vertical")  # formats for people
TOPIC = re.compile(r"kafka://(?P<servers>[^/]+)/(?P<topic>[\w.-]+)")
MESSAGES = """CREATE TABLE messages (`partition` INT METADATA VIRTUAL, `offset` BIGINT METADATA VIRTUAL,
`timestamp` TIMESTAMP_LTZ(3) METADATA VIRTUAL, `key` STRING METADATA VIRTUAL, `value` STRING)
WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'raw')"""
FROM_FIRST = " /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */"


def peek(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.answers import Answers, tell_warnings
    from tvfsql.api import Result
    from tvfsql.runtime.host.status_line import working

    if (topic := TOPIC.fullmatch(given.source)) and not getattr(given, "remote", None):
        refuse_unreachable(topic["servers"])
    session = planning_session(given)
    query = first_rows(session, given.source, given.n)
    tell_warnings([query])
    with working("reading"):
        columns, types, rows = Result(session, query).rows()
    if given.format in TYPED:
        columns = [f"{part.name} {part.type.flink}" for part in query.physical.schema]
    sys.stdout.write(Answers(session, given.format).written(columns, types, rows))
    if not rows:
        print(f"{given.source} has no rows", file=sys.stderr)
    return Exit.OK


def refuse_unreachable(servers: str) -> None:
    """Raise DataError if no broker answers. Kafka's client would try for minutes."""
    for server in servers.split(","):
        host, _, port = server.rpartition(":")
        with suppress(OSError, ValueError, OverflowError), socket.create_connection((host, int(port)), timeout=5):
            return
    raise DataError(f"no broker answers at {servers}", hint="check the host and the port: kafka://HOST:PORT/TOPIC")


def first_rows(session: Session, source: str, count: int) -> Compiled:
    """The query of the first rows of a table, a file, or a topic `kafka://HOST:PORT/TOPIC`. Topics are read as they are
    now, from their first message on; only tables without any end are streams."""
    from tvfsql.api import Compiled
    from tvfsql.catalog import Table
    from tvfsql.catalog.connectors import Kafka
    from tvfsql.plan.values.names import backticked
    from tvfsql.runtime.batch.inferred_columns import format_of_name

    name = source
    if topic := TOPIC.fullmatch(source):
        list(session.script.outcomes(MESSAGES.format(**topic.groupdict())))
        name = "messages"
    elif source.endswith(".sql"):
        raise OptionError("peek takes a table, a file or a topic", hint=f"tvfsql peek -i {source} TABLE")
    found = session.catalog.find(name)
    if found is None and format_of_name(name) is not None:
        table = "'" + name.replace("'", "''") + "'"
    else:
        found = session.catalog.get(name)
        table = ".".join(map(backticked, name.split(".")))
    connector = found.connector if isinstance(found, Table) else None
    endless = connector is not None and connector.endless
    if session.script.mode is None:
        session.script.mode = "streaming" if endless and not isinstance(connector, Kafka) else "batch"
    hint = FROM_FIRST if isinstance(connector, Kafka) else ""
    *_, query = session.script.outcomes(f"SELECT * FROM {table}{hint} LIMIT {count}")
    assert isinstance(query, Compiled)
    return query
