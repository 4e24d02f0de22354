"""Temporal joins: JOIN t FOR SYSTEM_TIME AS OF the event time of the left side. The right side is a versioned table:
its rows are the versions of a primary key.

A versioned table is a table with a PRIMARY KEY and a WATERMARK, or a query that keeps the last row of each key by event
time (ROW_NUMBER). Of the latter every row is a version, so its ranking is left out. Of a changelog each insert and each
update is a version, and a delete is the end of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tvfsql.bind.changelogs.by_key import as_versions
from tvfsql.bind.scope import Relation
from tvfsql.catalog import Catalog, Table
from tvfsql.catalog.connectors.kafka import UpsertKafka
from tvfsql.errors import Span, UnsupportedError
from tvfsql.plan.changelogs import ChangelogNormalize
from tvfsql.plan.joins import EqualPair, TemporalJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Item, Project, Scan, SparkSql
from tvfsql.plan.rank import RANK_TYPE, Rank
from tvfsql.plan.values.scalar import Scalar, column, template, text

DEDUPLICATED = "a view with ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n and WHERE n = 1"


@dataclass(frozen=True)
class Versions:
    """The versions of a table: their rows, their primary key, and their event time. `ranked_by` is the time by which a
    query keeps the last row of each key; None for a table. `sign` and `arrival` are the columns of a changelog that
    `TemporalJoin` reads.
    """

    node: Node
    key: tuple[str, ...]
    time: str
    ranked_by: str | None = None
    sign: str = ""
    arrival: tuple[str, ...] = ()

    def beside(self, node: Node, names: Mapping[str, str]) -> Versions:
        """The same versions with more columns. `names` maps each key column to the column that replaces it."""
        return replace(self, node=node, key=tuple(names[name] for name in self.key))

    def over(self, node: Node) -> Versions:
        """The same versions with other names for their columns, in the same order."""
        names = dict(zip(self.node.columns, node.columns, strict=True))
        return Versions(
            node,
            tuple(names[name] for name in self.key),
            names[self.time],
            self.ranked_by,
            names.get(self.sign, ""),
            tuple(names[name] for name in self.arrival),
        )


def versions_of(right: Relation, catalog: Catalog, streaming: bool, span: Span) -> Versions:
    """The versions of the table on the right side. Raises UnsupportedError if it is not a versioned table."""
    rows = right.node
    changes = _changes(rows, catalog)
    if changes is not None:
        rows = as_versions(rows, changes, streaming, span)
    node, key, ranked_by = _keyed(rows, catalog, span)
    if right.time is None or right.time not in node.columns:
        raise _no_time(_below(node, catalog), span)
    if ranked_by is not None and ranked_by != right.time:
        raise UnsupportedError(
            f"the last row of each key must be the last one by event time, {right.time}",
            span=span,
            hint=f"ORDER BY {right.time} DESC",
        )
    if changes is None:
        return Versions(node, key, right.time, ranked_by)
    scan = next(part for part in node.walk() if isinstance(part, Scan))
    return Versions(node, key, right.time, None, scan.sign, tuple(part.name for part in scan.arrival))


def _changes(node: Node, catalog: Catalog) -> Table | None:
    """The changelog whose rows these are; None if they are those of no changelog, or of an operator over one."""
    while isinstance(node, Project | ChangelogNormalize):
        node = node.input
    table = _below(node, catalog) if isinstance(node, Scan) else None
    return table if table is not None and (table.is_changelog or isinstance(table.connector, UpsertKafka)) else None


def temporal_join(
    left: Relation, versions: Versions, kind: str, time: str, conditions: Sequence[Scalar], span: Span
) -> Node:
    """The rows of the left side with their versions. `conditions` are those of ON.

    Raises UnsupportedError if they do not equate the primary key.
    """
    right = versions.node
    pairs: dict[str, EqualPair] = {}
    rest: list[Scalar] = []
    for one in conditions:
        pair = EqualPair.of(one, left.node, right)
        if pair is None or pair.right not in versions.key or pair.right in pairs:
            rest.append(one)
            continue
        kinds = [left.node.type_of(pair.left), right.type_of(pair.right)]
        if kinds[0] != kinds[1]:
            raise UnsupportedError(
                f"ON compares {kinds[0].flink} with the primary key, which is {kinds[1].flink}",
                span=one.span or span,
                hint=f"CAST(o.k AS {kinds[1].flink}) = r.k",
            )
        pairs[pair.right] = pair
    missing = [name for name in versions.key if name not in pairs]
    if missing:
        raise UnsupportedError(
            f"ON must equate the whole primary key with the left side, but lacks {', '.join(missing)}",
            span=span,
            hint=" AND ".join(f"o.{name} = r.{name}" for name in missing),
        )
    kinds = [left.node.type_of(time), right.type_of(versions.time)]
    if kinds[0] != kinds[1]:
        raise UnsupportedError(
            f"the event times of both sides differ in type: {kinds[0].flink} and {kinds[1].flink}",
            span=span,
            hint=f"declare both with one type: ts {kinds[0].flink}",
        )
    keys = tuple(pairs[name] for name in versions.key)
    made = TemporalJoin(left.node, right, kind, time, versions.time, keys, versions.sign, versions.arrival)
    return _meeting(replace(made, span=span), tuple(rest), span)


def _meeting(join: TemporalJoin, rest: tuple[Scalar, ...], span: Span) -> Node:
    """The join with further conditions. The version is chosen first: if it does not meet them, the row has none."""
    if not rest:
        return join
    if join.kind == "inner":
        return Filter(join, rest, span=span)
    if unsure := next((one for one in rest if not one.deterministic), None):
        raise UnsupportedError(
            "a condition of a LEFT JOIN with FOR SYSTEM_TIME AS OF must be deterministic",
            span=unsure.span or span,
            hint="JOIN, or a WHERE around the query",
        )
    every = " AND ".join(f"({{c{i}}})" for i in range(len(rest)))
    met = {f"c{i}": one for i, one in enumerate(rest)}
    pattern = f"CASE WHEN {every} THEN {{v}} END"
    own = tuple(Item(part.name, column(part.name, part.type)) for part in join.left.schema)
    others = (
        Item(part.name, template(pattern, {**met, "v": column(part.name, part.type)}, part.type))
        for part in join.right.schema
    )
    return Project(join, (*own, *others), span=span)


Keyed = tuple[Node, tuple[str, ...], str | None]  # rows, their primary key, the time by which the last ones are kept


def _keyed(node: Node, catalog: Catalog, span: Span) -> Keyed:
    """The rows of a versioned table, and its primary key."""
    table = _table(node, catalog)
    if table is not None:
        if not table.primary_key:
            raise UnsupportedError(
                f"a temporal join needs a PRIMARY KEY of {table.name}",
                span=span,
                hint=f"PRIMARY KEY (k) NOT ENFORCED in CREATE TABLE {table.name}"
                + ("" if table.is_changelog else f", or {DEDUPLICATED}"),
            )
        return node, table.primary_key, None
    match node:
        case Filter(below, (condition,)) if (last := _last_rows(below, condition)) is not None:
            if source := _below(below, catalog):
                _refuse_changes(source, span)
            return last
        case Filter(below) if any(isinstance(part, Rank | SparkSql) for part in below.walk()):
            raise UnsupportedError(
                "a versioned table keeps the last row of each key by event time, and nothing else",
                span=span,
                hint=DEDUPLICATED,
            )
        case Filter():
            raise UnsupportedError(
                "the versioned table of FOR SYSTEM_TIME AS OF cannot be filtered: "
                "an older version would then count as valid",
                span=span,
                hint="the condition in ON or WHERE",
            )
        case Project(below, items):
            rows, key, ranked_by = _keyed(below, catalog, span)
            names = {item.scalar.column: item.name for item in reversed(items) if item.scalar.column}
            if lacking := [name for name in key if name not in names]:
                raise UnsupportedError(
                    f"the view lacks {', '.join(lacking)}, of the primary key", span=span, hint="select it in the view"
                )
            by = names.get(ranked_by, ranked_by) if ranked_by is not None else None
            return replace(node, input=rows), tuple(names[name] for name in key), by
    raise UnsupportedError(
        "a temporal join needs a table with PRIMARY KEY and WATERMARK, or a view of its rows",
        span=span,
        hint=DEDUPLICATED,
    )


def _no_time(table: Table | None, span: Span) -> UnsupportedError:
    """The error for rows that have no event time."""
    if table is not None and table.watermark:
        lacking = f"the view lacks {table.watermark.column}, the column of the WATERMARK of {table.name}"
        return UnsupportedError(lacking, span=span, hint="select it in the view, unchanged")
    return UnsupportedError(
        f"a temporal join needs a WATERMARK of {table.name if table else 'the table'}",
        span=span,
        hint="WATERMARK FOR ts AS ts in CREATE TABLE, where ts is the time from which on a row is valid",
    )


def _below(node: Node, catalog: Catalog) -> Table | None:
    """The table below; the first one, if there are several."""
    scan = next((part for part in node.walk() if isinstance(part, Scan)), None)
    table = catalog.get(scan.table) if scan else None
    return table if isinstance(table, Table) else None


def _table(node: Node, catalog: Catalog) -> Table | None:
    """The table whose rows these are, with all its columns; None if the node is not a table."""
    scan = node.input if isinstance(node, Project) else node
    if not isinstance(scan, Scan):
        return None
    added = {scan.sign, *(part.name for part in scan.arrival)}
    if isinstance(node, Project) and scan.versions:
        node = replace(node, items=tuple(item for item in node.items if item.name not in added))
    table = catalog.get(scan.table)
    return table if isinstance(table, Table) and _is_whole(node, table) else None


def _is_whole(node: Node, table: Table) -> bool:
    if isinstance(node, Scan):
        return all(part.scalar is None for part in table.visible)
    assert isinstance(node, Project), node
    own = [(part.name, part.scalar or column(part.name, part.type)) for part in table.visible]
    return any(part.scalar for part in table.visible) and own == [(item.name, item.scalar) for item in node.items]


def _refuse_changes(table: Table, span: Span) -> None:
    if table.is_changelog or isinstance(table.connector, UpsertKafka):
        raise UnsupportedError(
            f"a versioned table cannot rank the rows of the changelog {table.name}",
            span=span,
            hint=f"{table.name} itself, with PRIMARY KEY and WATERMARK, or a view of its columns",
        )


def _last_rows(node: Node, condition: Scalar) -> Keyed | None:
    """All rows of a query that keeps the last row of each key; None if the condition on `node` does not do that."""
    match node:
        case Rank(source, "ROW_NUMBER", partition, (order,), _, name):
            first = str(condition).replace("`", "").split() in ([name, "=", "1"], ["1", "=", name])
            if not first or not order.descending or order.scalar.column is None or not partition:
                return None
            kept = tuple(Item(part.name, column(part.name, part.type)) for part in source.schema)
            every = Project(source, (*kept, Item(name, text("1L", RANK_TYPE))), span=node.span)
            return every, partition, order.scalar.column
        case Project(below, items):
            inner = {item.name: item.scalar for item in items}
            found = _last_rows(below, condition.substitute(inner))
            if found is None:
                return None
            rows, key, by = found
            names = {item.scalar.column: item.name for item in reversed(items) if item.scalar.column}
            if any(name not in names for name in key):
                return None
            return replace(node, input=rows), tuple(names[name] for name in key), names.get(by or "", by)
    return None
