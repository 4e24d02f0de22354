"""Tables whose changes say what the row of a key is now: upsert-kafka, and changelogs that say some changes twice. They
are read as versions, which temporal joins use as they are, and ChangelogNormalize turns into changes.
"""

from __future__ import annotations

from dataclasses import replace

from tvfsql.catalog import Table
from tvfsql.catalog.connectors.kafka import UpsertKafka
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import DUPLICATES
from tvfsql.plan.changelogs import ChangelogNormalize
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project, Scan
from tvfsql.plan.tables.internal_columns import OF_VERSION
from tvfsql.plan.values.scalar import column


def normalized(node: Node, table: Table, options: Options, span: Span, *, by_key: bool = False) -> Node:
    """The columns of a table, with its changes normalized if they say what the row of a key is now; `by_key`: they do.

    Raises BindError for a changelog with changes that come twice and no PRIMARY KEY, and UnsupportedError if nothing
    tells the order of changes.
    """
    streaming = options.streaming
    twice = by_key or (options[DUPLICATES] and table.reads_changes(streaming))
    if not twice and not (streaming and isinstance(table.connector, UpsertKafka)):
        return node
    if not table.primary_key:
        reason = f"{DUPLICATES.key} = 'true' needs a PRIMARY KEY of the changelog {table.name}"
        raise BindError(reason, span=span, hint=f"PRIMARY KEY (k) NOT ENFORCED in CREATE TABLE {table.name}")
    rows = as_versions(node, table, streaming, span)
    scan = next(part for part in rows.walk() if isinstance(part, Scan))
    arrival = tuple(part.name for part in scan.arrival)
    time = table.watermark.column if table.watermark else ""
    return ChangelogNormalize(rows, table.primary_key, time, scan.sign, arrival, changelog=streaming, span=span)


def as_versions(node: Node, table: Table, streaming: bool, span: Span) -> Node:
    """The changes of a table as versions, with columns for their sign and their order. Raises UnsupportedError if
    nothing tells their order.
    """
    if isinstance(node, ChangelogNormalize):
        return node.input
    if isinstance(node, Project):
        below = as_versions(node.input, table, streaming, span)
        scan = next(part for part in below.walk() if isinstance(part, Scan))
        names = (scan.sign, *(part.name for part in scan.arrival))
        added = (Item(name, column(name, below.type_of(name))) for name in names)
        return replace(node, input=below, items=(*node.items, *added))
    assert isinstance(node, Scan), node
    arrival = table.arrival(streaming)
    if arrival is None or not (table.reads_changes(streaming) or isinstance(table.connector, UpsertKafka)):
        raise UnsupportedError(
            f"the changelog {table.name} cannot be read by its key: nothing tells which of its changes came last",
            span=span,
            hint="a changelog of kafka or filesystem, or a table whose rows are versions",
        )
    return replace(node, changelog=False, versions=True, sign=OF_VERSION, arrival=tuple(arrival))
