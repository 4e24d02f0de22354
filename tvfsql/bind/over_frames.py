"""Binds functions with OVER, ordered by a time attribute, to OverAggregate and Rank operators of streams."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.aggregates.calls import Grouping
from tvfsql.bind.rank import named_columns
from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Relation, resolve
from tvfsql.bind.spark_text.functions import function_name
from tvfsql.bind.spark_text.functions import is_proctime as is_proctime_call
from tvfsql.errors import IN_BATCH, BindError, OtherMode, UnsupportedError
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.internal import FIRST_OF_ROWS, LAG, LAST_OF_ROWS, LEAD
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Order
from tvfsql.plan.over import RANGE, ROWS, Frame, OverAggregate
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.rank import RANK_TYPE, Rank
from tvfsql.plan.values.scalar import Scalar, column, free_name, template, text
from tvfsql.plan.values.types import BIGINT, UNKNOWN, SqlType, is_number
from tvfsql.syntax import ast
from tvfsql.syntax.interval import length_of

IN_ORDER = {"FIRST_VALUE": FIRST_OF_ROWS, "LAST_VALUE": LAST_OF_ROWS}
RANKS = {exp.Rank: "RANK", exp.DenseRank: "DENSE_RANK"}
UNKNOWN_YET = ("NTILE", "PERCENT_RANK", "CUME_DIST", "NTH_VALUE")
OTHER_ROWS = {"LAG": LAG, "LEAD": LEAD}
COMPUTED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "power": lambda base, exponent: base**exponent if 0 <= exponent < 64 else -1,
}


@dataclass
class OverFrames:
    """The functions with OVER of a SELECT over `relation`. `parts` maps each to the column with its result."""

    relation: Relation
    by_sketch: bool
    node: Node
    parts: dict[exp.Expr, exp.Expr] = field(default_factory=dict)
    types: dict[str, SqlType] = field(default_factory=dict)

    @classmethod
    def of(cls, calls: Sequence[ast.Expr], relation: Relation, *, by_sketch: bool) -> OverFrames:
        """Put the operators above the relation, one for each PARTITION BY. Raises UnsupportedError for what streams do
        not compute.
        """
        made = cls(relation, by_sketch, relation.node)
        together: dict[tuple[exp.Expr, tuple[exp.Expr, ...]], list[Resolved]] = {}
        for call in calls:
            found = resolve(call, relation)
            assert isinstance(found.tree, exp.Window), found.tree
            partition = tuple(found.tree.args.get("partition_by") or ())
            together.setdefault((made._time(found), partition), []).append(found)
        # rows that wait for others leave later than their time, so what need not wait comes before
        for (time, partition), of_partition in sorted(together.items(), key=lambda each: any(map(_waits, each[1]))):
            made._add(time, partition, of_partition)
        return made

    def in_place(self, part: Resolved) -> Resolved:
        """Replace the functions in an expression by the columns with their results."""
        tree = scalar.replace_parts(part.tree, self.parts)
        return Resolved(tree, {**part.types, **self.types}, part.span)

    def _add(self, time: exp.Expr, partition: Sequence[exp.Expr], calls: Sequence[Resolved]) -> None:
        """Put an operator above, for the functions with this ORDER BY and PARTITION BY."""
        keys = [scalar.to_scalar(tree, calls[0].types, calls[0].span) for tree in (time, *partition)]
        source, (at, *names) = named_columns(self.node, keys, "")
        partition_by = tuple(dict.fromkeys(names))
        grouping = Grouping(replace(self.relation, node=source), by_sketch=self.by_sketch)
        frames, bound = list[Frame](), list[AggCall]()
        ranks = [call for call in calls if type(call.tree.this) in RANKS]
        for call in (call for call in calls if call not in ranks):
            frame, made = self._bind(call, grouping)
            grouping.calls.append(made)
            frames.append(frame)
            bound.append(made)
            self.parts[call.tree] = scalar.column_tree(made.name)
            self.types[made.name] = made.type
        self.node = source
        wait = any(frame.following for frame in frames)
        if wait:
            self._rank(ranks, partition_by, at, (call.name for call in bound))
        if bound:
            self.node = OverAggregate(self.node, partition_by, at, tuple(frames), tuple(bound), span=calls[0].span)
        if not wait:
            self._rank(ranks, partition_by, at)

    def _rank(
        self, calls: Sequence[Resolved], partition: tuple[str, ...], time: str, taken: Iterable[str] = ()
    ) -> None:
        """Put the ranks above. `taken`: names that other columns will have."""
        order = (Order(column(time, self.node.type_of(time)), descending=False, nulls_first=True),)
        others = [*taken]
        for call in calls:
            if call.tree.args.get("spec") is not None:
                raise BindError("a rank has no frame", span=call.span, hint="leave out ROWS or RANGE")
            function = RANKS[type(call.tree.this)]
            name = free_name(function.lower(), (*others, *self.node.columns))
            self.node = Rank(self.node, function, partition, order, (), name, by_time=True, span=call.span)
            self.parts[call.tree] = scalar.column_tree(name)
            self.types[name] = RANK_TYPE

    def _time(self, call: Resolved) -> exp.Expr:
        """The time attribute that orders a function."""
        keys = call.tree.args["order"].expressions if call.tree.args.get("order") else []
        found: exp.Expr | None = keys[0].this if len(keys) == 1 and not keys[0].args.get("desc") else None
        name = found.name if isinstance(found, exp.Column) else None
        if found is not None and is_proctime_call(found):
            return found
        windows = window_of(self.relation.node)
        known = (self.relation.time, *(windows.times if windows else ()))
        if found is None or name is None or not (name in known or is_proctime(self.relation.node, name)):
            raise UnsupportedError(
                "on streams OVER is ordered by a time attribute alone, ascending",
                span=call.span,
                hint=_of_time(next(filter(None, known), None), windows is not None),
            )
        return found

    def _bind(self, call: Resolved, grouping: Grouping) -> tuple[Frame, AggCall]:
        """The frame of a function, and the aggregate over it."""
        function = call.tree.this
        name = function_name(function).upper() if isinstance(function, exp.Func) else ""
        if name in OTHER_ROWS:
            return self._other_row(function, name, call, grouping)
        if isinstance(function, exp.RowNumber):
            own = free_name("row_number", grouping._taken)
            return Frame(ROWS, None), AggCall(own, "COUNT", (text("*"),), type=BIGINT, span=call.span)
        of = Resolved(function, call.types, call.span)
        found = next(scalar.aggregate_calls(function, call.span), None)
        if found is None or found.tree is not function or name in UNKNOWN_YET:
            known = name and name != "WORDS"  # the function of calls with words, such as JSON_ARRAYAGG
            raise UnsupportedError(
                f"on streams {name if known else 'this function'} does not work with OVER",
                span=call.span,
                hint=IN_BATCH,
            )
        made = grouping._bind(found, of, None)
        if made.function == "SPARK":
            raise UnsupportedError("on streams this aggregate does not work with OVER", span=call.span, hint=IN_BATCH)
        if made.function in IN_ORDER:
            made = replace(made, function=IN_ORDER[made.function].name, time=None)
        return self._frame(call), made

    def _other_row(self, function: exp.Func, name: str, call: Resolved, grouping: Grouping) -> tuple[Frame, AggCall]:
        """LAG or LEAD."""
        given = [part for part in (function.this, *function.expressions) if isinstance(part, exp.Expr)]
        given += [function.args[key] for key in ("offset", "default") if function.args.get(key)]
        value, offset, default = [*given, None, None][:3]
        rows = 1 if offset is None else int(offset.name) if isinstance(offset, exp.Literal) and offset.is_int else -1
        if rows < 0 or value is None or len(given) > 3:
            raise BindError(f"the offset of {name} must be a number of rows", span=call.span, hint=f"{name}(x, 1)")
        if call.tree.args.get("spec") is not None:
            raise BindError(f"{name} has no frame", span=call.span, hint="leave out ROWS or RANGE")
        if isinstance(value, exp.IgnoreNulls | exp.RespectNulls):
            raise UnsupportedError(f"on streams {name} takes NULLs as values", span=call.span, hint=IN_BATCH)
        trees = [value, default or exp.Null()]
        arguments: tuple[Scalar, ...] = tuple(scalar.to_scalar(tree, call.types, call.span) for tree in trees)
        if not isinstance(trees[1], exp.Null):
            arguments = (arguments[0], _in_type(arguments[1], arguments[0].type, name, call))
        rows = -rows if name == "LEAD" else rows
        if rows < 0:
            self._require_event_time(call)
        own = free_name(name.lower(), grouping._taken)
        kind = arguments[0].type
        return Frame(ROWS, rows, rows), AggCall(own, OTHER_ROWS[name].name, arguments, type=kind, span=call.span)

    def _frame(self, call: Resolved) -> Frame:
        spec = call.tree.args.get("spec")
        if spec is None:
            return Frame(RANGE, None)
        unit = str(spec.args["kind"]).upper()
        if unit not in (ROWS, RANGE) or spec.args.get("exclude"):
            raise UnsupportedError(
                f"on streams a frame of OVER has no {'EXCLUDE' if unit in (ROWS, RANGE) else unit}",
                span=call.span,
                hint="ROWS or RANGE BETWEEN ... PRECEDING AND CURRENT ROW",
            )
        start = self._bound(unit, spec.args.get("start"), spec.args.get("start_side"), call)
        end = self._bound(unit, spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"), call)
        if end is None or (start is not None and start < end):
            raise BindError("this frame ends before it starts", span=call.span, hint="the earlier bound first")
        if end < 0:
            self._require_event_time(call)
        if unit == RANGE and start is None and end:
            raise UnsupportedError(
                "on streams RANGE from UNBOUNDED PRECEDING ends at CURRENT ROW",
                span=call.span,
                hint="ROWS BETWEEN UNBOUNDED PRECEDING AND ..., or RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND ...",
            )
        return Frame(unit, start, end)

    def _bound(self, unit: str, bound: object, side: str | None, call: Resolved) -> int | None:
        """A bound of a frame, as in `Frame`: how far it is before the row. None: UNBOUNDED PRECEDING."""
        follows = str(side or "").upper() == "FOLLOWING"
        if isinstance(bound, str):
            if bound.upper() == "UNBOUNDED" and follows:
                raise UnsupportedError(
                    "on streams a frame has an end: the last row of a stream is never known",
                    span=call.span,
                    hint=OtherMode("batch", ("10" if unit == ROWS else "INTERVAL '1' HOUR") + " FOLLOWING"),
                )
            return None if bound.upper() == "UNBOUNDED" else 0
        size = None
        if unit == ROWS and isinstance(bound, exp.Expr) and (size := _number(bound)) is not None and size < 0:
            size = None
        if unit == RANGE and isinstance(bound, exp.Interval):
            size = self._interval(bound, call)
        if size is None:
            raise UnsupportedError(
                f"on streams {unit} takes {'a number of rows' if unit == ROWS else 'an interval of time'}",
                span=call.span,
                hint="ROWS BETWEEN 2 PRECEDING ..."
                if unit == ROWS
                else "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING ...",
            )
        return -size if follows else size

    def _require_event_time(self, call: Resolved) -> None:
        """Raise UnsupportedError for rows that follow by processing time."""
        key = call.tree.args["order"].expressions[0].this
        if is_proctime_call(key) or is_proctime(self.relation.node, key.name):
            raise UnsupportedError(
                "by processing time a row does not wait for rows that follow",
                span=call.span,
                hint="ORDER BY an event time",
            )

    @staticmethod
    def _interval(bound: exp.Interval, call: Resolved) -> int:
        try:
            ms, months = length_of(bound)
        except ValueError as error:
            raise BindError(str(error), span=call.span, hint="INTERVAL '1' HOUR") from None
        if months or ms < 0:
            raise UnsupportedError("a frame is in days and smaller units", span=call.span, hint="INTERVAL '30' DAY")
        return ms


def _of_time(known: str | None, windows: bool) -> str:
    """The hint for OVER by another column than the time attribute."""
    if known is not None:
        return f"ORDER BY {known}"
    return "GROUP BY ..., window_time, and ORDER BY window_time" if windows else "WATERMARK FOR ts in CREATE TABLE"


def _in_type(default: Scalar, kind: SqlType, name: str, call: Resolved) -> Scalar:
    """The default of LAG or LEAD in the type of its values."""
    if default.type == kind or UNKNOWN in (default.type, kind):
        return default
    if not (is_number(default.type) and is_number(kind)):
        raise BindError(
            f"the default of {name} is {default.type.flink}, its values are {kind.flink}",
            span=call.span,
            hint=f"CAST(... AS {kind.flink})",
        )
    return template(f"CAST({{x}} AS {kind.ddl})", {"x": default}, kind)


def _waits(call: Resolved) -> bool:
    """Whether a function needs rows that follow its row."""
    spec = call.tree.args.get("spec")
    sides = (spec.args.get("end_side"), spec.args.get("start_side")) if spec is not None else ()
    function = call.tree.this
    leads = isinstance(function, exp.Func) and function_name(function).upper() == "LEAD"
    return leads or any(str(side).upper() == "FOLLOWING" for side in sides)


def _number(tree: exp.Expr | None) -> int | None:
    """The value of a number, or of + - * POWER of numbers; None for anything else."""
    if isinstance(tree, exp.Paren):
        return _number(tree.this)
    if isinstance(tree, exp.Literal):
        return int(tree.name) if tree.is_int and not tree.is_string else None
    called = isinstance(tree, exp.Anonymous)
    compute = None if tree is None else COMPUTED.get(tree.name.lower() if called else tree.key)
    parts = [] if compute is None or tree is None else tree.expressions if called else [tree.this, tree.expression]
    numbers = [number for number in map(_number, parts) if number is not None]
    return compute(*numbers) if compute and len(numbers) == 2 == len(parts) else None
