"""What Spark's real-time mode takes of a stream: rows of topics that go into a topic one by one, without Python.

Its tasks run for as long as a micro-batch does, and pass each row on at once. Spark has a list of operators that can;
what it does not say about Python and about sources is refused here too. Source: docs/streams.md#real-time-mode.
"""

from __future__ import annotations

from collections.abc import Iterator

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import Kafka, UpsertKafka
from tvfsql.errors import Span, UnsupportedError
from tvfsql.options.known import INTERVAL, REAL_TIME
from tvfsql.physical.kinds import Kind, kind_of
from tvfsql.physical.operators import Calc, RowTimeCheck, TableSourceScan
from tvfsql.physical.sentences import sentence
from tvfsql.plan import nodes
from tvfsql.plan.node import Node, functions_in
from tvfsql.plan.stream import REAL_TIME as SHORTEST

FORMATS = ("csv", "json", "raw")  # those that Spark itself reads and writes
ROW_BY_ROW = (nodes.Sink, Calc, RowTimeCheck, TableSourceScan)
MICRO_BATCHES = f"RESET '{REAL_TIME.key}' runs it in micro-batches"


def refuse_in_real_time(plan: Node, sink: Table | None, interval: int) -> None:
    """Raise UnsupportedError if a stream cannot run in real-time mode. `interval`: the time between two checkpoints
    that the user has set (ms; 0: none)."""
    for reason, span in _reasons(plan, sink):
        raise UnsupportedError(f"real-time mode {reason}", span=span, hint=MICRO_BATCHES)
    if 0 < interval < SHORTEST:
        raise UnsupportedError(
            f"in real-time mode {INTERVAL.key} is at least {SHORTEST // 1000} s", hint=f"RESET '{INTERVAL.key}'"
        )


def _reasons(plan: Node, sink: Table | None) -> Iterator[tuple[str, Span | None]]:
    if sink is None:
        yield "writes into Kafka, and a SELECT prints its rows", None
    elif why := _of_table(sink):
        yield f"writes into Kafka, but {sink.name} {why}", plan.span
    if function := next(functions_in(plan), None):
        yield f"runs no Python, but {function.name} is a function in Python", plan.span
    for node in plan.walk():
        if isinstance(node, TableSourceScan):
            if why := _of_table(node.source):
                yield f"reads from Kafka, but {node.source.name} {why}", node.span
            if node.dead_letters is not None:
                yield f"writes one table, but {node.source.name} has dead letters", node.span
        elif kind_of(node) in (Kind.STATE, Kind.GATHER):
            yield f"keeps no rows, but the query {_first(node)}", node.span
        elif not isinstance(node, ROW_BY_ROW):
            yield f"takes rows one by one, but the query {_first(node)}", node.span


def _first(node: Node) -> str:
    """What an operator does, without what is said of it beside."""
    return sentence(node).partition(";")[0]


def _of_table(table: Table) -> str:
    """Why real-time mode cannot read or write a table; "": it can."""
    target = table.connector
    if not isinstance(target, Kafka) or isinstance(target, UpsertKafka):
        return f"has the connector {target.name}" if target is not None else "has no connector"
    others = sorted({part.format for part in target.parts.values()} - {*FORMATS})
    return f"has the format {others[0]}, which takes Python" if others else ""
