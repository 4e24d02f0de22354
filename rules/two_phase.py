"""Windows made from slices: rows are aggregated once per key and slice, windows are put together from those."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.aggregates import FUNCTIONS, MergeKind, templates
from tvfsql.plan.call import finished, holes, mergeable, needs_slices, row_of, single
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import AggCall, Item, Project
from tvfsql.plan.properties import is_changelog
from tvfsql.plan.scalar import Scalar, column, free_name, template, text
from tvfsql.plan.types import SqlType, is_decimal, is_float, is_integer, scale_of
from tvfsql.plan.window import Hop, Session, TumbleMonths, Window
from tvfsql.plan.window_nodes import (
    DistinctValues,
    GlobalWindowAggregate,
    LocalWindowAggregate,
    PartialColumn,
    WindowAggregate,
)
from tvfsql.planner import rule

ROWS = "rows"
# What slices, merged windows and the changes of distinct values call their own columns.
OWN_NAMES = frozenset(["slice_end", "window_start", "window_end", "window", "before", "value", "change", "gone"])


@rule
def split_local_global(node: Node, options: Options) -> Node | None:
    """Aggregate rows into slices, then merge slices into windows.

    Before:
      WindowAggregate(groupBy=[k], window=[HOP(time_col=[ts], size=[1 d], slide=[1 min])], select=[SUM(x) AS s])
    After:
      GlobalWindowAggregate(groupBy=[k], window=[HOP(slice_end=[slice_end], ...)], select=[sum AS s])
      +- LocalWindowAggregate(groupBy=[k], window=[HOP(time_col=[ts], ...)], select=[SUM(x) AS sum, slice_end('w$)])

    Holds because no window border cuts a slice, and each aggregate can be merged from partials. The cost
    is that of a tumbling window at slice width plus the output, whatever size/slide is. A SESSION has no slices: its
    rows make intervals, and intervals that are no further apart than the gap are merged, in any order. Processing time
    is split like event time, where Flink keeps to one phase. Does not apply
    - with table.optimizer.agg-phase-strategy = ONE_PHASE;
    - if one aggregate cannot be merged (plan.aggregates tells);
    - on streams to changes that could not be made rows with a sign (`retract_changes`);
    - in batch to TUMBLE, and to a HOP as wide as its slide: a window is its only slice, and Spark's own
      groupBy works in two phases already; not so with aggregates that Spark lacks (those that a user wrote, and
      OCCURRENCES), which only merge_slices merges, but for months, which it does not make.
    Flink: TwoStageOptimizedWindowAggregateRule.
    """
    match node:
        case WindowAggregate(source, window, time, keys, calls, properties, zone, attached):
            if options["table.optimizer.agg-phase-strategy"] == "ONE_PHASE":
                return None
            if options.streaming and is_changelog(source):
                return None
            merged_here = any((call.user and not call.distinct) or needs_slices(call) for call in calls)
            if merged_here and isinstance(window, TumbleMonths) and not options.streaming:
                return None
            if is_its_only_slice(window) and not options.streaming and not merged_here:
                return None
            as_lists = options.streaming or merged_here or isinstance(window, Session)
            if not all(mergeable(call, streaming=as_lists) for call in calls):
                return None
            renamed = apart(source, keys)
            if renamed:
                kept = tuple(Item(part.name, column(part.name, part.type)) for part in source.schema)
                copies = (Item(new, column(key, source.type_of(key))) for key, new in renamed.items())
                source, keys = Project(source, (*kept, *copies)), tuple(renamed.get(key, key) for key in keys)
            split = (ListSplit if as_lists else Split)(frozenset(name.lower() for name in (*keys, *OWN_NAMES)))
            finish = tuple(Item(call.name, split.finish(call)) for call in calls)
            rows = split.rows() if options.streaming or not isinstance(window, Session) else ""
            local = LocalWindowAggregate(
                source, window, time, keys, tuple(split.partials), tuple(split.distincts), rows, zone
            )
            if attached and renamed:
                attached = replace(
                    attached,
                    start=renamed.get(attached.start, attached.start),
                    end=renamed.get(attached.end, attached.end),
                )
            merges = split.merges()
            windows = GlobalWindowAggregate(local, window, keys, merges, finish, properties, rows, zone, attached)
            if not renamed:
                return windows
            before = {new: key for key, new in renamed.items()}
            back = (Item(before.get(part.name, part.name), column(part.name, part.type)) for part in windows.schema)
            return Project(windows, tuple(back))
    return None


def apart(source: Node, keys: tuple[str, ...]) -> dict[str, str]:
    """New names for the keys that are called as slices and windows call columns of their own."""
    taken = {name.lower() for name in source.columns}
    return {
        key: free_name(f"{key}_key", lambda name: name.lower() in taken) for key in keys if key.lower() in OWN_NAMES
    }


def is_its_only_slice(window: Window) -> bool:
    # a CUMULATE of one step is left to slices: in one phase its rows would be copied
    if isinstance(window, Session):
        return False
    return not window.shares_slices or (isinstance(window, Hop) and window.slide == window.size)


class Split:
    """Gathers the partial columns that calls need; two calls that need the same one share it."""

    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = set(taken)
        self.partials: list[PartialColumn] = []
        self.distincts: list[DistinctValues] = []

    def finish(self, call: AggCall) -> Scalar:
        """The call's result over merged partials."""
        row = row_of(call)
        assert row is not None, call
        kind = call.arguments[0].type
        _, finish, distinct = templates(row, kind)
        partials = row.partials
        if call.distinct and row.distinct_rows:
            partials = (row.distinct_rows,)
            finish = finish.replace("{state}", "{rows}")
        elif call.distinct:
            parts = self._distinct(call, with_sum="{sum}" in distinct)
            return finished(call, distinct, parts)
        arguments = holes(call)
        parts = {}
        for part in partials:
            name = call.name if len(partials) == 1 else f"{call.name}_{part.suffix}"
            of_row = single(call, part.row, nulls=part.nulls)
            made = PartialColumn(name, template(part.sql, arguments), part.merge, of_row)
            parts[part.suffix] = self._partial(made)
        if "{y}" in finish:
            parts["y"] = call.arguments[1]
        return finished(call, finish, parts)

    def rows(self) -> str:
        """The column that counts rows: COUNT(*), if the query has one."""
        made = PartialColumn(ROWS, text("count(*)", "bigint"), "sum", text("1L", "bigint"))
        return self._partial(made).column or ROWS

    def merges(self) -> tuple[tuple[str, MergeKind], ...]:
        plain = tuple((part.name, part.merge) for part in self.partials)
        running = tuple((name, "running") for part in self.distincts for name in (part.count, part.sum) if name)
        return (*plain, *running)

    def _partial(self, made: PartialColumn) -> Scalar:
        for known in self.partials:
            if known.scalar == made.scalar and known.merge == made.merge:
                return column(known.name)
        self.partials.append(replace(made, name=self._free(made.name)))
        return column(self.partials[-1].name)

    def _distinct(self, call: AggCall, *, with_sum: bool) -> dict[str, Scalar]:
        value = call.arguments[0]
        for i, known in enumerate(self.distincts):
            if known.value == value and known.filter == call.filter:
                if with_sum and not known.sum:
                    self.distincts[i] = known = DistinctValues(
                        value, known.filter, known.count, self._free(f"{known.count}_sum")
                    )
                return {"count": column(known.count), "sum": column(known.sum)}
        count = self._free(call.name if not with_sum else f"{call.name}_count")
        total = self._free(f"{call.name}_sum") if with_sum else ""
        self.distincts.append(DistinctValues(value, call.filter, count, total))
        return {"count": column(count), "sum": column(total)}

    def _free(self, wanted: str) -> str:
        name = free_name(wanted, lambda known: known.lower() in self.taken)
        self.taken.add(name.lower())
        return name


class ListSplit(Split):
    """The same for what is made of single rows: the distinct values of a slice are kept as a list, and united
    for a window.

    Changes, as for slices in batch, would need to know when a value comes again, which a stream cannot tell yet.
    """

    def _distinct(self, call: AggCall, *, with_sum: bool) -> dict[str, Scalar]:
        set_of = template("collect_set({x}){f}", holes(call))
        values = self._partial(PartialColumn(call.name, set_of, "distinct", single(call, "array({x})")))
        parts = {"count": template("coalesce(size({v}), 0L)", {"v": values})}
        if with_sum:
            parts["sum"] = template(sum_of_list(call.arguments[0].type), {"v": values})
        return parts


def sum_of_list(kind: SqlType) -> str:
    """The sum of the list `{v}` in the type of Spark's sum(). Floating numbers are added from the smallest up, so
    that the sum does not depend on the order in which they came."""
    if is_decimal(kind) and scale_of(kind) > 6:  # Spark would round a sum that may have 39 digits
        whole = f"DECIMAL(37, {scale_of(kind)})"
        return (
            f"aggregate({{v}}, CAST(0 AS {whole}), (total, value) -> CAST(total + CAST(value AS {whole}) AS {whole}))"
        )
    whole = "bigint" if is_integer(kind) else "double" if is_float(kind) else FUNCTIONS["SUM"].result(kind)
    values = "sort_array({v})" if is_float(kind) else "{v}"
    return f"aggregate({values}, CAST(0 AS {whole.upper()}), (total, value) -> total + value)"
