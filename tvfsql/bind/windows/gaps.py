"""Binds FILL of a window function, the windows without rows of the aggregate above it, and GAP_FILL, rows on a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.flink.beyond import note_clause
from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Relation, Visible
from tvfsql.bind.user_function_calls import user_of
from tvfsql.bind.windows.call import by_name, input_of, interval_of, length_of, literal_of
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.options import Options
from tvfsql.options.known import ZONE
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.sketched import ESTIMATE
from tvfsql.plan.aggregate.table import AGGREGATES
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.gaps import EMPTY, FILLS, GRID_FILLS, LINEAR, PREVIOUS, ZERO, GapFill, GridFill
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Filter, Item, Project, Unnest
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Scalar, column
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.types import TIMESTAMP_LTZ, UNKNOWN, SqlType, is_integer, is_number
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.plan.window_nodes import WindowProperty, WindowTableFunction
from tvfsql.syntax import ast

ZEROS = ("COUNT", "SUM0", "REGR_COUNT", ESTIMATE)
# Lists of no rows: Flink and Spark do not agree whether they are empty or NULL.
LISTS = ("COLLECT", "COLLECT_LIST", "COLLECT_SET", "COLLECT_UNION")
GROUPED = "GROUP BY window_start, window_end and the keys"
MAX_GAP = "MAX_GAP => INTERVAL '1' HOUR"
# Every time zone is ahead of UTC by a multiple of it, so a grid that divides it is the same by each of their clocks.
QUARTER = 15 * 60_000


def gap_calls(tree: exp.Expr) -> Iterator[exp.Anonymous]:
    """The calls of LOCF and INTERPOLATE, unless these are users' functions."""
    calls = tree.find_all(exp.Anonymous)
    return (call for call in calls if call.name.upper() in FILLS and user_of(call) is None)


def refuse_unfilled(plan: Node) -> None:
    """Raise UnsupportedError for FILL of a window function whose rows no aggregate groups by window."""
    for node in plan.walk():
        if isinstance(node, WindowTableFunction) and node.fill is not None:
            raise UnsupportedError(
                "FILL needs an aggregate by window directly above: other rows have no windows without rows",
                span=node.fill.span,
                hint=GROUPED,
            )


@dataclass
class Gaps:
    """The windows without rows of one aggregate. `source` is what it aggregates, `function` the window function with
    FILL, None without one. `values` are the columns of LOCF and INTERPOLATE: name, value and how it is filled. `bare`
    are the aggregates that the query reads itself."""

    source: Node
    function: WindowTableFunction | None = None
    values: list[tuple[str, Resolved, str]] = field(default_factory=list)
    bare: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, source: Node) -> Gaps:
        below = source
        while isinstance(below, Project | Filter | Unnest):
            below = below.input
        if not isinstance(below, WindowTableFunction) or below.fill is None:
            return cls(source)
        whole = below
        return cls(source.transform(lambda node: replace(node, fill=None) if node is whole else node), below)

    @property
    def wanted(self) -> bool:
        return self.function is not None

    def argument(self, call: exp.Anonymous, of: Resolved) -> Resolved:
        """The value that LOCF or INTERPOLATE fills. Raises BindError if no windows are filled."""
        name, span = call.name.upper(), scalar.place_of(call, of.span)
        if self.function is None:
            hint = "FILL => INTERVAL '1' HOUR as the last argument of the window function"
            raise BindError(f"{name} needs windows without rows, which FILL makes", span=span, hint=hint)
        if len(call.expressions) != 1:
            raise BindError(f"{name} takes one argument", span=span, hint=f"{name}(AVG(x))")
        if next(gap_calls(call.expressions[0]), None) is not None:
            raise BindError(f"{name} cannot be nested", span=span, hint=f"{name}(AVG(x))")
        return Resolved(call.expressions[0], of.types, span)

    def over(self, node: Aggregate, value: Callable[[Resolved], Scalar], *, several_sets: bool) -> GapFill:
        """The aggregate with the windows without rows. `value` makes an expression over its columns."""
        function, known = self.function, window_of(node)
        assert function is not None and function.fill is not None
        window, span = function.window, function.fill.span
        assert isinstance(window, Tumble | Hop | Cumulate)
        if several_sets:
            raise UnsupportedError(
                "FILL does not work with several grouping sets", span=span, hint="a query for each set, with UNION ALL"
            )
        if known is None or known.named_by(node.keys) is None:
            raise BindError("FILL needs the start and the end of the window as keys", span=span, hint=GROUPED)
        kinds = {key: kind for key in node.keys if (kind := known.kind(key))}
        properties = tuple(WindowProperty(key, kind, node.type_of(key)) for key, kind in kinds.items())
        partition = tuple(key for key in node.keys if key not in kinds)
        for key in partition:
            if _reads_window(node.input, key):
                raise UnsupportedError(
                    f"with FILL a key of GROUP BY cannot be computed from the window, but {key} is",
                    span=span,
                    hint=f"{GROUPED}, and compute it in SELECT",
                )
        kept = [Item(key, column(key, node.type_of(key))) for key in node.keys]
        values: list[tuple[str, str]] = []
        for call in node.calls:
            if call.name in self.bare:
                values.append((call.name, _of_no_rows(call)))
                kept.append(Item(call.name, column(call.name, call.type)))
        for name, argument, how in self.values:
            made = value(argument)
            if how == LINEAR:
                written = argument.tree.sql(dialect="spark")
                refuse_without_line(made.type, written, argument.span, f"INTERPOLATE(CAST({written} AS DOUBLE))")
            values.append((name, how))
            kept.append(Item(name, made))
        plain = tuple(item.name for item in kept) == node.columns and all(item.scalar.column for item in kept)
        source: Node = node if plain else Project(node, tuple(kept), span=node.span)
        return GapFill(source, partition, window, properties, tuple(values), function.fill, span=span)


def refuse_without_line(kind: SqlType, written: str, span: Span | None, hint: str) -> None:
    """Raise BindError for INTERPOLATE of a type that has no values between two others."""
    if kind != UNKNOWN and (is_integer(kind) or not is_number(kind)):
        reason = f"INTERPOLATE takes a DOUBLE, FLOAT or DECIMAL, but {written} is {kind.flink}"
        raise BindError(reason, span=span, hint=hint)


def _of_no_rows(call: AggCall) -> str:
    """What an aggregate is of no rows. Raises UnsupportedError if that is not known."""
    if call.function in ZEROS:
        return ZERO
    lists = call.function in LISTS or isinstance(call.chosen, TopRows)
    if call.function in AGGREGATES and not lists and call.user is None:
        return EMPTY
    name = call.arguments[0].sql.partition("(")[0] if call.function == "SPARK" else call.function
    raise UnsupportedError(
        f"FILL does not know what {name} is of no rows", span=call.span, hint=f"LOCF({name}(...)) has the value before"
    )


def _reads_window(node: Node, name: str) -> bool:
    """Whether a column is computed from the columns of a window."""
    match node:
        case Project(source, items):
            scalar = next(item.scalar for item in items if item.name == name)
            return any(_reads_window(source, read) for read in scalar.columns)
        case Filter(source):
            return _reads_window(source, name)
        case Unnest(source):
            return name in source.columns and _reads_window(source, name)
    return name in WINDOW_COLUMNS


# ---- rows on a grid ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoundGrid:
    """A call of GAP_FILL: its input, the name of its time column with its qualifier, if it has one, its grid, how far
    it fills (`plan.gaps.GridFill`), the keys, and the columns with the functions that say what added rows have in
    them."""

    input: ast.Input
    time: ast.Name
    table: str | None
    grid: Tumble
    limit: int | None
    goes_on: bool
    keys: tuple[ast.Name, ...]
    fills: tuple[tuple[str, ast.Name], ...]
    span: Span | None

    def over(self, source: Relation, time: Visible, options: Options) -> Relation:
        """The rows of `source` and those between them. `time` is the column that they are on the grid by."""
        proctime = is_proctime(source.node, time.plan)
        if proctime:
            raise UnsupportedError(
                "GAP_FILL does not work by processing time: a row never comes late or early then",
                span=self.time.span,
                hint="DESCRIPTOR(ts), where ts has a WATERMARK",
            )
        zone = options[ZONE] if time.type == TIMESTAMP_LTZ else "UTC"
        if zone != "UTC" and (QUARTER % self.grid.size or self.grid.offset):
            raise UnsupportedError(
                f"GAP_FILL by the clock of {zone} takes a width that divides 15 minutes, not "
                f"{duration(self.grid.size)}, and no offset",
                span=self.time.span,
                hint="INTERVAL '15' MINUTE, or SET 'table.local-time-zone' = 'UTC'",
            )
        partition = tuple(dict.fromkeys(source.lookup(None, name.text, name.span).plan for name in self.keys))
        values = dict.fromkeys((part for part in source.node.columns if part not in (*partition, time.plan)), PREVIOUS)
        named: set[str] = set()
        for function, name in self.fills:
            found = source.lookup(None, name.text, name.span)
            if found.plan not in values or found.plan in named:
                twice = "is in two functions" if found.plan in named else "is a key or the time, which GAP_FILL fills"
                raise BindError(f"column {name.text} {twice}", span=name.span, hint="leave it out")
            if function == "INTERPOLATE":
                hint = f"CAST({name.text} AS DOUBLE) in a subquery"
                refuse_without_line(found.type, name.text, name.span, hint)
            named.add(found.plan)
            values[found.plan] = GRID_FILLS[function]
        filled = tuple(values.items())
        node = GridFill(
            source.node, partition, time.plan, self.grid, filled, self.limit, goes_on=self.goes_on, span=self.span
        )
        return Relation(node, source.visible, time.plan)


def bind_grid(call: ast.WindowCall, options: Options) -> BoundGrid:
    """Read the arguments of GAP_FILL. Raises BindError, or UnsupportedError for a gap of any length on streams."""
    fills: list[tuple[str, ast.Name]] = []
    keys: list[ast.Name] = []
    rest: list[ast.Argument] = []
    for argument in call.arguments:
        value = argument.value
        if argument.name is not None or not isinstance(value, ast.Other) or len(rest) < 2:
            rest.append(argument)
        elif value.function == "PARTITION_BY":
            keys += value.columns
        elif value.function in GRID_FILLS:
            fills += [(value.function, name) for name in value.columns]
        else:
            function = value.text.partition("(")[0].strip().upper()
            known = function in (*GRID_FILLS, "PARTITION_BY")
            reason = f"{function} of GAP_FILL takes columns" if known else f"GAP_FILL does not know {value.text}"
            hint = f"{function}(x)" if known else did_you_mean(function, GRID_FILLS, otherwise="functions: ")
            raise BindError(reason, span=value.span, hint=hint)
    given = by_name(ast.WindowCall(call.function, tuple(rest), call.span))
    data, time = input_of(call, given)
    width = length_of(call.function, "BIN_WIDTH", given["BIN_WIDTH"])
    offset = interval_of(call.function, "OFFSET", given["OFFSET"]) if "OFFSET" in given else 0
    limit = next((name for name in ("FILL", "MAX_GAP") if name in given), None)
    if "FILL" in given and "MAX_GAP" in given:
        raise BindError(
            "GAP_FILL takes MAX_GAP, for gaps between two rows, or FILL, for rows after the last one too, not both",
            span=given["FILL"].span,
            hint=MAX_GAP,
        )
    if limit is None and options.streaming:
        reason = "a stream must know how long a gap may be: until then it keeps the last row of each key"
        raise UnsupportedError(reason, span=call.span, hint=MAX_GAP)
    most = None if limit is None else length_of(call.function, limit, given[limit])
    if most is not None and limit is not None and most < width:
        raise BindError(
            f"{limit} ({duration(most)}) is shorter than the grid ({duration(width)}), so no gap would be filled",
            span=given[limit].span,
            hint=f"{limit} => {literal_of(width)}",
        )
    note_clause("GAP_FILL", call.span)
    return BoundGrid(
        data,
        time.columns[0],
        time.table,
        Tumble(width, offset % width),
        most,
        limit == "FILL",
        (*data.partition_by, *keys),
        tuple(fills),
        call.span,
    )
