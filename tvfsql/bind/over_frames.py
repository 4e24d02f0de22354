"""Binds functions with OVER, ordered by a time attribute, to OverAggregate and Rank operators of streams."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.aggregates.calls import Grouping
from tvfsql.bind.rank import named_columns
from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Relation, resolve
from tvfsql.bind.spark_text.functions import function_name
from tvfsql.bind.spark_text.functions import is_proctime as is_proctime_call
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.table import FIRST_OF_ROWS, LAST_OF_ROWS, VALUE_OF_ROW
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Order
from tvfsql.plan.over import RANGE, ROWS, Frame, OverAggregate
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.rank import RANK_TYPE, Rank
from tvfsql.plan.values.scalar import Scalar, column, free_name, text
from tvfsql.plan.values.types import BIGINT, SqlType
from tvfsql.syntax import ast
from tvfsql.syntax.interval import parse_interval, unit_of

IN_ORDER = {"FIRST_VALUE": FIRST_OF_ROWS, "LAST_VALUE": LAST_OF_ROWS}
RANKS = {exp.Rank: "RANK", exp.DenseRank: "DENSE_RANK"}
UNKNOWN_YET = ("LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST", "NTH_VALUE")
BATCH = "--mode batch"
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
        for (time, partition), of_partition in together.items():
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
        if bound:
            self.node = OverAggregate(source, partition_by, at, tuple(frames), tuple(bound), span=calls[0].span)
        for call in ranks:
            if call.tree.args.get("spec") is not None:
                raise BindError("a rank has no frame", span=call.span, hint="leave out ROWS or RANGE")
            function = RANKS[type(call.tree.this)]
            name = free_name(function.lower(), self.node.columns)
            order = (Order(column(at, source.type_of(at)), descending=False, nulls_first=True),)
            self.node = Rank(self.node, function, partition_by, order, (), name, by_time=True, span=call.span)
            self.parts[call.tree] = scalar.column_tree(name)
            self.types[name] = RANK_TYPE

    def _time(self, call: Resolved) -> exp.Expr:
        """The time attribute that orders a function."""
        keys = call.tree.args["order"].expressions if call.tree.args.get("order") else []
        found: exp.Expr | None = keys[0].this if len(keys) == 1 and not keys[0].args.get("desc") else None
        name = found.name if isinstance(found, exp.Column) else None
        if found is not None and is_proctime_call(found):
            return found
        if found is None or name is None or not (name == self.relation.time or is_proctime(self.relation.node, name)):
            raise UnsupportedError(
                "on streams OVER is ordered by a time attribute alone, ascending",
                span=call.span,
                hint=f"ORDER BY {self.relation.time}" if self.relation.time else "WATERMARK FOR ts in CREATE TABLE",
            )
        return found

    def _bind(self, call: Resolved, grouping: Grouping) -> tuple[Frame, AggCall]:
        """The frame of a function, and the aggregate over it."""
        function = call.tree.this
        name = function_name(function).upper() if isinstance(function, exp.Func) else ""
        if name == "LAG":
            return self._lag(function, call, grouping)
        if isinstance(function, exp.RowNumber):
            own = free_name("row_number", grouping._taken)
            return Frame(ROWS, None), AggCall(own, "COUNT", (text("*"),), type=BIGINT, span=call.span)
        of = Resolved(function, call.types, call.span)
        found = next(scalar.aggregate_calls(function, call.span), None)
        if found is None or found.tree is not function or name in UNKNOWN_YET:
            known = name and name != "WORDS"  # the function of calls with words, such as JSON_ARRAYAGG
            raise UnsupportedError(
                f"on streams {name if known else 'this function'} does not work with OVER", span=call.span, hint=BATCH
            )
        made = grouping._bind(found, of, None)
        if made.function == "SPARK":
            raise UnsupportedError("on streams this aggregate does not work with OVER", span=call.span, hint=BATCH)
        if made.function in IN_ORDER:
            made = replace(made, function=IN_ORDER[made.function].name, time=None)
        return self._frame(call), made

    def _lag(self, function: exp.Func, call: Resolved, grouping: Grouping) -> tuple[Frame, AggCall]:
        given = [part for part in (function.this, *function.expressions) if isinstance(part, exp.Expr)]
        given += [function.args[key] for key in ("offset", "default") if function.args.get(key)]
        value, offset, default = [*given, None, None][:3]
        rows = 1 if offset is None else int(offset.name) if isinstance(offset, exp.Literal) and offset.is_int else -1
        if rows < 0 or value is None or len(given) > 3:
            raise BindError("the offset of LAG must be a number of rows", span=call.span, hint="LAG(x, 1)")
        trees = [value, default or exp.Null()]
        arguments: tuple[Scalar, ...] = tuple(scalar.to_scalar(tree, call.types, call.span) for tree in trees)
        name = free_name("lag", grouping._taken)
        kind = arguments[0].type
        return Frame(ROWS, rows, rows), AggCall(name, VALUE_OF_ROW.name, arguments, type=kind, span=call.span)

    def _frame(self, call: Resolved) -> Frame:
        spec = call.tree.args.get("spec")
        if spec is None:
            return Frame(RANGE, None)
        unit, start, side = str(spec.args["kind"]).upper(), spec.args.get("start"), spec.args.get("start_side")
        end = spec.args.get("end")
        ends_here = end in (None, "CURRENT ROW") and not spec.args.get("exclude")
        if unit not in (ROWS, RANGE) or not ends_here or str(side or "PRECEDING").upper() != "PRECEDING":
            raise UnsupportedError(
                "on streams a frame of OVER ends at CURRENT ROW: later rows are not known yet",
                span=call.span,
                hint="ROWS or RANGE BETWEEN ... PRECEDING AND CURRENT ROW",
            )
        if isinstance(start, str):
            return Frame(unit, None if start.upper() == "UNBOUNDED" else 0)
        if unit == ROWS and (rows := _number(start)) is not None and rows >= 0:
            return Frame(ROWS, rows)
        if unit == RANGE and isinstance(start, exp.Interval):
            return Frame(RANGE, self._interval(start, call))
        raise UnsupportedError(
            f"on streams {unit} takes {'a number of rows' if unit == ROWS else 'an interval of time'}",
            span=call.span,
            hint="ROWS BETWEEN 2 PRECEDING ..." if unit == ROWS else "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING ...",
        )

    @staticmethod
    def _interval(start: exp.Interval, call: Resolved) -> int:
        unit = start.args.get("unit")
        words = [unit.this, unit.expression] if isinstance(unit, exp.IntervalSpan) else [unit]
        units = [unit_of(word.name) if word is not None else None for word in words]
        if units[0] is None or start.this is None:
            raise BindError("this interval has no unit", span=call.span, hint="INTERVAL '1' HOUR")
        try:
            ms, months = parse_interval(start.this.name, units[0], units[1] if len(units) > 1 else None)
        except ValueError as error:
            raise BindError(str(error), span=call.span, hint="INTERVAL '1' HOUR") from None
        if months or ms < 0:
            raise UnsupportedError("a frame is in days and smaller units", span=call.span, hint="INTERVAL '30' DAY")
        return ms


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
