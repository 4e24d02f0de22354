"""The rules: each yields what it finds in a statement, or in a whole script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp

from tvfsql.catalog import Table
from tvfsql.errors import Span
from tvfsql.lint.walk import Seen, expressions, inner_queries, nodes, of_kind, tables_of
from tvfsql.options.known import RUNTIME_MODE
from tvfsql.options.words import Mode
from tvfsql.plan.values.scalar import PROCTIME
from tvfsql.plan.values.times import duration
from tvfsql.syntax import ast, statements
from tvfsql.syntax.tokens import place_of, tokens_of

COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
WINDOW_COLUMNS = ("window_start", "window_end", "window_time")
LOCAL_ZONE = "table.local-time-zone"
# What Flink does not take, and what to write instead.
OF_SPARK: dict[type[exp.Expr], tuple[str, str | None]] = {
    exp.BitwiseAnd: ("&", None),
    exp.BitwiseOr: ("|", None),
    exp.BitwiseXor: ("^", None),
    exp.BitwiseNot: ("~", None),
    exp.BitwiseLeftShift: ("<<", "x * 2"),
    exp.BitwiseRightShift: (">>", "x / 2"),
    exp.IntDiv: ("DIV", "a / b of integers"),
    exp.ILike: ("ILIKE", "LOWER(s) LIKE '...'"),
}
SPELLED = {"==": "=", "!=": "<>", "::": "CAST(x AS STRING)"}


@dataclass(frozen=True)
class Finding:
    """What a rule has found at a place of the script. `hint`: what to write instead."""

    message: str
    span: Span
    hint: str | None = None


def null_comparison(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """A comparison with NULL, which is never true."""
    for tree, span in expressions(statement):
        if isinstance(tree, COMPARISONS) and any(isinstance(side, exp.Null) for side in (tree.left, tree.right)):
            hint = "IS NOT NULL" if isinstance(tree, exp.NEQ) else "IS NULL"
            yield Finding("a comparison with NULL is never true", span, hint)


def group_without_window(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """An aggregate over a window function that groups by none of its columns, and so by no window."""
    for select in of_kind(statement, ast.Select):
        relation = select.relation
        keys = [*select.group_by, *(key for each in select.grouping_sets for key in each.keys)]
        aggregated = keys or any(item.expr and item.expr.tree.find(exp.AggFunc) for item in select.items)
        if not isinstance(relation, ast.WindowTable) or not aggregated or select.over:
            continue
        if relation.call.function in ("GAP_FILL", "FROM_CHANGELOG", "TO_CHANGELOG"):  # rows without windows
            continue
        if not any(_reads_window(key.tree, select) for key in keys):
            twice = " and count a row once for each of its windows" if relation.call.function != "TUMBLE" else ""
            message = f"these groups span all windows{twice}"
            yield Finding(message, relation.span, "GROUP BY window_start, window_end, ...")


def _reads_window(key: exp.Expr, select: ast.Select) -> bool:
    """Whether a key of GROUP BY is a column of the window, directly, by its number or by its alias."""
    if isinstance(key, exp.Literal) and key.is_int:
        item = select.items[int(key.this) - 1] if 0 < int(key.this) <= len(select.items) else None
        return bool(item and item.expr and _reads_window(item.expr.tree, select))
    names = {column.name.lower() for column in key.find_all(exp.Column)}
    for item in select.items:
        if item.alias and item.expr and item.alias.text.lower() in names:
            names |= {column.name.lower() for column in item.expr.tree.find_all(exp.Column)}
    return not names.isdisjoint(WINDOW_COLUMNS)


def uneven_hop(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """A HOP whose size is not a multiple of its slide: rows are in different numbers of windows."""
    for call in of_kind(statement, ast.WindowCall):
        lengths = [each for each in call.arguments if isinstance(each.value, ast.Interval)]
        if call.function != "HOP" or len(lengths) < 2:
            continue
        by_name = {each.name.text.upper(): each for each in lengths if each.name}
        slide, size = by_name.get("SLIDE", lengths[0]).value, by_name.get("SIZE", lengths[1]).value
        assert isinstance(slide, ast.Interval) and isinstance(size, ast.Interval)
        if slide.ms and size.ms % slide.ms:
            few, many = size.ms // slide.ms, size.ms // slide.ms + 1
            message = (
                f"the size {duration(size.ms)} is not a multiple of the slide {duration(slide.ms)}: "
                f"a row is in {few} or in {many} windows"
            )
            yield Finding(message, by_name.get("SIZE", lengths[1]).span)


def idle_order_by(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """An ORDER BY without LIMIT in a view, a subquery or an INSERT, whose rows have no order."""
    for query in inner_queries(statement):
        if query.order_by and query.limit is None and not query.offset:
            yield Finding("this ORDER BY has no effect: rows of a table have no order", query.order_by[0].expr.span)


def limit_without_order(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """A LIMIT without ORDER BY in a view, a subquery or an INSERT: which rows it keeps can differ from run to run."""
    for query in inner_queries(statement):
        if query.limit and not query.order_by:
            message = "without ORDER BY, which rows this LIMIT keeps can differ from run to run"
            yield Finding(message, query.limited, "ORDER BY ... LIMIT ...")


def no_delay(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """A watermark without a delay: on streams each row that is not newer than those before can be late."""
    for watermark in of_kind(statement, statements.Watermark):
        tree = watermark.expr.tree
        zero = isinstance(tree, exp.Sub) and isinstance(tree.right, exp.Interval) and _is_zero(tree.right)
        if isinstance(tree, exp.Column) or zero:
            name = watermark.column.text
            message = "this watermark has no delay: on streams, a row that is not newer than those before can be late"
            yield Finding(message, watermark.expr.span, f"{name} - INTERVAL '5' SECOND")


def _is_zero(interval: exp.Interval) -> bool:
    return bool(interval.this) and interval.this.name.strip("0 .") == ""


def no_watermark(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """A window function over a table without a watermark, in a script that is not for batch only."""
    if seen.script.mode == "batch" or seen.script.options[RUNTIME_MODE] is Mode.BATCH:
        return
    for call in of_kind(statement, ast.WindowCall):
        for argument in call.arguments:
            relation = argument.value.relation if isinstance(argument.value, ast.Input) else None
            table = seen.table(relation.name) if isinstance(relation, ast.TableName) else None
            times = {name.text.lower() for each in of_kind(call, ast.Descriptor) for name in each.columns}
            if table is not None and table.watermark is None and not _by_the_clock(table, times):
                message = f"table {table.name} has no watermark, so this query cannot run on streams"
                hint = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, or SET 'execution.runtime-mode' = 'batch'"
                yield Finding(message, argument.span, hint)


def _by_the_clock(table: Table, times: set[str]) -> bool:
    """Whether one of these columns of a table is the processing time."""
    return any(column.scalar == PROCTIME and column.name.lower() in times for column in table.columns)


def zoneless_literal(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """A TIMESTAMP literal compared with a TIMESTAMP_LTZ column, in a script that does not set the time zone."""
    if any(isinstance(each, statements.SetOption) and each.key == LOCAL_ZONE for each in seen.statements):
        return
    for select in of_kind(statement, ast.Select):
        local = {
            column.name.lower()
            for name in tables_of(select.relation)
            if (table := seen.table(name.name)) is not None
            for column in table.columns
            if str(column.type) == "timestamp"
        }
        for tree, span in expressions((select.where, select.having)):
            if isinstance(tree, (*COMPARISONS, exp.Between)):
                sides = [tree.this, *(tree.args.get(each) for each in ("expression", "low", "high"))]
                columns = [side.name for side in sides if isinstance(side, exp.Column) and side.name.lower() in local]
                if columns and any(_is_timestamp(side) for side in sides):
                    message = f"{columns[0]} is an instant: {LOCAL_ZONE} decides which one this literal means"
                    yield Finding(message, span, f"SET '{LOCAL_ZONE}' = 'UTC'")


def _is_timestamp(tree: exp.Expr | None) -> bool:
    """Whether a tree is TIMESTAMP '...'."""
    return isinstance(tree, exp.Cast) and isinstance(tree.this, exp.Literal) and tree.is_type("TIMESTAMP")


def filter_after_windows(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """A condition on window_start or window_end without one on the time column: rows of all windows are read."""
    for select in of_kind(statement, ast.Select):
        call = select.relation.call if isinstance(select.relation, ast.WindowTable) else None
        times = {name.text.lower() for each in of_kind(call, ast.Descriptor) for name in each.columns}
        if call is None or not any(seen.table(name.name) for name in tables_of(select.relation)):
            continue
        named = [argument.name.text.upper() for argument in call.arguments if argument.name]
        having = None if "FILL" in named else select.having  # the row before a window says what is in it
        conditions = [*expressions((select.where, having, *of_kind(call, ast.Expr)))]
        if any(isinstance(tree, exp.Column) and tree.name.lower() in times for tree, _ in conditions):
            continue
        for tree, span in conditions:
            sides = (tree.left, tree.right) if isinstance(tree, COMPARISONS) else ()
            columns = [{column.name.lower() for column in side.find_all(exp.Column)} for side in sides]
            if set() in columns and any(each and each <= {*WINDOW_COLUMNS} for each in columns):
                message = "this condition chooses windows after all of them are computed"
                yield Finding(message, span, f"also a condition on {', '.join(sorted(times))}")


def unused(seen: Seen) -> Iterator[Finding]:
    """A view or table that the script creates and never mentions again, if it has a query at all."""
    kinds = (ast.Query, statements.Insert, statements.StatementSet, statements.Hinted, statements.Explain)
    if not any(isinstance(each, kinds) for each in seen.statements):
        return
    for i, statement in enumerate(seen.statements):
        if isinstance(statement, statements.CreateView | statements.CreateTable):
            name = statement.name.text.lower()
            if not any(name in _mentioned(each) for each in seen.statements[i + 1 :]):
                kind = "view" if isinstance(statement, statements.CreateView) else "table"
                yield Finding(f"{kind} {statement.name.text} is not used", statement.name.span)


def _mentioned(statement: statements.Statement) -> set[str]:
    """The names in a statement, in lower case, apart from those of columns that only sqlglot knows."""
    names = {node.name for node in nodes(statement) if isinstance(node, ast.TableName)}
    names |= {node.text for node in nodes(statement) if isinstance(node, ast.Name)}
    if isinstance(statement, statements.Call):
        names |= {each.text for each in statement.arguments if isinstance(each, statements.Constant)}
    if isinstance(statement, statements.SetOption) and statement.value:
        names.add(statement.value)
    return {name.lower() for name in names}


def beyond_flink(statement: statements.Statement, seen: Seen) -> Iterator[Finding]:
    """Operators of Spark that Flink does not have, positions in GROUP BY, and {,n} in patterns. Types tell the rest
    (`bind.flink`)."""
    for tree, span in expressions(statement):
        if (found := OF_SPARK.get(type(tree))) is not None:
            yield Finding(f"Flink does not take {found[0]}", span, found[1])
    for one, other in pairwise(tokens_of(seen.sql, statement.span)):
        span = Span(place_of(one).start, place_of(other).end)
        if span.end - span.start == len(one) + len(other) and (hint := SPELLED.get(f"{one}{other}")) is not None:
            yield Finding(f"Flink does not take {one}{other}", span, hint)
    for select in of_kind(statement, ast.Select):
        for key in select.group_by:
            if isinstance(key.tree, exp.Literal) and key.tree.is_int and int(key.tree.this) <= len(select.items):
                yield Finding("for Flink this number is a constant, and no position", key.span, "the expression itself")
    for clause in of_kind(statement, ast.MatchRecognize):
        for each in clause.pattern:
            if "{," in "".join(seen.sql[each.span.start : each.span.end].split()):
                hint = f"{each.name.text}{{0,{each.most}}}{'' if each.greedy else '?'}"
                yield Finding("Flink does not take {,n}", each.span, hint)


OF_STATEMENTS = {
    "beyond-flink": beyond_flink,
    "filter-after-windows": filter_after_windows,
    "group-without-window": group_without_window,
    "idle-order-by": idle_order_by,
    "limit-without-order": limit_without_order,
    "no-delay": no_delay,
    "no-watermark": no_watermark,
    "null-comparison": null_comparison,
    "uneven-hop": uneven_hop,
    "zoneless-literal": zoneless_literal,
}
OF_SCRIPTS = {"unused": unused}
