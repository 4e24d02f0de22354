"""Rewrites plans of a script under test: tables become views with the rows of a step, and the clock is that of the
step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from tvfsql.catalog import Table, TableColumn
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.analysis.sharing import Reused, Shared
from tvfsql.plan.node import Node
from tvfsql.plan.tables.internal_columns import CHANNEL
from tvfsql.plan.values.scalar import Part, Proctime, Scalar, free_name
from tvfsql.plan.values.types import STRING

_CLOCK = re.compile(r"'(?:[^'\\]|\\.|'')*'|\b(?:current_timestamp|now)\(\)", re.IGNORECASE)


def given(table: Table) -> Table:
    """A table in the form in which a step fills it: a view with all columns that are not computed. If its connector
    reads changes from messages, it has a column `op`.
    """
    op, columns = table.op, tuple(part for part in table.columns if part.scalar is None)
    if op is None and table.is_changelog:
        op = free_name("op", lambda name: any(part.name.lower() == name.lower() for part in columns))
        columns = (TableColumn(op, STRING), *columns)
    return Table(view_of(table.name), columns, op=op)


def view_of(table: str) -> str:
    """The name of the table's view; a table's name can have dots."""
    return "tvfsql_test_" + re.sub(r"\W", lambda found: f"_{ord(found[0]):x}_", table)


def by_itself(plan: Node) -> Node:
    """A physical plan including the parts that it shares with others."""
    if isinstance(plan, Shared):
        return by_itself(plan.input)
    if isinstance(plan, Reused):
        return by_itself(plan.of.plan)
    return plan.over(by_itself)


def over_views(plan: Node, time: int) -> Node:
    """The physical plan over views, at a time (epoch ms)."""

    def clock(scalar: Scalar) -> Scalar:
        return _by_clock(scalar, f"TIMESTAMP_MILLIS({time})")

    def visit(node: Node) -> Node:
        if isinstance(node, TableSourceScan):
            stored = tuple(part for part in node.fields if part.name != CHANNEL)  # a view is one channel
            return replace(node, source=given(node.source), fields=stored, dead_letters=None)
        return cast(Node, _mapped(node, clock))

    return plan.transform(visit)


def tables_of(plan: Node) -> dict[str, Table]:
    """The tables that a physical plan reads, by name."""
    return {node.source.name: node.source for node in plan.walk() if isinstance(node, TableSourceScan)}


def looked_up_by(plan: Node) -> frozenset[str]:
    """The tables that a physical plan of a stream looks up: it reads no stream of them."""
    scans = [node for node in plan.walk() if isinstance(node, TableSourceScan)]
    streams = {node.source.name for node in scans if node.streaming}
    return frozenset(node.source.name for node in scans) - streams if streams else frozenset()


def _mapped(value: Any, of_scalar: Callable[[Scalar], Scalar]) -> Any:
    """The value with `of_scalar` applied to its scalars; inputs of an operator are left out."""
    if isinstance(value, Scalar):
        return of_scalar(value)
    if isinstance(value, tuple):
        parts = tuple(part if isinstance(part, Node) else _mapped(part, of_scalar) for part in value)
        return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    if not is_dataclass(value) or isinstance(value, type):
        return value
    new = {}
    for part in fields(value):
        old = getattr(value, part.name)
        made = old if isinstance(old, Node) else _mapped(old, of_scalar)
        if made is not old:
            new[part.name] = made
    return replace(value, **new) if new else value


def _by_clock(scalar: Scalar, now: str) -> Scalar:
    """The expression with its functions of the time replaced by `now`."""
    if scalar.lasting:
        return scalar
    parts: list[Part] = []
    for part in scalar.parts:
        if isinstance(part, Proctime):
            parts.append(f"date_trunc('MILLISECOND', {now})")
        elif isinstance(part, str):
            parts.append(_CLOCK.sub(lambda found: found[0] if found[0].startswith("'") else now, part))
        else:
            parts.append(part)
    return replace(scalar, parts=tuple(parts))
