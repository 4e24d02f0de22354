"""Makes the manifest of a stream from its physical plans: the content of its state, traced to the columns of its
sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import Jdbc, Kafka, SparkCatalog
from tvfsql.physical.checkpoint.branches import TIME, Branch, branches_of, branches_of_rows, traced
from tvfsql.physical.checkpoint.partials_in_use import PartialsInUse
from tvfsql.physical.operators import (
    Exchange,
    LateOutput,
    StreamOperator,
    StreamUpsertAggregate,
    TableSourceScan,
    own_fields,
)
from tvfsql.physical.row_operators import (
    RowOperator,
    StreamChangelogNormalize,
    StreamCurrentWatermark,
    StreamGapFill,
    StreamGridFill,
    StreamIntervalJoin,
    StreamKeepRow,
    StreamMatch,
    StreamOverAggregate,
    StreamRegularJoin,
    StreamTemporalJoin,
    StreamTemporalSort,
    StreamUpdatingTopN,
)
from tvfsql.physical.window_operators import StreamSliceMerge, StreamSlices
from tvfsql.plan import nodes
from tvfsql.plan.aggregate.call import whole
from tvfsql.plan.aggregate.chosen_values import Counted, Frequent, MostFrequent, Quantiles
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.aggregate.sketches import Sketch
from tvfsql.plan.analysis.sharing import Shared, shared_by
from tvfsql.plan.checkpoint.manifest import (
    GROUPS,
    LAYOUT,
    PARALLELISM,
    REGULAR_JOIN,
    SPARK_GROUPS,
    TOP_N,
    WATERMARKS,
    WINDOWS,
    Column,
    Input,
    Manifest,
    Sink,
    Source,
    State,
)
from tvfsql.plan.gaps import LINEAR
from tvfsql.plan.joins import KINDS, bound
from tvfsql.plan.node import Node
from tvfsql.plan.tables.internal_columns import ALWAYS, SINCE
from tvfsql.plan.values.scalar import Ref, column
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.plan.window import Endless
from tvfsql.secrets import stars, without_passwords


def manifest_of(plans: Sequence[Node], sinks: Sequence[Table | None], sql: Sequence[str]) -> Manifest:
    """Return the manifest of physical plans that run as one stream and fill the tables `sinks`."""
    return _Tracer(tuple(plans)).manifest(sinks, sql)


def found_in(plans: Sequence[Node]) -> list[Node]:
    """The stateful operators and sources of the plans, each once, in the order of the manifest: by plan, those of
    shared parts last.
    """
    parts = (node for plan in (*plans, *shared_by(plans)) for node in _walk(plan))
    stateful = StreamSliceMerge | RowOperator | StreamUpsertAggregate
    kept = (node for node in parts if isinstance(node, stateful) or _is_source(node))
    return list({id(node): node for node in kept}.values())


def source_of(scan: TableSourceScan) -> Source:
    """A table that a stream reads, as in its manifest."""
    table = scan.source
    mark = table.watermark
    connector = table.connector
    if connector is None:
        return Source(table.name, "")
    reading = dict(connector.reading) if isinstance(connector, Kafka) else {}
    at = reading.get("subscribe") or reading.get("subscribePattern") or connector.path
    watermark = (mark.column, str(mark.scalar)) if mark else ("", "")
    where = f" WHERE {' AND '.join(map(str, scan.history_where))}" if scan.history_where else ""
    return Source(table.name, connector.name, at or "", *watermark, f"{table.history or ''}{where}")


@dataclass(frozen=True)
class _Tracer:
    plans: tuple[Node, ...]

    @cached_property
    def found(self) -> list[Node]:
        return found_in(self.plans)

    @cached_property
    def used(self) -> PartialsInUse:
        return PartialsInUse.of(self.plans)

    def manifest(self, sinks: Sequence[Table | None], sql: Sequence[str]) -> Manifest:
        operators = [node for node in self.found if isinstance(node, StreamOperator)]
        sources = [node for node in self.found if isinstance(node, TableSourceScan)]
        outputs = [node for plan in self.plans for node in _everything(plan) if isinstance(node, LateOutput)]
        late = [table for node in outputs for table in node.tables]
        by_batch = bool(late) or bool(shared_by(self.plans))
        tables = [(table, by_batch) for table in sinks] + [(table, True) for table in dict.fromkeys(late)]
        shared = shared_by(self.plans)
        return Manifest(
            tuple(map(self._operator, operators)),
            tuple(map(source_of, sources)),
            tuple(_sink(table, how) for table, how in tables if table is not None),
            tuple(self._input(branch) for plan in shared or self.plans for branch in branches_of(plan, {})),
            tuple(map(stars, sql)),
            LAYOUT,
            metadata.version("tvfsql"),
        )

    def _operator(self, node: Node) -> State:
        match node:
            case StreamSliceMerge(Exchange(StreamSlices() as slices)):
                return self._windows(node, slices)
            case StreamUpsertAggregate():
                return self._groups_of_spark(node)
            case StreamKeepRow():
                return self._kept_rows(node)
            case StreamUpdatingTopN():
                return self._best_rows(node)
            case StreamOverAggregate():
                return self._over(node)
            case StreamTemporalSort():
                return self._sorted_rows(node)
            case StreamGapFill() | StreamGridFill():
                return self._filled(node)
            case StreamMatch():
                return self._matched(node)
            case StreamIntervalJoin() | StreamTemporalJoin() | StreamRegularJoin():
                return self._join(node)
            case StreamCurrentWatermark():
                return self._current_watermark(node)
            case StreamChangelogNormalize():
                return self._normalized(node)
        raise AssertionError(node.label())

    def _windows(self, node: StreamSliceMerge, slices: StreamSlices) -> State:
        wanted = {name: column(name) for name in (*node.keys, *(name for name, _ in node.merges))}
        branches = [*branches_of(slices.input, {**wanted, TIME: column(slices.time)})]
        merges = {name: _merge(kind) for name, kind in node.merges}
        settings = {"DESCRIPTOR": traced(branches, TIME), "table.local-time-zone": node.context.zone}
        if endless := isinstance(node.window, Endless):
            settings = {}  # state knows when a group had rows, whatever `table.exec.state.ttl` is
        lists = {name for name, _ in node.merges if (id(node), name) in self.used.rows}
        whole = {*lists, node.rows}
        columns = (self._column(name, slices.input, branches, merge) for name, merge in merges.items())
        return State(
            GROUPS if endless else WINDOWS,
            tuple(self._column(name, slices.input, branches) for name in node.keys),
            tuple(replace(column, whole=column.name in whole) for column in columns),
            tuple(map(self._input, branches)),
            node.window,
            node.context.firing,
            _settings(settings, node),
            self.used.together(node),
        )

    def _groups_of_spark(self, node: StreamUpsertAggregate) -> State:
        wanted = {key: column(key) for key in node.keys} | {call.name: whole(call) for call in node.calls}
        branches = [*branches_of(node.input, wanted)]
        return State(
            SPARK_GROUPS,
            tuple(self._column(name, node, branches) for name in node.keys),
            tuple(self._column(call.name, node, branches) for call in node.calls),
            tuple(map(self._input, branches)),
            settings=_settings({}, node),
        )

    def _kept_rows(self, node: StreamKeepRow) -> State:
        own = [part.name for part in own_fields(node.input)]
        branches = branches_of_rows(node.input, own, node.time)
        ties = ", ".join(f"{traced(branches, tie.scalar.column or '')} {_direction(tie)}" for tie in node.ties)
        settings = {
            "ORDER BY": "PROCTIME() ASC" if node.event else f"{traced(branches, TIME)} {_direction(node.order)}",
            "ORDER BY after the time": ties,
            "table.exec.state.ttl": duration(node.retention) if node.retention else "0",
        }
        return self._of_keys("ROW_NUMBER", node, node.partition, own, branches, settings)

    def _best_rows(self, node: StreamUpdatingTopN) -> State:
        own = [part.name for part in own_fields(node.input) if part.name not in (node.retracts, ALWAYS)]
        branches = [*branches_of(node.input, {**{name: column(name) for name in own}, TIME: column(ALWAYS)})]
        orders = [", ".join(map(self._order(branches), each)) for each in (node.order, node.ties)]
        settings = {
            "rank": f"{node.function} from {node.first} to {node.last}",
            "ORDER BY": "the order of arrival, DESC" if node.newest else orders[0],
            "ORDER BY after these": "" if node.newest else orders[1],
            "input": "changes" if node.retracts else "",
        }
        return self._of_keys(TOP_N, node, node.partition, own, branches, settings)

    @staticmethod
    def _order(branches: Sequence[Branch]) -> Callable[[nodes.Order], str]:
        return lambda order: f"{traced(branches, order.scalar.column or '')} {_direction(order)}"

    def _over(self, node: StreamOverAggregate) -> State:
        own = [part.name for part in own_fields(node.input)]
        branches = branches_of_rows(node.input, own, node.time)
        merges = {name: _merge(kind) for _, merges in node.frames for name, kind in merges}
        frames = (f"{frame}: {', '.join(name for name, _ in of_frame)}" for frame, of_frame in node.frames)
        settings = {
            "ORDER BY": traced(branches, TIME),
            "OVER": "; ".join(frames),
            "table.exec.state.ttl": duration(node.retention) if node.retention else "0",
        }
        return self._of_keys("OVER", node, node.partition, own, branches, settings, merges)

    def _sorted_rows(self, node: StreamTemporalSort) -> State:
        own = [part.name for part in own_fields(node.input)]
        branches = branches_of_rows(node.input, own, node.time)
        return State(
            "ORDER BY",
            columns=tuple(self._column(name, node.input, branches) for name in own),
            inputs=tuple(map(self._input, branches)),
            settings=_settings({"ORDER BY": traced(branches, TIME)}, node),
        )

    def _filled(self, node: StreamGapFill | StreamGridFill) -> State:
        own = [part.name for part in own_fields(node.input)]
        branches = branches_of_rows(node.input, own, node.time)
        kind = "GAP_FILL" if isinstance(node, StreamGridFill) else "FILL"
        if isinstance(node, StreamGridFill):
            width, offset, limit = (duration(ms) for ms in (node.grid.size, node.grid.offset, node.limit or 0))
            settings = {"DESCRIPTOR": traced(branches, TIME), "BIN_WIDTH": width, "OFFSET": offset}
            settings["FILL" if node.goes_on else "MAX_GAP"] = limit
        else:
            values = ", ".join(f"{name}: {how}" for name, how in node.values if how == LINEAR)
            settings = {"FILL": str(node.fill), "INTERPOLATE": values}
        return self._of_keys(kind, node, node.partition, own, branches, settings)

    def _matched(self, node: StreamMatch) -> State:
        own = [part.name for part in own_fields(node.input)]
        branches = branches_of_rows(node.input, own, node.time)
        settings = {
            "ORDER BY": ", ".join((traced(branches, TIME), *map(str, node.order))),
            "PATTERN": str(node.pattern),
            "DEFINE": "; ".join(map(str, node.pattern.conditions)),
            "AFTER MATCH": node.skip,
        }
        return self._of_keys("MATCH_RECOGNIZE", node, node.partition, own, branches, settings)

    def _current_watermark(self, node: StreamCurrentWatermark) -> State:
        branches = branches_of_rows(node.input, [node.time], node.time)
        settings = {"CURRENT_WATERMARK": traced(branches, TIME)}
        return State("CURRENT_WATERMARK", inputs=tuple(map(self._input, branches)), settings=_settings(settings, node))

    def _normalized(self, node: StreamChangelogNormalize) -> State:
        own = [part.name for part in own_fields(node.input) if part.name not in (node.ends, *node.arrival)]
        if not node.time:
            branches = [*branches_of(node.input, {name: column(name) for name in own})]
            return self._of_keys("PRIMARY KEY", node, node.key, own, branches, {})
        branches = branches_of_rows(node.input, own, node.time)
        return self._of_keys("PRIMARY KEY", node, node.key, own, branches, {"WATERMARK": traced(branches, TIME)})

    def _join(self, node: StreamIntervalJoin | StreamTemporalJoin | StreamRegularJoin) -> State:
        by_time = SINCE if isinstance(node, StreamRegularJoin) else (node.left_time, node.right_time)
        hidden = {*SINCE, *node.retracts} if isinstance(node, StreamRegularJoin) else set[str]()
        columns, inputs, times, pairs = [], list[Input](), [], [list[str](), list[str]()]
        for side, (below, time) in enumerate(zip((node.left, node.right), by_time, strict=True)):
            own = [part.name for part in own_fields(below) if part.name not in hidden]
            branches = branches_of_rows(below, own, time)
            columns += [self._column(name, below, branches) for name in own]
            inputs += map(self._input, branches)
            times.append(traced(branches, TIME))
            pairs[side] = [traced(branches, pair.right if side else pair.left) for pair in node.pairs]
        equal = [" IS NOT DISTINCT FROM " if pair.null_safe else " = " for pair in node.pairs]
        on = [f"{left}{sign}{right}" for left, sign, right in zip(pairs[0], equal, pairs[1], strict=True)]
        kind, settings = "JOIN", {"JOIN": KINDS[node.kind], "ON": " AND ".join(on)}
        match node:
            case StreamRegularJoin():
                kind = REGULAR_JOIN
                settings |= {f"input {side}": "changes" for side, sign in enumerate(node.retracts, 1) if sign}
            case StreamTemporalJoin():
                kind = "TEMPORAL JOIN"
                settings |= {"FOR SYSTEM_TIME AS OF": times[0], "WATERMARK of the versions": times[1]}
            case StreamIntervalJoin():
                settings["BETWEEN"] = f"{times[0]} - {times[1]} from {bound(node.low)} to {bound(node.high)}"
        return State(kind, columns=tuple(columns), inputs=tuple(inputs), settings=_settings(settings, node))

    def _of_keys(
        self,
        kind: str,
        node: RowOperator,
        keys: Sequence[str],
        own: Sequence[str],
        branches: Sequence[Branch],
        settings: Mapping[str, str],
        merges: Mapping[str, str] | None = None,
    ) -> State:
        """The state of an operator with one input that keeps the columns `own` of rows by `keys`."""
        (below,) = node.children
        return State(
            kind,
            tuple(self._column(name, below, branches) for name in keys),
            tuple(self._column(name, below, branches, (merges or {}).get(name, "")) for name in own),
            tuple(map(self._input, branches)),
            settings=_settings(settings, node),
        )

    def _column(self, name: str, node: Node, branches: Sequence[Branch], merge: str = "") -> Column:
        read = {
            f"{part.name} {branch.end.type_of(part.name)}".strip()
            for branch in branches
            for part in branch.columns[name].shown
            if isinstance(part, Ref) and part.name in branch.end.columns
        }
        of = tuple(str(branch.columns[name]) for branch in branches)
        return Column(name, str(node.type_of(name)), of, merge, ", ".join(sorted(read)))

    def _input(self, branch: Branch) -> Input:
        at = next(i for i, node in enumerate(self._alike(branch.end), 1) if node is branch.end)
        of = "source" if isinstance(branch.end, TableSourceScan) else "operator"
        changelog = isinstance(branch.end, TableSourceScan) and bool(branch.end.sign)
        return Input(f"{of} {at}", branch.where, branch.through, changelog)

    def _alike(self, end: Node) -> list[Node]:
        """The sources found so far if `end` is a source, else the operators."""
        return [node for node in self.found if isinstance(node, TableSourceScan) == isinstance(end, TableSourceScan)]


def _settings(own: Mapping[str, str], node: StreamOperator) -> dict[str, str]:
    """The settings of this operator, and those that all operators have."""
    context = node.context
    common = {
        "time": "PROCTIME()" if context.proctime else "event time",
        "inputs": str(len(context.inputs)),
        WATERMARKS: "one for each side of a join" if context.by_input else "",
        PARALLELISM: str(context.key_groups or ""),
    }
    return {name: value for name, value in {**own, **common}.items() if value}


def _merge(kind: MergeKind) -> str:
    """How the state merges a column. What a result needs of a bag may change: the state has all of it."""
    if isinstance(kind, UserFunction):
        return kind.path
    if isinstance(kind, Sketch):
        return kind.kept
    if isinstance(kind, Frequent):
        return f"frequent[{kind.tracked}]"
    if isinstance(kind, Counted):
        return "distinct"
    return "bag" if isinstance(kind, Quantiles | MostFrequent) else str(kind)


def _direction(order: nodes.Order) -> str:
    return "DESC" if order.descending else "ASC"


def _sink(table: Table, by_batch: bool) -> Sink:
    connector = table.connector
    if connector is None:
        return Sink(table.name, "")
    at = connector.table if isinstance(connector, SparkCatalog) else connector.path
    at = f"{without_passwords(connector.url)} {connector.table}" if isinstance(connector, Jdbc) else at
    at = connector.topic if isinstance(connector, Kafka) else at
    return Sink(table.name, connector.name, at or "", by_batch or bool(connector.by_number))


def _is_source(node: Node) -> bool:
    return isinstance(node, TableSourceScan) and node.streaming


def _walk(plan: Node) -> Iterator[Node]:
    """The operators of a plan, except those below a Shared, which `shared_by` returns."""
    yield plan
    if not isinstance(plan, Shared):
        for child in plan.children:
            yield from _walk(child)


def _everything(plan: Node) -> Iterator[Node]:
    yield from (node for part in (plan, *shared_by([plan])) for node in part.walk())
