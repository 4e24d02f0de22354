"""Windows merged from slices: rows are aggregated once per key and slice, and slices are merged to windows."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.options.known import DISABLED_RULES, EARLY_FIRE, LATE_FIRE, LATENESS, PHASES
from tvfsql.options.words import Phases
from tvfsql.plan.aggregate.call import (
    finished,
    holes,
    mergeable,
    needs_slices,
    row_of,
    single,
    starts_in_python,
    sum_of_list,
)
from tvfsql.plan.aggregate.chosen_values import Counted, Quantiles
from tvfsql.plan.aggregate.collector import Collector
from tvfsql.plan.aggregate.columns import AggCall, PartialColumn
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.aggregate.internal import FUNCTIONS
from tvfsql.plan.aggregate.sketches import Kll
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.tables.internal_columns import BEFORE, SLICE_END, WINDOW_COLUMNS, WINDOW_NAME
from tvfsql.plan.values.scalar import Scalar, column, free_name, template, text
from tvfsql.plan.values.types import BIGINT, is_decimal, is_integer
from tvfsql.plan.window import Endless, Hop, Session, TumbleMonths, Window
from tvfsql.plan.window_nodes import (
    GlobalWindowAggregate,
    LocalWindowAggregate,
    WindowAggregate,
)
from tvfsql.planner import rule

ROWS = "rows"
# Names of the columns that slices and merged windows add.
OWN_NAMES = frozenset([SLICE_END, *WINDOW_COLUMNS[:2], WINDOW_NAME, "window", BEFORE])


@rule
def split_local_global(node: Node, options: Options) -> Node | None:
    """Aggregate rows to slices, then merge slices to windows.

    Before:
      WindowAggregate(groupBy=[k], window=[HOP(time_col=[ts], size=[1 d], slide=[1 min])], select=[SUM(x) AS s])
    After:
      GlobalWindowAggregate(groupBy=[k], window=[HOP(slice_end=[slice_end], ...)], select=[sum AS s])
      +- LocalWindowAggregate(groupBy=[k], window=[HOP(time_col=[ts], ...)], select=[SUM(x) AS sum, slice_end('w$)])

    Holds because no window border divides a slice, and each aggregate can be merged from partials. The cost is that of
    a tumbling window of slice width plus the output, independent of size/slide. A SESSION has no slices: its rows
    become intervals, and intervals no further apart than the gap merge, in any order. Processing time is split like
    event time, where Flink uses one phase. Does not apply
    - in batch with table.optimizer.agg-phase-strategy = ONE_PHASE;
    - if an aggregate cannot be merged (see plan.aggregate.table);
    - on streams to changes that could not be turned into rows with a sign (`retract_changes`);
    - in batch to TUMBLE, and to a HOP whose size equals its slide: a window is its only slice, and Spark's groupBy has
      two phases already. Aggregates that Spark lacks (those in Python that merge, and OCCURRENCES) are the exception,
      because only merge_slices merges them, except for months, which it does not support.

    Flink: TwoStageOptimizedWindowAggregateRule.
    """
    match node:
        case WindowAggregate(source, window, time, keys, calls, properties, zone, attached):
            if in_one_phase(options):
                return None
            if options.streaming and is_changelog(source):
                return None
            merged_here = any((call.user and starts_in_python(call)) or needs_slices(call) for call in calls)
            if merged_here and months_in_batch(window, options):
                return None
            if is_its_only_slice(window) and not options.streaming and not merged_here:
                return None
            if not all(map(mergeable, calls)):
                return None
            renamed = {} if isinstance(window, Endless) else apart(source, keys)
            if renamed:
                kept = tuple(Item(part.name, column(part.name, part.type)) for part in source.schema)
                copies = (Item(new, column(key, source.type_of(key))) for key, new in renamed.items())
                source, keys = Project(source, (*kept, *copies)), tuple(renamed.get(key, key) for key in keys)
            split = Split({name.lower() for name in (*keys, *OWN_NAMES)}, lists=has_results_that_merge(window, options))
            finish = tuple(Item(call.name, split.finish(call)) for call in calls)
            rows = split.rows() if options.streaming or not isinstance(window, Session) else ""
            partials = tuple(split.columns.parts)
            local = LocalWindowAggregate(source, window, time, keys, partials, rows, zone, node.by_input)
            if attached and renamed:
                attached = replace(
                    attached,
                    start=renamed.get(attached.start, attached.start),
                    end=renamed.get(attached.end, attached.end),
                )
            merges = split.merges()
            windows = GlobalWindowAggregate(
                local, window, keys, merges, finish, properties, rows, zone, attached, node.sign
            )
            if not renamed:
                return windows
            before = {new: key for key, new in renamed.items()}
            back = (Item(before.get(part.name, part.name), column(part.name, part.type)) for part in windows.schema)
            return Project(windows, tuple(back))
    return None


def apart(source: Node, keys: tuple[str, ...]) -> dict[str, str]:
    """New names for keys that clash with names of columns that slices and windows add."""
    taken = {name.lower() for name in source.columns}
    return {
        key: free_name(f"{key}_key", lambda name: name.lower() in taken) for key in keys if key.lower() in OWN_NAMES
    }


def is_its_only_slice(window: Window) -> bool:
    # a CUMULATE of one step still uses slices, because in one phase its rows would be copied
    if isinstance(window, Session):
        return False
    return not window.shares_slices or (isinstance(window, Hop) and window.slide == window.size)


def has_results_that_merge(window: Window, options: Options) -> bool:
    """Whether what windows emit is merged again, so that it is whole partials: sessions, and results before the end of
    a window and after it.
    """
    fires = options[EARLY_FIRE] or options[LATE_FIRE] or options[LATENESS] > 0
    return isinstance(window, Session) or (options.streaming and fires and not isinstance(window, Endless))


class Split:
    """Collects the partial columns that calls need. `lists`: windows have all distinct values, not only their number
    and sum.
    """

    def __init__(self, taken: set[str], *, lists: bool = False) -> None:
        self.columns: Collector[PartialColumn] = Collector(taken)
        self.lists = lists

    def finish(self, call: AggCall) -> Scalar:
        """The call's result over merged partials."""
        row = row_of(call)
        assert row is not None, call
        kind = call.arguments[0].type
        _, finish, distinct, of_rows = row.templates(kind)
        partials = row.partials
        if call.distinct and row.distinct_rows:
            partials, finish = (row.distinct_rows,), of_rows
        elif call.distinct:
            parts = self._distinct(call, with_sum="{sum}" in distinct)
            return finished(call, distinct, parts)
        elif row.of_results and not self.lists:
            finish = row.of_results
            partials = tuple(replace(part, merge=_with_results(part.merge)) for part in partials)
        arguments = holes(call)
        parts = {}
        for part in partials:
            name = call.name if len(partials) == 1 else f"{call.name}_{part.suffix}"
            of_row = single(call, part.row, nulls=part.nulls)
            made = PartialColumn(name, template(part.sql, arguments), part.merge, of_row, counts=part.counts)
            parts[part.suffix] = self._with_more_results(made) or self.columns.column(made)
        if "{y}" in finish:
            parts["y"] = call.arguments[1]
        return finished(call, finish, parts)

    def rows(self) -> str:
        """The column that counts rows: that of COUNT(*), if the query has one."""
        made = PartialColumn(ROWS, text("count(*)", BIGINT), "sum", text("1L", BIGINT), counts=True)
        return self.columns.column(made).column or ROWS

    def merges(self) -> tuple[tuple[str, MergeKind], ...]:
        return tuple((part.name, part.merge) for part in self.columns.parts)

    def _with_more_results(self, wanted: PartialColumn) -> Scalar | None:
        """The column of a known bag, sketch or list of the same values, which now has these results too; None: there is
        none.
        """
        for i, known in enumerate(self.columns.parts):
            both = _both(known.merge, wanted.merge)
            if both and known.row == wanted.row:
                self.columns.parts[i] = replace(known, merge=both)
                return column(known.name, known.type)
        return None

    def _distinct(self, call: AggCall, *, with_sum: bool) -> dict[str, Scalar]:
        """The number, and the sum, of the different values. A slice keeps them as a list. Floats are added from the
        smallest up, so windows have lists of them.
        """
        kind = call.arguments[0].type
        listed = self.lists or (with_sum and not (is_integer(kind) or is_decimal(kind)))
        merge: MergeKind = "distinct" if listed else Counted(with_sum)
        set_of = template("collect_set({x}){f}", holes(call))
        wanted = PartialColumn(call.name, set_of, merge, single(call, "array({x})"))
        values = self._with_more_results(wanted) or self.columns.column(wanted)
        if listed:
            parts = {"count": template("coalesce(size({v}), 0L)", {"v": values})}
            return parts | ({"sum": template(sum_of_list(kind), {"v": values})} if with_sum else {})
        return {
            "count": template("coalesce({v}.n, 0L)", {"v": values}),
            "sum": template("{v}.total", {"v": values}, FUNCTIONS["SUM"].widest(kind)),
        }


def _with_results(kind: MergeKind) -> MergeKind:
    """The merge kind of windows that have the results themselves, each fraction once."""
    match kind:
        case Quantiles() | Kll():
            return _both(made := replace(kind, results=True), made) or made
    return kind


def _both(known: MergeKind, wanted: MergeKind) -> MergeKind | None:
    """The merge kind that has the results of both; None if one column cannot have them."""
    match known, wanted:
        case Quantiles(), Quantiles():
            return known | wanted
        case Counted(), Counted():
            return known | wanted
        case Kll(fractions=(_, *_)), Kll(fractions=(_, *_)) if known.kept == wanted.kept:
            return known | wanted
    return None


# How windows are aggregated, as far as options decide it; shared by the rules that depend on it.


SPLIT = "split_local_global"  # the rule that makes windows from slices


def in_one_phase(options: Options) -> bool:
    """Whether no window may be merged from slices: in batch only, since streams have nothing but slices."""
    return options[PHASES] is Phases.ONE and not options.streaming


def months_in_batch(window: Window, options: Options) -> bool:
    """Whether the window has calendar months and the mode is batch: such windows are never merged from slices."""
    return isinstance(window, TumbleMonths) and not options.streaming


def has_slices(window: Window, options: Options) -> bool:
    """Whether the window is merged from slices if its aggregates can be merged."""
    return not (in_one_phase(options) or SPLIT in options[DISABLED_RULES] or months_in_batch(window, options))
