"""The paths from an operator down to the sources and stateful operators that it reads, with what happens on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tvfsql.physical.operators import (
    Calc,
    Exchange,
    LateOutput,
    ProcessingTimeAssigner,
    RowTimeCheck,
    StreamUnion,
    StreamUpsertAggregate,
    TableSourceScan,
    UpsertMaterialize,
    WatermarkAssigner,
)
from tvfsql.physical.row_operators import (
    RowOperator,
)
from tvfsql.physical.window_operators import StreamSliceMerge
from tvfsql.plan import nodes
from tvfsql.plan.analysis.sharing import Reused, Shared
from tvfsql.plan.node import Node
from tvfsql.plan.tables.internal_columns import CONTROL
from tvfsql.plan.values.scalar import PROCTIME, Ref, Scalar, bare, column
from tvfsql.plan.values.scalar import text as text_of

TIME = "$time"  # the operator's time column, among the traced columns
CLOCK = f"CASE WHEN `{CONTROL}` IS NULL THEN {PROCTIME} END"  # the time of rows in processing time
PASSES = f"`{CONTROL}` IS NOT NULL OR ("  # the start of a condition that control rows satisfy too


@dataclass(frozen=True)
class Branch:
    """One path down from an operator, to a source or another stateful operator; `columns` are expressions over the
    columns there.
    """

    end: Node
    columns: Mapping[str, Scalar]
    where: tuple[str, ...]
    through: tuple[str, ...]


def branches_of_rows(node: Node, own: Sequence[str], time: str) -> list[Branch]:
    """The paths down for rows with these columns. Their time is one of them; it may be NULL in rows that a filter
    drops.
    """
    branches = branches_of(node, {**{name: column(name) for name in own}, TIME: column(time)})
    return [replace(each, columns={**each.columns, time: each.columns[TIME]}) for each in branches]


def branches_of(
    node: Node, columns: Mapping[str, Scalar], where: tuple[str, ...] = (), through: tuple[str, ...] = ()
) -> Iterator[Branch]:
    """The paths down from `node`; `columns` are expressions over its columns."""
    match node:
        case TableSourceScan() | StreamSliceMerge() | RowOperator() | StreamUpsertAggregate():
            yield Branch(node, columns, where, through)
        case Calc(below, items, conditions):
            made = {item.name: item.scalar for item in items}
            columns = {name: scalar.substitute(made) for name, scalar in columns.items()}
            where = (*where, *(_condition(one) for one in conditions))
            if TIME in columns:
                times = below.rowtime if isinstance(below, WatermarkAssigner) else None
                columns[TIME], passes = _without_condition(columns[TIME], times)
                where = (*where, *passes)
            yield from branches_of(below, columns, where, through)
        case StreamUnion() | nodes.SetOperation():
            for side in node.children:
                names = dict(zip(node.columns, side.columns, strict=False))
                moved = {name: scalar.renamed(names) for name, scalar in columns.items()}
                yield from branches_of(side, moved, where, through)
        case nodes.LookupJoin(left):
            yield from branches_of(left, columns, where, (*through, node.label()))
        case Reused():
            yield from branches_of(node.of.plan, columns, where, through)
        case (
            Exchange()
            | RowTimeCheck()
            | WatermarkAssigner()
            | ProcessingTimeAssigner()
            | LateOutput()
            | UpsertMaterialize()
            | Shared()
            | nodes.Sink()
        ):
            yield from branches_of(node.children[0], columns, where, through)
        case _:
            for child in node.children:
                yield from branches_of(child, columns, where, (*through, node.label()))


def _without_condition(time: Scalar, rowtime: Scalar | None) -> tuple[Scalar, tuple[str, ...]]:
    """Split a time that is NULL in rows that a filter drops into the plain time and the conditions of the filter."""
    text, conditions = str(time), list[str]()
    if (end := f" THEN {CLOCK} END") in text and text.startswith("CASE WHEN ") and text.endswith(end):
        return text_of(CLOCK), (text.removeprefix("CASE WHEN ").removesuffix(end),)
    inner = [str(column(part.name)) for part in time.parts if isinstance(part, Ref)]
    for name in (*([str(rowtime)] if rowtime is not None else []), *inner):
        end = f" THEN {name} END"
        if text != str(rowtime) and text.startswith("CASE WHEN ") and text.endswith(end):
            conditions.append(text.removeprefix("CASE WHEN ").removesuffix(end))
            same = rowtime if rowtime is not None and name == str(rowtime) else None
            return same or next(column(part.name) for part in time.parts if part == Ref(bare(name))), (*conditions,)
    return time, ()


def _condition(scalar: Scalar) -> str:
    text = str(scalar)
    return text.removeprefix(PASSES).removesuffix(")") if text.startswith(PASSES) else text


def traced(branches: Sequence[Branch], name: str) -> str:
    """The expressions of a column at the ends of the branches."""
    return " | ".join(dict.fromkeys(str(branch.columns[name]) for branch in branches))
