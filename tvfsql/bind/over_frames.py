"""Binds functions with OVER, ordered by event time, to OverAggregate operators of streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.aggregate import Grouping
from tvfsql.bind.rank import named_columns
from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Relation, resolve
from tvfsql.bind.spark_text.functions import function_name
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.table import FIRST_OF_ROWS, LAST_OF_ROWS, VALUE_OF_ROW
from tvfsql.plan.node import Node
from tvfsql.plan.over import RANGE, ROWS, Frame, OverAggregate
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.values.scalar import Scalar, free_name, text
from tvfsql.plan.values.types import BIGINT, SqlType
from tvfsql.syntax import ast
from tvfsql.syntax.interval import parse_interval, unit_of

IN_ORDER = {"FIRST_VALUE": FIRST_OF_ROWS, "LAST_VALUE": LAST_OF_ROWS}
UNKNOWN_YET = ("LEAD", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST", "NTH_VALUE")
BATCH = "--mode batch"


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
        together: dict[tuple[exp.Expr, ...], list[Resolved]] = {}
        for call in calls:
            found = resolve(call, relation)
            assert isinstance(found.tree, exp.Window), found.tree
            together.setdefault(tuple(found.tree.args.get("partition_by") or ()), []).append(found)
        for partition, of_partition in together.items():
            made._add(partition, of_partition)
        return made

    def in_place(self, part: Resolved) -> Resolved:
        """Replace the functions in an expression by the columns with their results."""
        tree = scalar.replace_parts(part.tree, self.parts)
        return Resolved(tree, {**part.types, **self.types}, part.span)

    def _add(self, partition: Sequence[exp.Expr], calls: Sequence[Resolved]) -> None:
        keys = [scalar.to_scalar(tree, calls[0].types, calls[0].span) for tree in partition]
        source, names = named_columns(self.node, keys, "")
        time = self._time(calls)
        grouping = Grouping(replace(self.relation, node=source), by_sketch=self.by_sketch)
        frames, bound = list[Frame](), list[AggCall]()
        for call in calls:
            frame, made = self._bind(call, grouping)
            grouping.calls.append(made)
            frames.append(frame)
            bound.append(made)
            self.parts[call.tree] = scalar.column_tree(made.name)
            self.types[made.name] = made.type
        partition_by = tuple(dict.fromkeys(names))
        self.node = OverAggregate(source, partition_by, time, tuple(frames), tuple(bound), span=calls[0].span)

    def _time(self, calls: Sequence[Resolved]) -> str:
        """The event time, by which all of them are ordered."""
        for call in calls:
            keys = call.tree.args["order"].expressions if call.tree.args.get("order") else []
            name = keys[0].this.name if len(keys) == 1 and isinstance(keys[0].this, exp.Column) else None
            if name is not None and is_proctime(self.relation.node, name):
                raise UnsupportedError(
                    "on streams OVER does not work by processing time", span=call.span, hint="ORDER BY the event time"
                )
            if name is None or keys[0].args.get("desc") or name != self.relation.time:
                raise UnsupportedError(
                    "on streams OVER is ordered by the event time alone, ascending",
                    span=call.span,
                    hint=f"ORDER BY {self.relation.time}" if self.relation.time else "WATERMARK FOR ts in CREATE TABLE",
                )
        assert self.relation.time is not None
        return self.relation.time

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
            raise UnsupportedError(
                f"on streams {name or 'this function'} does not work with OVER", span=call.span, hint=BATCH
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
        if unit == ROWS and isinstance(start, exp.Literal) and start.is_int:
            return Frame(ROWS, int(start.name))
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
