"""Binds the items of FROM to relations: tables, views, CTEs, subqueries, window calls and joins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tvfsql.bind import scalar
from tvfsql.bind.changelogs.by_key import normalized
from tvfsql.bind.changelogs.calls import OF_ROWS, Codes, changed_table, read_codes, read_rows_of_changes
from tvfsql.bind.flink.beyond import note_clause
from tvfsql.bind.flink.operators.cast_pairs import as_time
from tvfsql.bind.flink.operators.common_type import common_type
from tvfsql.bind.joins.computed_keys import with_computed_keys, with_equal_columns
from tvfsql.bind.joins.lookup import (
    SNAPSHOT,
    SNAPSHOT_JOIN,
    event_time,
    looked_up,
    refuse_scans,
    snapshot_of,
    spanned,
)
from tvfsql.bind.joins.temporal import temporal_join, versions_of
from tvfsql.bind.joins.unnest import unnested
from tvfsql.bind.patterns.clause import bind_match
from tvfsql.bind.scope import Bound, Relation, Visible, resolve
from tvfsql.bind.views import Named
from tvfsql.bind.windows.call import bind_window
from tvfsql.bind.windows.gaps import BoundGrid, bind_grid
from tvfsql.bind.windows.several import bind_named_windows
from tvfsql.catalog import Catalog, Table, View
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import APPROX_COUNT_DISTINCT, ZONE
from tvfsql.options.words import CountDistinct
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.spans import at
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Scalar, column, free_name, quoted, template
from tvfsql.plan.values.types import STRING, TIMESTAMP_LTZ, SqlType, is_time
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.syntax import ast


@dataclass(frozen=True)
class Sources:
    """Binds the inputs of a query, against a catalog and the CTEs in scope. `query` binds a subquery, `view` a view at
    the place of its name. `tables`: within a view, the columns that tables had when it was created (`View.tables`).
    `named` collects what the query of that view names.
    """

    catalog: Catalog
    options: Options
    ctes: Mapping[str, Bound]
    query: Callable[[ast.Query], Bound]
    view: Callable[[View, Span], Bound]
    tables: dict[str, tuple[str, ...]] | None = None
    named: Named | None = None

    def bind(self, relation: ast.Relation) -> Relation:
        match relation:
            case ast.JoinTable(left, ast.Unnested()):
                return unnested(relation, self.bind(left))
            case ast.JoinTable():
                return self._join(relation)
            case ast.TableName():
                found = self._named(relation)
            case ast.Derived():
                bound = self.query(relation.query)
                found = Relation.of(bound.node, "", bound.names, bound.time)
            case ast.WindowTable():
                found = self._window(relation.call)
            case ast.MatchTable():
                found = self._match(relation)
            case ast.Unnested():
                raise AssertionError("UNNEST is on the right side of a join")
        return self._aliased(found, relation)

    def _named(self, table: ast.TableName) -> Relation:
        short = table.short or table.name
        if short.lower() in self.ctes and not table.qualified:
            bound = self.ctes[short.lower()]
            return Relation.of(bound.node, short, bound.names, bound.time)
        entry = self.catalog.get(table.name, table.span, also=tuple(self.ctes))
        if self.named is not None:
            self.named.entries[table.name] = entry
        own_name = short if entry.name == table.name else entry.name
        if isinstance(entry, View):
            bound = self.view(entry, table.span)
            return self._as_created(Relation.of(bound.node, own_name, bound.names, bound.time), table)
        return self._as_created(self._scanned(entry, own_name, table.span), table)

    def _scanned(self, entry: Table, own_name: str, span: Span, *, by_key: bool = False) -> Relation:
        """The rows of a table. `by_key`: each change replaces the row with its PRIMARY KEY."""
        if entry.connector is not None and not entry.connector.readable:
            raise BindError(f"{entry.name} is write-only: its connector is {entry.connector.name}", span=span)
        fields = tuple(part for part in entry.physical if part.name != entry.op)
        changelog = entry.reads_changes(self.options.streaming)
        scan = nodes.Scan(
            entry.name,
            fields,
            changelog,
            of_folders=entry.of_folders,
            rowtime=entry.rowtime,
            has_history=entry.history is not None,
            span=span,
        )
        node: Node = replace(scan, op=entry.op, codes=entry.codes) if entry.codes and entry.op else scan
        if any(part.scalar for part in entry.visible):
            items = (Item(c.name, at(c.scalar or column(c.name, c.type), span)) for c in entry.visible)
            node = Project(node, tuple(items), span=span)
        node = normalized(node, entry, self.options, span, by_key=by_key)
        time = entry.watermark.column if entry.watermark else None
        return Relation.of(node, own_name, None, time)

    def _changes(self, call: ast.WindowCall) -> Relation:
        """FROM_CHANGELOG: the columns of its input, without that of the operation."""
        codes = read_codes(call)
        if codes.key:
            note_clause("PARTITION BY of FROM_CHANGELOG", call.span)
        table = codes.relation
        entry = self._table(table) if isinstance(table, ast.TableName) else None
        if isinstance(table, ast.TableName) and entry is not None:
            if self.named is not None:
                self.named.entries[table.name] = entry
            short = table.short or table.name
            return self._scanned(changed_table(entry, codes, table.span), short, table.span, by_key=bool(codes.key))
        if codes.key:
            raise UnsupportedError(
                "FROM_CHANGELOG by key reads a table: nothing tells the order of the rows of a query",
                span=call.span,
                hint="a table, or codes for both UPDATE_BEFORE and UPDATE_AFTER",
            )
        return self._changes_of_query(self.bind(table), codes, call.span)

    def _changes_of_query(self, source: Relation, codes: Codes, span: Span | None) -> Relation:
        op = source.lookup(None, codes.op, span)
        if op.type != STRING:
            problem = f"op needs a STRING column, but {op.name} is {op.type.flink}"
            raise BindError(problem, span=span, hint=f"CAST({op.name} AS STRING) AS {op.name} in the query")
        kept = tuple(part for part in source.visible if part is not op)
        node = source.node
        if any(part.plan == op.plan for part in kept):  # a column that is also selected under another name
            own = free_name(codes.op, node.columns)
            passed = (Item(part.name, column(part.name, part.type)) for part in node.schema)
            node, op = Project(node, (*passed, Item(own, column(op.plan, op.type)))), replace(op, plan=own)
        return Relation(changelogs.FromChangelog(node, op.plan, codes.codes, span=span), kept, source.time)

    def _table(self, table: ast.TableName) -> Table | None:
        """The table of that name; None for a view or a CTE."""
        if (table.short or table.name).lower() in self.ctes and not table.qualified:
            return None
        entry = self.catalog.get(table.name, table.span, also=tuple(self.ctes))
        return entry if isinstance(entry, Table) else None

    def _rows_of_changes(self, call: ast.WindowCall) -> Relation:
        """TO_CHANGELOG: the operation, then the columns of the input."""
        asked = read_rows_of_changes(call)
        source = self.bind(asked.relation)
        taken = next((part for part in source.visible if part.name.lower() == asked.op.lower()), None)
        if taken is not None:
            raise BindError(
                f"the input of TO_CHANGELOG has a column {taken.name}, so that of the operation needs another name",
                span=call.span,
                hint=OF_ROWS.replace("[op => DESCRIPTOR(op)]", "op => DESCRIPTOR(kind)"),
            )
        name = free_name(asked.op, source.node.columns)
        codes = tuple((kind, scalar.text_literal(code)) for kind, code in asked.codes)
        node = changelogs.ToChangelog(source.node, name, codes, span=call.span)
        qualifier = source.visible[0].qualifier if source.visible else ""
        return Relation(node, (Visible(qualifier, asked.op, name, STRING), *source.visible), source.time)

    def _as_created(self, found: Relation, table: ast.TableName) -> Relation:
        """The columns that a table had when the view around it was created. Raises BindError if it has lost one."""
        names = tuple(part.name for part in found.visible)
        wanted = names if self.tables is None else self.tables.setdefault(table.name, names)
        if wanted == names:
            return found
        by_name = {part.name: part for part in found.visible}
        if lost := [name for name in wanted if name not in by_name]:
            raise BindError(
                f"table {table.name} has no column {lost[0]}, which it had at CREATE VIEW",
                span=table.span,
                hint="CREATE OR REPLACE VIEW",
            )
        return replace(found, visible=tuple(by_name[name] for name in wanted))

    def _aliased(
        self, found: Relation, relation: ast.TableName | ast.Derived | ast.WindowTable | ast.MatchTable
    ) -> Relation:
        alias = relation.alias
        if alias is None:
            return found
        if alias.columns and len(alias.columns) != len(found.visible):
            raise BindError(
                f"{alias.name} lists {len(alias.columns)} columns, but has {len(found.visible)}",
                span=relation.span,
            )
        names = alias.columns or tuple(part.name for part in found.visible)
        visible = (
            replace(part, qualifier=alias.name, name=name) for part, name in zip(found.visible, names, strict=True)
        )
        return replace(found, visible=tuple(visible))

    def _match(self, table: ast.MatchTable) -> Relation:
        """MATCH_RECOGNIZE: the columns of PARTITION BY, then the measures."""
        by_sketch = self.options[APPROX_COUNT_DISTINCT] is CountDistinct.HLL
        return bind_match(table, self.bind(table.relation), streaming=self.options.streaming, by_sketch=by_sketch)

    def _window(self, call: ast.WindowCall) -> Relation:
        """A window call: the columns of its input, then those of the window. GAP_FILL adds no column."""
        if call.function == "FROM_CHANGELOG":
            return self._changes(call)
        if call.function == "TO_CHANGELOG":
            return self._rows_of_changes(call)
        if call.function == SNAPSHOT:
            raise BindError("SNAPSHOT must be on the right side of a join", span=call.span, hint=SNAPSHOT_JOIN)
        if call.function == "WINDOWS":
            return bind_named_windows(call, self._window)
        bound = (bind_grid if call.function == "GAP_FILL" else bind_window)(call, self.options)
        source = self.bind(bound.input.relation)
        if bound.input.where:
            source = filtered(source, bound.input.where)
        time = source.lookup(bound.table, bound.time.text, bound.time.span)
        if not is_time(time.type):
            what = "GAP_FILL" if isinstance(bound, BoundGrid) else "a window"
            raise BindError(
                f"{what} needs a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column, but {time.name} is {time.type.flink}",
                span=bound.time.span,
                hint=_time_in_place_of(time, source),
            )
        if isinstance(bound, BoundGrid):
            return bound.over(source, time, self.options)
        _check_clock(call.times, is_proctime(source.node, time.plan), time.name)
        clashing = [part for part in source.node.columns if part.lower() in WINDOW_COLUMNS]
        if clashing:
            source = _renamed(source, {name: free_name(name + "0", source.node.columns) for name in clashing})
            time = source.lookup(bound.table, bound.time.text, bound.time.span)
        zone = self.options[ZONE] if time.type == TIMESTAMP_LTZ else ""
        keys = (source.lookup(None, name.text, name.span).plan for name in bound.input.partition_by)
        partition = tuple(dict.fromkeys(keys))
        if bound.fill is not None and (is_proctime(source.node, time.plan) or zone not in ("", "UTC")):
            clock = "processing time" if is_proctime(source.node, time.plan) else f"the clock of {zone}"
            raise UnsupportedError(
                f"FILL does not work with windows by {clock}", span=bound.fill.span, hint="leave out FILL"
            )
        if bound.fill is not None and bound.fill.span is not None:
            note_clause("FILL", bound.fill.span)
        node = WindowTableFunction(
            source.node, bound.window, time.plan, zone, partition, fill=bound.fill, span=call.span
        )
        qualifier = source.visible[0].qualifier if source.visible else ""
        hidden = call.qualifier is not None
        qualifier = call.qualifier or qualifier
        added = tuple(Visible(qualifier, part.name, part.name, part.type, hidden) for part in node.schema[-3:])
        return Relation(node, (*source.visible, *added), time.plan)

    def _join(self, join: ast.JoinTable) -> Relation:
        left, snapshot = self.bind(join.left), snapshot_of(join)
        looks_up = snapshot is not None
        if snapshot is not None and isinstance(join.right, ast.WindowTable):
            note_clause("LATERAL SNAPSHOT before 2.4", join.right.call.span)
            right = self._aliased(looked_up(join, self.bind(snapshot.relation), self.catalog), join.right)
        else:
            right = self.bind(join.right)
        if join.natural:
            join = replace(join, using=_shared(left, right, join.span), natural=False)
            if not join.using and join.kind == "inner":
                join = replace(join, kind="cross")
        time, versions = None, None
        if join.as_of is not None:
            time = event_time(join, join.as_of, left)
            looks_up = time is None
            if time is None:
                right = looked_up(join, right, self.catalog)
            else:
                versions = versions_of(right, self.catalog, self.options.streaming, spanned(join.right, join.span))
                right = right.on(versions.node)
        right = beside(right, left.node.columns)
        versions = versions and versions.over(right.node)
        visible = (*left.visible, *right.visible)
        both = Relation(nodes.Join(left.node, right.node, "cross"), visible, left.time)
        conditions: tuple[Scalar, ...] = ()
        pairs: list[tuple[Visible, Visible]] = []
        if join.condition:
            resolved = resolve(join.condition, both)
            if scalar.has_aggregate(resolved.tree):
                raise BindError(
                    "aggregates are not allowed in ON", span=join.condition.span, hint="aggregate in a subquery first"
                )
            parts = [*scalar.conjuncts(resolved)]
            conditions = tuple(scalar.condition(part, "ON") for part in parts)
            if versions is not None:
                sides = with_computed_keys(left.node, right.node, versions.key, parts)
                versions, conditions = versions.beside(sides[1], sides[2]), sides[3]
                left, right = left.on(sides[0]), right.on(sides[1])
            elif self.options.streaming and not looks_up:
                left_node, right_node, conditions = with_equal_columns(left.node, right.node, parts)
                left, right = left.on(left_node), right.on(right_node)
            if looks_up:
                refuse_scans(join, parts, right.node, join.condition.span)
        elif join.using:
            pairs = [
                (left.lookup(None, name.text, name.span), right.lookup(None, name.text, name.span))
                for name in join.using
            ]
            conditions = tuple(scalar.equal(column(a.plan, a.type), column(b.plan, b.type)) for a, b in pairs)
        elif join.kind not in ("cross",):
            raise BindError(f"this {join.kind.upper()} JOIN has no condition", span=join.span, hint="ON l.key = r.key")
        span = join.condition.span if join.condition else join.span
        node: Node = nodes.Join(left.node, right.node, join.kind, conditions, join.retention, span=span)
        if versions is not None and time is not None:
            node = temporal_join(left, versions, join.kind, time, conditions, span)
        elif looks_up:
            node = nodes.LookupJoin(left.node, right.node, join.kind, conditions, span=span)
        if join.kind in ("semi", "anti"):
            return Relation(node, left.visible, left.time)
        return _with_merged(Relation(node, visible, left.time), pairs, join.kind)

    def under_its_names(self, relation: ast.Relation) -> Node:
        """The relation as a pass-through query sees it, with its columns renamed to the names that they have in that
        query.
        """
        found = self.bind(relation)
        names = [part.name for part in found.visible]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise BindError(
                f"column {repeated[0]} is ambiguous",
                span=relation.span,
                hint=f"rename one of them: {repeated[0]} AS ...",
            )
        if tuple(names) == found.node.columns:
            return found.node
        items = tuple(Item(part.name, column(part.plan, part.type)) for part in found.visible)
        return Project(found.node, items)


def _time_in_place_of(column: Visible, source: Relation) -> str | None:
    """The hint for a column that is no time: the one with the WATERMARK if that is made of it, or how to make one."""
    declared = next((part.name for part in source.visible if part.plan == source.time), None)
    other = f"DESCRIPTOR({quoted(declared)}), which has the WATERMARK" if declared else None
    made = as_time(quoted(column.name), column.type)
    if made is None or (source.time and _is_made_of(source.node, source.time, column.plan)):
        return other
    name = free_name("rt", source.node.columns)
    if other:
        return f"{other}; or for {column.name}: {name} AS {made} and WATERMARK FOR {name} AS {name} in CREATE TABLE"
    return f"declare {name} AS {made} and a WATERMARK in CREATE TABLE, then DESCRIPTOR({name})"


def _is_made_of(node: Node, name: str, read: str) -> bool:
    """Whether a projection below computes the column `name` from the column `read`."""
    items = (item for each in node.walk() if isinstance(each, Project) for item in each.items)
    return any(item.name == name and read in item.scalar.columns for item in items)


def _check_clock(asked: Sequence[ast.Name], proctime: bool, time: str) -> None:
    """Raise BindError for TUMBLE_ROWTIME of a window over processing time, or TUMBLE_PROCTIME of another."""
    clocks = {True: ("PROCTIME", "processing time"), False: ("ROWTIME", "event time")}
    for name in asked:
        function, _, kind = name.text.partition("_")
        wanted, meant = clocks[proctime]
        if kind != wanted:
            raise BindError(
                f"{name.text} is for {clocks[not proctime][1]}, but {time} is {meant}",
                span=name.span,
                hint=f"{function}_{wanted}, with the same arguments",
            )


def _shared(left: Relation, right: Relation, span: Span) -> tuple[ast.Name, ...]:
    """The columns that NATURAL JOIN equates: those of the left side whose names the right side has."""
    names = {part.name.lower() for part in right.visible if not part.hidden}
    shared = dict.fromkeys(part.name for part in left.visible if not part.hidden and part.name.lower() in names)
    return tuple(ast.Name(name, span) for name in shared)


def _with_merged(relation: Relation, pairs: Sequence[tuple[Visible, Visible]], kind: str) -> Relation:
    """The relation of a join with USING: first the columns that it merges, in their common type; those of the sides are
    hidden.
    """
    if not pairs:
        return relation
    first: list[Visible] = []
    made: list[Item] = []
    for left, right in pairs:
        one = right if kind == "right" else left
        common = common_type((left.type, right.type)) or one.type
        if kind != "full" and common == one.type:
            first.append(Visible("", left.name, one.plan, one.type))
            continue
        name = free_name(left.name, [*relation.node.columns, *(item.name for item in made)])
        made.append(Item(name, _merged(left, right, kind, common)))
        first.append(Visible("", left.name, name, common))
    node = relation.node
    if made:
        kept = (Item(field.name, column(field.name, field.type)) for field in node.schema)
        node = Project(node, (*kept, *made))
    merged = {part.plan for pair in pairs for part in pair}
    others = (replace(part, hidden=part.hidden or part.plan in merged) for part in relation.visible)
    return Relation(node, (*first, *others), relation.time)


def _merged(left: Visible, right: Visible, kind: str, common: SqlType) -> Scalar:
    """The value of a column of USING."""
    one, other = (
        scalar.cast_column(part.plan, part.type, common) if part.type != common else column(part.plan, part.type)
        for part in ((right, left) if kind == "right" else (left, right))
    )
    return template("COALESCE({a}, {b})", {"a": one, "b": other}, common) if kind == "full" else one


def beside(relation: Relation, others: Sequence[str]) -> Relation:
    """The same relation with columns of the plan renamed so that none has the name of one of `others`, in any case."""
    taken = {name.lower() for name in others}
    names: dict[str, str] = {}
    for name in relation.node.columns:
        if name.lower() in taken:
            names[name] = free_name(name + "0", [*taken, *relation.node.columns])
        taken.add(names.get(name, name).lower())
    return _renamed(relation, names) if names else relation


def filtered(relation: Relation, where: ast.Expr) -> Relation:
    """The rows that satisfy WHERE."""
    resolved = resolve(where, relation)
    if scalar.has_aggregate(resolved.tree):
        raise BindError("aggregates are not allowed in WHERE", span=where.span, hint="use HAVING")
    conditions = tuple(scalar.condition(part, "WHERE") for part in scalar.conjuncts(resolved))
    return relation.on(nodes.Filter(relation.node, conditions, span=where.span))


def _renamed(relation: Relation, names: Mapping[str, str]) -> Relation:
    """The same relation with some of the plan's columns renamed."""
    items = tuple(Item(names.get(part.name, part.name), column(part.name, part.type)) for part in relation.node.schema)
    visible = tuple(replace(part, plan=names.get(part.plan, part.plan)) for part in relation.visible)
    time = names.get(relation.time, relation.time) if relation.time else None
    return Relation(Project(relation.node, items), visible, time)
