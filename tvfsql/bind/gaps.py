"""Binds FILL of a window function: the windows without rows of the aggregate above it, with LOCF and INTERPOLATE."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.scalar import Resolved
from tvfsql.bind.user_function_calls import user_of
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.sketched import ESTIMATE
from tvfsql.plan.aggregate.table import AGGREGATES
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.gaps import EMPTY, FILLS, LINEAR, ZERO, GapFill
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Filter, Item, Project, Unnest
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Scalar, column
from tvfsql.plan.values.types import UNKNOWN, is_integer, is_number
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.plan.window_nodes import WindowProperty, WindowTableFunction

ZEROS = ("COUNT", "SUM0", "REGR_COUNT", ESTIMATE)
# Lists of no rows: Flink and Spark do not agree whether they are empty or NULL.
LISTS = ("COLLECT", "COLLECT_LIST", "COLLECT_SET", "COLLECT_UNION")
GROUPED = "GROUP BY window_start, window_end and the keys"


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
            written = argument.tree.sql(dialect="spark")
            if how == LINEAR and made.type != UNKNOWN and (is_integer(made.type) or not is_number(made.type)):
                raise BindError(
                    f"INTERPOLATE takes a DOUBLE, FLOAT or DECIMAL, but {written} is {made.type.flink}",
                    span=argument.span,
                    hint=f"INTERPOLATE(CAST({written} AS DOUBLE))",
                )
            values.append((name, how))
            kept.append(Item(name, made))
        plain = tuple(item.name for item in kept) == node.columns and all(item.scalar.column for item in kept)
        source: Node = node if plain else Project(node, tuple(kept), span=node.span)
        return GapFill(source, partition, window, properties, tuple(values), function.fill, span=span)


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
