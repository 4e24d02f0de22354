"""Moves filters below set operations and operators that copy rows, and into the folders of tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Expand, Filter, Scan, SetOperation
from tvfsql.plan.values.scalar import Bound, Rising, Scalar, template
from tvfsql.plan.values.types import STRING, TIMESTAMP, UNKNOWN
from tvfsql.planner import rule


@rule
def push_filter_below_set_operation(node: Node, options: Options) -> Node | None:
    """Filter the rows of both sides.

    Before:
      Filter(where=[price > 10])
      +- SetOperation(kind=[union], all=[true])
         :- Scan(table=[bid], fields=[item, price])
         +- Scan(table=[auction], fields=[name, reserve])
    After:
      SetOperation(kind=[union], all=[true])
      :- Filter(where=[price > 10])
      :  +- Scan(table=[bid], fields=[item, price])
      +- Filter(where=[reserve > 10])
         +- Scan(table=[auction], fields=[name, reserve])

    Holds because equal rows pass or fail together, whichever side they come from, so filtering before or after a union,
    intersection or difference gives the same rows. Does not apply to a column whose types differ between the sides,
    because the condition would see the value before its conversion, nor to non-deterministic conditions.
    """
    match node:
        case Filter(SetOperation(left, right) as sides, conditions):
            alike = {
                a.name: b.name for a, b in zip(left.schema, right.schema, strict=True) if a.type == b.type != UNKNOWN
            }
            below, above = _parted(conditions, frozenset(alike))
            if below:
                theirs = tuple(one.renamed(alike) for one in below)
                return _filtered(replace(sides, left=Filter(left, below), right=Filter(right, theirs)), above)
    return None


@rule
def push_filter_below_expand(node: Node, options: Options) -> Node | None:
    """Filter rows before they are copied for grouping sets.

    Before:
      Filter(where=[price > 10])
      +- Expand(projects=[{item, price, 0 AS $e}, {NULL AS item, price, 1 AS $e}])
    After:
      Expand(projects=[{item, price, 0 AS $e}, {NULL AS item, price, 1 AS $e}])
      +- Filter(where=[price > 10])

    Holds because the copies of a row differ only in the keys of the sets, so they all pass or all fail. Does not apply
    to conditions on those keys, which are NULL in some copies.
    """
    match node:
        case Filter(Expand(source, keys) as expand, conditions):
            below, above = _parted(conditions, frozenset(source.columns) - set(keys))
            if below:
                return _filtered(replace(expand, input=Filter(source, below)), above)
    return None


@rule
def push_filter_below_gap_fill(node: Node, options: Options) -> Node | None:
    """Drop keys before their windows without rows are made.

    Before:
      Filter(where=[item = 'lamp' AND n = 0])
      +- GapFill(partitionBy=[item], window=[TUMBLE(win_end=[window_end], size=[1 min])], values=[n: 0], fill=[1 h])
    After:
      Filter(where=[n = 0])
      +- GapFill(partitionBy=[item], window=[TUMBLE(win_end=[window_end], size=[1 min])], values=[n: 0], fill=[1 h])
         +- Filter(where=[item = 'lamp'])

    Holds because the windows without rows of a key depend on the rows of that key only, and so do the rows that
    GAP_FILL adds. Conditions on windows and on results stay above: the row before a window, which is dropped, says
    which windows follow it, and what is in them.
    """
    match node:
        case Filter((GapFill(source, partition) | GridFill(source, partition)) as gaps, conditions):
            below, above = _parted(conditions, frozenset(partition))
            if below:
                return _filtered(replace(gaps, input=Filter(source, below)), above)
    return None


def _parted(conditions: tuple[Scalar, ...], columns: frozenset[str]) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Split conditions into those that read only (and at least one) of the columns, which can be moved, and the
    rest.
    """
    moving = tuple(one for one in conditions if one.columns and one.columns <= columns and one.deterministic)
    return moving, tuple(one for one in conditions if one not in moving)


def _filtered(node: Node, conditions: tuple[Scalar, ...]) -> Node:
    return Filter(node, conditions) if conditions else node


@rule
def choose_folders_by_time(node: Node, options: Options) -> Node | None:
    """In batch, read only the folders that have rows of the wanted times.

    Before:
      Filter(where=[bidtime >= x])
      +- Scan(table=[bid], fields=[item, bidtime, day])
    After:
      Filter(where=[bidtime >= x AND (day >= DATE_FORMAT(x, 'yyyy-MM-dd') OR day < '0' OR day IS NULL)])
      +- Scan(table=[bid], fields=[item, bidtime, day])

    Reason: a condition on a column of PARTITIONED BY selects folders without opening their files.

    Holds because CREATE TABLE says that the column is computed from the time: `day AS DATE_FORMAT(bidtime,
    'yyyy-MM-dd')`. It does not fall when the time rises, so what is not before x is not in a folder before that of x.
    Years before 0 or after 9999 begin with a sign, which is before the digits. Does not apply to columns computed from
    instants, whose days depend on a time zone, and which may fall when a clock is put back.
    """
    match node:
        case Filter(Scan() as scan, conditions) if not options.streaming and scan.of_folders and not scan.changelog:
            bounds = [each for one in conditions if one.deterministic for each in one.bounds]
            found = [one for each in bounds for one in _of_folders(each, scan)]
            new = tuple(one for one in dict.fromkeys(found) if one not in conditions)
            return replace(node, conditions=(*conditions, *new)) if new else None
    return None


def _of_folders(bound: Bound, scan: Scan) -> Iterator[Scalar]:
    """What a bound of a time says of the columns in the names of folders."""
    for name, value in scan.of_folders:
        if value.rising is None or value.rising.column != bound.column or name not in scan.columns:
            continue
        last = template("{end} - INTERVAL '0.000001' SECOND", {"end": bound.end}, bound.end.type, atomic=False)
        end = value.substitute({bound.column: last if bound.sign == "<" and bound.end.type == TIMESTAMP else bound.end})
        signed = "{column} < '0'" if value.type == STRING else ""
        for sign, others in ((">=", signed), ("<=", "")):
            if bound.sign[0] in (sign[0], "="):
                yield Rising(name).condition(sign, end, others, value.type)


# Conditions on window columns, as conditions on the time of rows, which a scan can use.
