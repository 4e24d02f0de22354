"""Whether two parts of a plan have the same rows, also where their columns differ in name, number or order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Filter, Project, Scan
from tvfsql.plan.values.scalar import Scalar, column
from tvfsql.plan.window_nodes import WindowTableFunction

Columns = Mapping[str, str]


def same_rows(one: Node, other: Node) -> Columns | None:
    """For columns of `other` the columns of `one` with the same values, if both have the same rows; else None.

    A column of `other` that `one` lacks has no entry. Knows projections, filters, window functions and aggregates over
    tables that are read alike. Expressions whose value can differ between two evaluations make rows differ.
    """
    base, shown = _without_projections(one)
    other_base, other_shown = _without_projections(other)
    names = _same(base, other_base)
    if names is None:
        return None
    moved = {name: _moved(scalar, names) for name, scalar in other_shown.items()}
    known = {scalar: name for name, scalar in reversed(shown.items()) if scalar.lasting}
    return {name: known[scalar] for name, scalar in moved.items() if scalar in known}


def _same(one: Node, other: Node) -> Columns | None:
    """The same for two operators that are not projections."""
    match one, other:
        case Scan(changelog=False, looked_up=False), Scan():
            return {name: name for name in one.columns} if one == other else None
        case Filter(), Filter():
            names = same_rows(one.input, other.input)
            known = names is not None and {_moved(condition, names) for condition in other.conditions}
            lasting = all(condition.lasting for condition in one.conditions)
            return names if lasting and known == {*one.conditions} else None
        case WindowTableFunction(), WindowTableFunction():
            names = same_rows(one.input, other.input)
            if names is None or not {other.time, *other.partition} <= names.keys():
                return None
            partition = tuple(names[name] for name in other.partition)
            if replace(other, input=one.input, time=names[other.time], partition=partition) != one:
                return None
            added = one.columns[len(one.input.columns) :]
            return {**names, **{name: name for name in added}}
        case Aggregate(), Aggregate():
            return _same_groups(one, other)
    return None


def _same_groups(one: Aggregate, other: Aggregate) -> Columns | None:
    """The same for two aggregates. One may compute more than the other."""
    names = same_rows(one.input, other.input)
    if names is None or not {*other.keys} <= names.keys() or {names[key] for key in other.keys} != {*one.keys}:
        return None
    columns = {name: column(of) for name, of in names.items()}
    found = {key: names[key] for key in other.keys}
    for call in other.calls:
        if call.columns <= names.keys() and all(argument.lasting for argument in call.arguments):
            moved = call.over(columns)
            own = next((own.name for own in one.calls if replace(moved, name=own.name) == own), None)
            found |= {call.name: own} if own else {}
    return found


def _without_projections(node: Node) -> tuple[Node, dict[str, Scalar]]:
    """The first operator below that is not a projection, and the columns of `node` as expressions over it."""
    shown = {part.name: column(part.name, part.type) for part in node.schema}
    while isinstance(node, Project):
        below = {item.name: item.scalar for item in node.items}
        shown = {name: scalar.substitute(below) for name, scalar in shown.items()}
        node = node.input
    return node, shown


def _moved(scalar: Scalar, names: Columns) -> Scalar | None:
    """The expression over the other columns; None if one is missing."""
    return scalar.renamed(names) if scalar.columns <= names.keys() else None
