"""Adapts a plan to state that another plan wrote: columns in state keep their names and order, and new ones follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tvfsql.physical.checkpoint.manifest import found_in
from tvfsql.physical.operators import Calc, Exchange, StreamOperator, StreamUpsertAggregate
from tvfsql.physical.row_operators import StreamKeepRow, StreamUpdatingTopN
from tvfsql.physical.window_operators import StreamSliceMerge, StreamSlices
from tvfsql.plan.analysis.sharing import Reused, Source
from tvfsql.plan.checkpoint.changes import alike, can_change
from tvfsql.plan.checkpoint.manifest import SPARK_GROUPS, TOP_N, Manifest, State
from tvfsql.plan.checkpoint.matching import matched, resolved
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.tables.internal_columns import BEFORE
from tvfsql.plan.values.scalar import Scalar, column, free_name, quoted, template


def with_old_names(plans: Sequence[Node], old: Manifest, new: Manifest) -> list[Node]:
    """Return the physical plans of a stream with manifest `new` such that they can read the state of manifest `old`.
    Plans with other keys or rows, and those whose aggregates cannot be added or dropped, are returned unchanged; their
    checkpoint will be refused.
    """
    old, new = resolved(old), resolved(new)
    operators = [node for node in found_in(plans) if isinstance(node, StreamOperator)]
    pairs = [*zip(operators, old.operators, new.operators, strict=False)]
    renaming = {id(node): made for node, before, now in pairs if (made := _renaming(before, now))}
    keys = {id(node): order for node, before, now in pairs if (order := _keys_in_order(before, now))}
    columns = {id(node): order for node, before, now in pairs if (order := _columns_in_order(before, now))}
    renamer = _Renamer(renaming, keys, columns)
    return [renamer.visit(plan) for plan in plans] if renaming or keys or columns else [*plans]


@dataclass(frozen=True)
class _Renaming:
    """The keys and partials of an aggregate in the order of the state: maps each name in state to the name in the
    query. `later` are names of partials in state that rows in state may lack.
    """

    keys: Mapping[str, str]
    partials: Mapping[str, str]
    later: frozenset[str] = frozenset()

    @property
    def same(self) -> bool:
        return all(old == new for each in (self.keys, self.partials) for old, new in each.items())


def _renaming(old: State, new: State) -> _Renaming | None:
    """The renaming from one state to another; None if there is nothing to rename, or no way to."""
    if not old.merges or new.kind != old.kind:
        return None
    keys, columns = matched(old.keys, new.keys), matched(old.columns, new.columns)
    if keys.lost or keys.more or ((columns.lost or columns.more) and not can_change(old)):
        return None
    names = {before.name: now.name for before, now in keys.pairs}
    partials = {before.name: now.name for before, now in columns.pairs}
    later = {before.name for before, _ in columns.pairs if before.since}
    taken = {*names, *partials, *old.dropped, *(each.name for each in columns.lost)}
    lowered = {name.lower() for name in taken}  # for Spark, Total and total are the same name
    for one in columns.more:
        name = free_name(one.name, lambda name: name.lower() in lowered)
        lowered.add(name.lower())
        later.add(name)
        partials[name] = one.name
    same = [*names] == [one.name for one in new.keys] and [*partials] == [one.name for one in new.columns]
    made = _Renaming(names, partials, frozenset(later))
    return None if same and made.same and not later else made


def _keys_in_order(old: State, new: State) -> tuple[str, ...] | None:
    """The keys of a deduplication or Top-N in the order of the state: the hash that sends a row to its key group
    depends on it. None if the query has that order, or cannot use the state.
    """
    found = matched(old.keys, new.keys)
    if old.kind != new.kind or new.kind not in ("ROW_NUMBER", TOP_N) or found.lost or found.more:
        return None
    names = tuple(before.name for before, _ in found.pairs)
    same = names == tuple(one.name for one in new.keys)
    return None if same or not alike(old.columns, new.columns) else names


def _columns_in_order(old: State, new: State) -> tuple[str, ...] | None:
    """The keys and results of Spark's own aggregate in the order of the state: Spark knows them by their places. None
    if the query has that order, or cannot use the state.
    """
    if old.kind != new.kind or new.kind != SPARK_GROUPS:
        return None
    keys, columns = matched(old.keys, new.keys), matched(old.columns, new.columns)
    if keys.lost or keys.more or columns.lost or columns.more:
        return None
    names = tuple(now.name for _, now in (*keys.pairs, *columns.pairs))
    return None if names == tuple(one.name for one in (*new.keys, *new.columns)) else names


@dataclass
class _Renamer:
    """`renaming`, `keys` (of deduplications) and `columns` (of Spark's own aggregates) are by the identity of an
    operator. A shared part is rewritten once.
    """

    renaming: Mapping[int, _Renaming]
    keys: Mapping[int, tuple[str, ...]]
    columns: Mapping[int, tuple[str, ...]]
    made: dict[int, Node] = field(default_factory=dict)

    def visit(self, node: Node) -> Node:
        if id(node) not in self.made:
            new = node.over(self.visit)
            if isinstance(new, Reused):
                new = replace(new, of=Source(self.visit(new.of.plan)))
            if isinstance(new, StreamSliceMerge) and id(node) in self.renaming:
                new = _renamed(new, self.renaming[id(node)])
            if isinstance(new, StreamKeepRow | StreamUpdatingTopN) and id(node) in self.keys:
                new = _with_keys(new, self.keys[id(node)])
            if isinstance(new, StreamUpsertAggregate) and id(node) in self.columns:
                new = _with_columns(new, self.columns[id(node)])
            self.made[id(node)] = new
        return self.made[id(node)]


def _renamed(node: StreamSliceMerge, names: _Renaming) -> Node:
    """An aggregate with the state's names, below a projection to the names of the query."""
    assert isinstance(node.input, Exchange) and isinstance(node.input.input, StreamSlices), node.label()
    slices = node.input.input
    old = {now: before for before, now in {**names.keys, **names.partials}.items()}
    time = free_name(slices.time, [*old.values()])
    items = [Item(one.name, column(one.name, one.type)) for one in slices.input.schema]
    below = [Item(old.get(item.name, time if item.name == slices.time else item.name), item.scalar) for item in items]
    kinds = dict(node.merges)
    merges = tuple((before, kinds[now]) for before, now in names.partials.items())
    keys, counts = tuple(names.keys), tuple(old[name] for name in slices.counts)
    zeros = tuple(name for name in counts if name in names.later)
    local = replace(slices, input=Calc(slices.input, tuple(below)), time=time, keys=keys, merges=merges)
    local = replace(local, counts=counts, zeros=zeros)
    made = replace(node, input=Exchange(local, keys), keys=keys, merges=merges, rows=old[node.rows], zeros=zeros)
    above = []
    for part in node.schema:
        scalar = column(old.get(part.name, part.name), part.type)
        above.append(Item(part.name, _before(scalar, names) if part.name == BEFORE else scalar))
    return Calc(made, tuple(above))


def _with_keys(node: StreamKeepRow | StreamUpdatingTopN, keys: tuple[str, ...]) -> Node:
    """A deduplication by the same keys, in another order."""
    assert isinstance(node.input, Exchange), node.label()
    return replace(node, input=replace(node.input, keys=keys), partition=keys)


def _with_columns(node: StreamUpsertAggregate, order: tuple[str, ...]) -> Node:
    """The same groups, aggregated with their columns in another order."""
    assert isinstance(node.input, Exchange), node.label()
    keys = tuple(sorted(node.keys, key=order.index))
    calls = tuple(sorted(node.calls, key=lambda call: order.index(call.name)))
    made = replace(node, input=replace(node.input, keys=keys), keys=keys, calls=calls)
    return Calc(made, tuple(Item(part.name, column(part.name, part.type)) for part in node.schema))


def _before(before: Scalar, names: _Renaming) -> Scalar:
    """The partials of the replaced row, under the names of the query."""
    parts = ", ".join(f"{{b}}.{quoted(old)} AS {quoted(new)}" for old, new in names.partials.items())
    return template(f"CASE WHEN {{b}} IS NOT NULL THEN struct({parts}) END", {"b": before})
