"""The way of changes from the operator that emits them to the sink.

The operator puts changes into a column OP, which every projection above passes on. Source:
semantics.md#early-and-late-firing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tvfsql.catalog import Catalog, Table
from tvfsql.errors import UnsupportedError
from tvfsql.options.known import DUPLICATES, LATE_RESULTS
from tvfsql.physical.operators import (
    Calc,
    Exchange,
    LateOutput,
    RowTimeCheck,
    TableSourceScan,
    ToChangelog,
    UpsertMaterialize,
)
from tvfsql.physical.row_operators import StreamChangelogNormalize, StreamRegularJoin, StreamUpdatingTopN
from tvfsql.physical.window_operators import StreamSliceMerge, WindowExpand
from tvfsql.physical.words import without_window
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.analysis.sharing import Shared
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.tables.internal_columns import BEFORE, KINDS, OP, WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Ref, Scalar, column, free_name, quoted, template, text
from tvfsql.plan.values.types import BOOLEAN, STRING
from tvfsql.plan.window import Endless, Session

STORE_CHANGES = "op STRING and WITH ('changelog.op' = 'op'), or 'format' = 'debezium-json'"
TAKE_CHANGES = f"{STORE_CHANGES}, or a PRIMARY KEY in upsert-kafka, jdbc, Delta or Iceberg, or print"


def emits_changes(node: Node) -> bool:
    """Whether the rows of a physical operator are changes."""
    if isinstance(node, StreamSliceMerge):
        return node.context.emits_changes
    if isinstance(node, StreamUpdatingTopN):
        return True
    if isinstance(node, StreamRegularJoin):
        return node.updating
    if isinstance(node, TableSourceScan):
        return node.is_changelog
    if isinstance(node, StreamChangelogNormalize | changelogs.FromChangelog):
        return not node.sign
    passes = Calc | Exchange | LateOutput | RowTimeCheck | UpsertMaterialize | WindowExpand
    passes |= nodes.Unnest | nodes.SetOperation | nodes.Sink | Shared
    return isinstance(node, passes) and any(map(emits_changes, node.children))


def with_changes(plan: Node, catalog: Catalog) -> Node:
    """Add OP to the columns of the physical plan: as `op` for a SELECT, else under the table's own name, if it has one.
    Raises UnsupportedError for a table that cannot store changes.
    """
    if not isinstance(plan, nodes.Sink):
        name = free_name("op", lambda name: name in {known.lower() for known in plan.columns})
        return _renamed(_passed_on(plan), OP, name)
    table = catalog.get(plan.table)
    assert isinstance(table, Table) and table.connector is not None, plan.table
    if not table.takes_changes:
        raise _takes_no_changes(table, plan)
    if table.connector.replaces_by:
        _refuse_without_order(plan, table.name, table.connector.replaces_by)
    if plan.conflict:
        raise UnsupportedError(
            f"ON CONFLICT does not work with results that change: {table.name} replaces their rows by key",
            span=plan.span,
            hint="GROUP BY the columns of the PRIMARY KEY, or leave out ON CONFLICT",
        )
    made = _passed_on(plan.input)
    if table.connector.replaces_by:
        made = _of_each_key(made, plan, table.connector.replaces_by)
    if table.op is None and table.connector.replaces_by:
        made = _without_replaced(made, table.connector.replaces_by)
    if table.op is None:
        return replace(plan, input=made)
    kept = tuple(Item(part.name, column(OP if part.name == table.op else part.name, part.type)) for part in plan.schema)
    return replace(plan, input=_projected(made, kept))


def _refuse_without_order(plan: nodes.Sink, table: str, keys: Sequence[str]) -> None:
    """Raise UnsupportedError for the changes of a changelog that do not reach a table with the primary key `keys` in
    their order, of which the last change of a key counts in each micro-batch. ChangelogNormalize emits the changes of a
    key of its table in one task, one after the other.
    """
    if (named := _changelog_of(plan)) is None:
        return
    source, of_keys = _traced(plan.input, keys)
    if isinstance(source, StreamChangelogNormalize) and {*source.key} <= of_keys:
        return
    key = ", ".join(keys)
    hint = f"GROUP BY {key}, or another table for the changes: {STORE_CHANGES}"
    own = [node.source.primary_key for node in source.walk() if isinstance(node, TableSourceScan)]
    if _would_be_normalized(source) and own[0] and {*own[0]} <= of_keys:
        hint = f"SET '{DUPLICATES.key}' = 'true', or GROUP BY {key}"
    raise UnsupportedError(
        f"{table} replaces rows by {key}, and a micro-batch of the changelog {named} can have several changes of one"
        " row in any order",
        span=plan.span,
        hint=hint,
    )


def _of_each_key(node: Node, plan: nodes.Sink, keys: tuple[str, ...]) -> Node:
    """What happens to each row of a table with the primary key `keys`, if its changes come from several tasks: one may
    say that a row goes, and another one which row replaces it.
    """
    source, of_keys = _traced(plan.input, keys)
    together = _keeps_together(source, of_keys if len(of_keys) == len(keys) else set())
    return node if together else UpsertMaterialize(Exchange(node, keys), keys)


def _keeps_together(source: Node, keys: set[str]) -> bool:
    """Whether one task makes all changes with the same values of `keys`; empty: these are computed. If not, each
    operator below makes at most one change of a row in a micro-batch, or one update.
    """
    match source:
        case StreamRegularJoin(left, right, pairs=pairs, retracts=retracts):
            if keys and ({pair.left for pair in pairs} <= keys or {pair.right for pair in pairs} <= keys):
                return True
            of_keys = [bool(keys & {*side.columns}) or not keys for side in (left, right)]
            return not any(map(all, zip(of_keys, retracts, strict=True)))
        case StreamUpdatingTopN(partition=partition):
            return {*partition} <= keys or not source.retracts
        case StreamSliceMerge() | StreamChangelogNormalize():
            return True
        case nodes.SetOperation():
            return not all(map(_changes_with_each_row, _made_by(source)))
    return all(_keeps_together(child, set()) for child in source.children if emits_changes(child))


def _made_by(node: Node) -> Iterator[Node]:
    """The operators that make the changes which reach this one's output."""
    of_their_own = StreamSliceMerge | StreamUpdatingTopN | StreamRegularJoin | StreamChangelogNormalize
    if isinstance(node, of_their_own | TableSourceScan | changelogs.FromChangelog):
        yield from [node] if emits_changes(node) else []
    else:
        for child in node.children:
            yield from _made_by(child)


def _would_be_normalized(source: Node) -> bool:
    """Whether these are the changes of one table, which ChangelogNormalize would emit by its key."""
    others = nodes.SetOperation | nodes.Unnest | WindowExpand | StreamChangelogNormalize | changelogs.FromChangelog
    return emits_changes(source) and not any(isinstance(node, others) for node in source.walk())


def _traced(node: Node, names: Iterable[str]) -> tuple[Node, set[str]]:
    """The operator that projections take their rows from, and those of its columns that the columns `names` are."""
    match node:
        case Calc(source):
            return _traced(source, [name for name in _below(node, names) if name])
        case Shared(source):
            return _traced(source, names)
    return node, {*names}


def _below(node: Calc, names: Iterable[str]) -> list[str | None]:
    """The columns of its input whose values these columns have; None: they are computed."""
    columns = {item.name: nodes.kept_column(item, node.input) for item in node.items}
    return [columns[name] if columns else name for name in names]


def to_changelog(node: changelogs.ToChangelog) -> Node:
    """The changes of a physical input as rows. Without changes, all of its rows are inserts."""
    kept = tuple(Item(part.name, column(part.name, part.type)) for part in node.input.schema)
    codes = dict(node.codes)
    if not emits_changes(node.input):
        of_inserts = codes.get("+I", text("CAST(NULL AS STRING)", STRING))
        none = () if "+I" in codes else (text("FALSE", BOOLEAN),)
        return Calc(node.input, (Item(node.op, of_inserts), *kept), none)
    op, given = column(OP, STRING), {f"c{i}": code for i, code in enumerate(codes.values())}
    cases = " ".join(f"WHEN '{kind}' THEN {{{name}}}" for kind, name in zip(codes, given, strict=True))
    said = " ".join(f"WHEN '{kind}' THEN {code}" for kind, code in codes.items())
    code = template(f"CASE {{op}} {cases} END", {"op": op, **given}, STRING)
    known = ", ".join(f"'{kind}'" for kind in codes)
    only = template(f"{{op}} IN ({known})", {"op": op}, BOOLEAN, atomic=False)
    rows = Calc(
        _passed_on(node.input),
        (Item(node.op, replace(code, written=(f"CASE op {said} END",))), *kept),
        (replace(only, written=(f"op IN ({known})",)),) if len(codes) < len(KINDS) else (),
    )
    return ToChangelog(rows, node.op, node.codes)


def _without_replaced(node: Node, keys: Sequence[str]) -> Node:
    """Leave out -U where its +U always follows, so that a table with the primary key `keys` needs only the latter."""
    if isinstance(node, Calc) and _is_followed(node, keys):
        stays = template("{op} <> '-U'", {"op": column(OP, STRING)}, BOOLEAN)
        return replace(node, conditions=(*node.conditions, replace(stays, written=("op <> '-U'",))))
    return node


def _is_followed(node: Node, keys: Sequence[str]) -> bool:
    """Whether the same operator passes on -U and +U, with the same values of `keys`."""
    match node:
        case Calc(source, conditions=conditions):
            below = _below(node, keys)
            steady = all(BEFORE in one.columns for one in conditions)  # whether the two rows differ
            return steady and all(below) and _is_followed(source, [name for name in below if name])
        case Shared(source):
            return _is_followed(source, keys)
        case StreamSliceMerge():
            return {*keys} <= {*node.keys, *WINDOW_COLUMNS}
        case StreamUpdatingTopN():
            return {*keys} <= node.replaced_by
        case StreamChangelogNormalize():
            return {*keys} <= {*node.key}
    return False


def op_of(plan: Node) -> str | None:
    """The column of a SELECT's physical plan that says what a row does; None: its rows only come."""
    return plan.columns[0] if emits_changes(plan) else None


def _takes_no_changes(table: Table, plan: nodes.Sink) -> UnsupportedError:
    span, connector = plan.span, table.connector.name if table.connector else "a view"
    if named := _changelog_of(plan):
        return UnsupportedError(
            f"{named} is a changelog, and {table.name} ({connector}) only adds rows",
            span=span,
            hint=f"SELECT * FROM TO_CHANGELOG((SELECT ...)), or for {table.name} {STORE_CHANGES}",
        )
    changing = next((node for node in plan.walk() if _changes_with_each_row(node)), None)
    if changing is not None:
        return UnsupportedError(
            f"{without_window(changing)} changes its results, and {table.name} ({connector}) only adds rows",
            span=span,
            hint=TAKE_CHANGES,
        )
    return UnsupportedError(
        f"windows that fire early or late emit retractions, which {table.name} cannot store",
        span=span,
        hint=f"declare op STRING and WITH ('changelog.op' = 'op') for {table.name}, "
        f"or SET '{LATE_RESULTS.key}' = 'purge'",
    )


def _changelog_of(plan: Node) -> str | None:
    """The table or function whose changes a physical plan hands on as they are, or None."""
    kinds = TableSourceScan | StreamChangelogNormalize | changelogs.FromChangelog
    found = next((node for node in plan.walk() if isinstance(node, kinds) and emits_changes(node)), None)
    if isinstance(found, changelogs.FromChangelog):
        return found.table
    scans = (node for node in found.walk() if isinstance(node, TableSourceScan)) if found is not None else iter(())
    return next((scan.source.name for scan in scans), None)


def _changes_with_each_row(node: Node) -> bool:
    return isinstance(node, StreamUpdatingTopN | StreamRegularJoin) or (
        isinstance(node, StreamSliceMerge) and isinstance(node.window, Endless)
    )


def _passed_on(node: Node, above: tuple[Scalar, ...] = ()) -> Node:
    """Add OP as the first column of the operators. Rows that are not changes are inserts. `above`: the conditions of
    operators above, over the columns of this one.
    """
    if not emits_changes(node):
        return _with_op(node, text("'+I'", STRING))
    match node:
        case TableSourceScan() | StreamChangelogNormalize() | changelogs.FromChangelog():
            return _with_op(replace(node, sign=OP, kinds=True), column(OP, STRING))
        case StreamSliceMerge() | StreamUpdatingTopN() | StreamRegularJoin():
            return node
        case Calc(source, items, conditions):
            kept = items or tuple(Item(part.name, column(part.name, part.type)) for part in node.schema)
            computed = {item.name: item.scalar for item in kept}
            passed = tuple(one for one in conditions if BEFORE not in one.columns)
            passed += tuple(one.substitute(computed) for one in above)
            if isinstance(source, StreamSliceMerge):
                return Calc(source, (Item(OP, _op_where(passed, source)), *kept), conditions)
            if isinstance(source, StreamUpdatingTopN):  # a condition may hold for one row of an update only
                return Calc(replace(source, pairs=not passed), (Item(OP, column(OP, STRING)), *kept), conditions)
            return Calc(_passed_on(source, passed), (Item(OP, column(OP, STRING)), *kept), conditions)
        case Shared(source) | RowTimeCheck(source) | WindowExpand(source) | nodes.Unnest(source):
            return replace(node, input=_passed_on(source))
        case nodes.SetOperation(left, right):
            of_right = {of: column(name) for of, name in zip(left.columns, right.columns, strict=True)}
            beside = tuple(one.substitute(of_right) for one in above)
            return replace(node, left=_passed_on(left, above), right=_passed_on(right, beside))
    raise AssertionError(f"hands no changes on: {node.label()}")


def _op_where(conditions: Sequence[Scalar], node: StreamSliceMerge) -> Scalar:
    """The operation of a row under conditions, which only one row of an update may meet: such a result goes (-D) or
    comes (+I), as a window without rows does in Flink.
    """
    of_other = {name: Scalar((Ref(BEFORE), f".{quoted(name)}")) for name, _ in node.merges}
    of_results = [one.substitute(of_other) for one in conditions if of_other.keys() & set(one.columns)]
    op = column(OP, STRING)
    if not of_results:
        return op
    parts = {f"c{i}": one for i, one in enumerate(of_results)}
    met = " AND ".join(f"{{{name}}}" for name in parts)
    both = "{op} NOT IN ('+I', '-D')" if isinstance(node.window, Session) else "{op} <> '+I'"
    alone = f"{both} AND NOT COALESCE({met}, FALSE)"
    changed = "CASE {op} WHEN '-U' THEN '-D' ELSE '+I' END"
    return template(f"CASE WHEN {alone} THEN {changed} ELSE {{op}} END", {"op": op, **parts}, STRING)


def _with_op(node: Node, op: Scalar) -> Calc:
    kept = (Item(part.name, column(part.name, part.type)) for part in node.schema if part.name != OP)
    return Calc(node, (Item(OP, op), *kept))


def _renamed(node: Node, old: str, new: str) -> Node:
    kept = (Item(new if part.name == old else part.name, column(part.name, part.type)) for part in node.schema)
    return _projected(node, tuple(kept))


def _projected(node: Node, items: tuple[Item, ...]) -> Node:
    """Rename some columns, within the projection below if there is one."""
    if not isinstance(node, Calc):
        return Calc(node, items)
    computed = {item.name: item.scalar for item in node.items}
    return replace(node, items=tuple(Item(item.name, computed[item.scalar.column or ""]) for item in items))
