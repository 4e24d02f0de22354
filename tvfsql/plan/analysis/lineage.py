"""Where the columns of a plan come from: for each, the columns of tables that its values are computed from, and for all
of them, those that decide which rows there are.

The words are OpenLineage's. A column is IDENTITY of another one, a TRANSFORMATION of its value, or an AGGREGATION of
several; rows depend on a column by FILTER, JOIN, GROUP_BY, SORT or WINDOW.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.joins import IntervalJoin, RegularJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    LookupJoin,
    Project,
    Scan,
    SetOperation,
    Sink,
    Sort,
    SparkSql,
    Unnest,
)
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.values.scalar import Ref, Scalar
from tvfsql.plan.window_nodes import WindowTableFunction

IDENTITY, TRANSFORMATION, AGGREGATION = HOW = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")  # the later one wins
Origin = tuple[str, str]  # a table and its column
REASONS: dict[type[Node], str] = {
    Aggregate: "GROUP_BY",
    Distinct: "GROUP_BY",
    Filter: "FILTER",
    IntervalJoin: "JOIN",
    Join: "JOIN",
    LookupJoin: "JOIN",
    RegularJoin: "JOIN",
    Sort: "SORT",
    TemporalJoin: "JOIN",
    WindowJoin: "JOIN",
}


@dataclass
class Lineage:
    """`columns`: the origins of each output column, and how it is made of them. `rows`: the origins that decide which
    rows there are, and why, in order. `unknown`: the columns whose origins are not known.
    """

    columns: dict[str, dict[Origin, str]] = field(default_factory=dict)
    rows: dict[tuple[Origin, str], None] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def of(self, names: Iterator[str] | frozenset[str], how: str) -> dict[Origin, str]:
        """The origins of what is computed in that way from some of the columns."""
        found: dict[Origin, str] = {}
        for name in sorted(names):
            for origin, before in self.columns.get(name, {}).items():
                found[origin] = max(found.get(origin, IDENTITY), how, before, key=HOW.index)
        return found


# What the columns of a query that Spark plans are made of: names of its inputs with their columns; None: unknown.
OfSpark = Callable[[SparkSql], "Mapping[str, Mapping[Origin, str]] | None"]


def lineage(plan: Node, of_spark: OfSpark) -> Lineage:
    """The lineage of a logical plan. `of_spark` reads the queries that Spark plans."""
    made: dict[int, Lineage] = {}

    def visit(node: Node) -> Lineage:
        if id(node) not in made:
            made[id(node)] = _of(node, [visit(child) for child in node.children], of_spark)
        return made[id(node)]

    return visit(plan)


def _of(node: Node, inputs: list[Lineage], of_spark: OfSpark) -> Lineage:
    below = Lineage()
    for each in inputs:
        below.columns |= each.columns
        below.rows |= each.rows
        below.unknown |= each.unknown
    match node:
        case Scan():
            return Lineage({part.name: {(node.table, part.name): IDENTITY} for part in node.fields})
        case Project():
            return _with(below, {item.name: _of_scalar(item.scalar, below) for item in node.items})
        case SetOperation(left, right):
            pairs = zip(left.columns, right.columns, strict=True)
            merged = {a: _merged(inputs[0].columns.get(a, {}), inputs[1].columns.get(b, {})) for a, b in pairs}
            return _with(below, merged)
        case SparkSql():
            return _of_spark_sql(node, inputs, below, of_spark)
        case Sink():
            return below
        case Distinct():
            below.rows |= {(origin, REASONS[Distinct]): None for origin in below.of(frozenset(node.columns), IDENTITY)}
            return below
        case Unnest():
            rows = below.of(frozenset({node.rows}), TRANSFORMATION)
            return _with(below, {name: below.columns.get(name, rows) for name in node.columns})
    calls = {call.name: call.columns for call in _parts(node, AggCall)}
    named = frozenset({*_read(node)}) & below.columns.keys()
    new: dict[str, dict[Origin, str]] = {}
    if isinstance(node, PatternMatch):
        new = {part.name: below.of(frozenset({part.column}), IDENTITY) for part in node.navigations}
        named = node.reads - {part.column for part in node.navigations} | {node.time, *node.partition}
    of_window = frozenset({node.time}) if isinstance(node, WindowTableFunction) else named
    for name in node.columns:
        if name in calls:
            new[name] = below.of(calls[name], AGGREGATION)
        elif name not in new:
            new[name] = below.columns[name] if name in below.columns else below.of(of_window, TRANSFORMATION)
    made = _with(below, new)
    made.rows |= {(origin, REASONS.get(type(node), "WINDOW")): None for origin in below.of(named, IDENTITY)}
    return made


def _with(below: Lineage, columns: dict[str, dict[Origin, str]]) -> Lineage:
    return Lineage(columns, {**below.rows}, {name for name in below.unknown if name in columns})


def _of_scalar(scalar: Scalar, below: Lineage) -> dict[Origin, str]:
    return below.of(scalar.columns, IDENTITY if scalar.column is not None else TRANSFORMATION)


def _merged(one: Mapping[Origin, str], other: Mapping[Origin, str]) -> dict[Origin, str]:
    return {
        origin: max(one.get(origin, IDENTITY), other.get(origin, IDENTITY), key=HOW.index)
        for origin in {**one, **other}
    }


def _of_spark_sql(node: SparkSql, inputs: list[Lineage], below: Lineage, of_spark: OfSpark) -> Lineage:
    """What is known of a query that Spark plans: nothing of what decides on its rows."""
    found, by_name = of_spark(node), dict(zip(node.names, inputs, strict=True))
    made = Lineage({}, {**below.rows}, {*node.columns} if found is None else set())
    for name in node.columns:
        made.columns[name] = {}
        for (table, column), how in sorted((found or {}).get(name, {}).items()):
            origins = by_name[table].of(frozenset({column}), how) if table in by_name else {}
            made.columns[name] = _merged(made.columns[name], origins)
    return made


def _read(node: Node) -> Iterator[str]:
    """The names of columns in the operator itself, but for those in aggregate calls."""
    for scalar in _parts(node, Scalar):
        yield from (part.name for part in scalar.parts if isinstance(part, Ref))
    yield from _parts(node, str)


def _parts(node: Node, kind: type[Any]) -> Iterator[Any]:
    """The values of a class in an operator, without its inputs; nothing within an aggregate call but the call."""

    def found(value: Any) -> Iterator[Any]:
        if isinstance(value, kind):
            yield value
        elif isinstance(value, tuple):
            for part in value:
                yield from found(part)
        elif is_dataclass(value) and not isinstance(value, (Node, AggCall, Scalar)):
            for each in fields(value):
                yield from found(getattr(value, each.name))

    for each in fields(node):
        yield from found(getattr(node, each.name))
