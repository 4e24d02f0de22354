"""Turns Flink's older group windows, GROUP BY TUMBLE(ts, size) and TUMBLE_START(ts, size), into window functions.

The parser puts a column in place of each call. Here they become window_start, window_end and window_time of a window
function over the SELECT's input. Source: semantics.md#group-windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.syntax import ast

COLUMNS = {"START": "window_start", "END": "window_end", "ROWTIME": "window_time", "PROCTIME": "window_time"}
QUALIFIER = "$window"  # qualifies the window's columns, because the table's columns may have the same names
GROUPED = ("expressions", "having", "order", "qualify")  # clauses that are evaluated after GROUP BY

Calls = Mapping[str, ast.WindowCall]  # by the column in their place


@dataclass(frozen=True)
class Modern:
    """A SELECT over a window function. `over` is the placeholder of the function's call in FROM. The call is
    `group.call` over the SELECT's former input, restricted to the rows that satisfy `where`.
    """

    tree: exp.Select
    over: str
    group: ast.GroupWindow
    where: exp.Expr | None


def modern(tree: exp.Select, calls: Calls) -> Modern | None:
    """Return the SELECT with a window function in place of its group window; None if it has none.

    Raises SqlSyntaxError or UnsupportedError for calls that do not belong together.
    """
    items = tree.args["group"].expressions if tree.args.get("group") else []
    names = [item.name for item in items if _is_call(item, calls)]
    if not names or not tree.args.get("from_"):
        return None
    if len(names) > 1:
        raise UnsupportedError(
            "GROUP BY can only have one group window",
            span=calls[names[1]].span,
            hint="join two queries, one window each",
        )
    window = calls[names[0]]
    if "_" in window.function:
        raise SqlSyntaxError(
            f"{window.function} is not allowed in GROUP BY",
            span=window.span,
            hint=f"GROUP BY {window.function.partition('_')[0]}(...) with the same arguments",
        )
    partition = _partition(tree, calls) if window.function == "SESSION" else ()
    tree = tree.copy()
    used: dict[Span, str] = {}
    times: list[ast.Name] = []

    def column(node: exp.Expr) -> exp.Expr:
        if not _is_call(node, calls):
            return node
        call = calls[node.name]
        used[call.span] = _column_of(call, window)
        if used[call.span] == "window_time":
            times.append(ast.Name(call.function, call.span))
        return _column(used[call.span], call.span)

    for key in GROUPED:
        _set(tree, key, lambda part: part.transform(column))
    keys = [name for name in dict.fromkeys(COLUMNS.values()) if name != "window_time" or times]
    made = [_column(name, window.span) for name in keys]
    grouped = [part for item in tree.args["group"].expressions for part in (made if _is_call(item, calls) else [item])]
    tree.args["group"].set("expressions", grouped)
    used[window.span] = ", ".join(keys)
    alias = tree.args["from_"].this.args.get("alias")
    one_table = not tree.args.get("joins") and not (alias and alias.args.get("columns"))
    tree.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(names[0], quoted=True))))
    tree.set("joins", None)
    where = tree.args.get("where") if window.function == "SESSION" else None
    if where:  # WHERE chooses the rows that make sessions
        if where.find(exp.Query):
            raise UnsupportedError(
                "with GROUP BY SESSION, WHERE cannot contain a subquery",
                span=window.span,
                hint="FROM (SELECT * FROM t WHERE ...) GROUP BY SESSION(ts, gap)",
            )
        tree.set("where", None)
    window = replace(window, times=tuple(times), qualifier=QUALIFIER)
    group = ast.GroupWindow(window, tuple(used.items()), one_table, partition, where is not None)
    return Modern(tree, names[0], group, where.this if where else None)


def _partition(tree: exp.Select, calls: Calls) -> tuple[ast.Name, ...]:
    """The other keys of GROUP BY, which partition sessions; constants do not. An expression is an UnsupportedError."""
    group = tree.args["group"]
    sources = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or ())]
    tables = {source.alias_or_name.lower() for source in sources}
    others = [item for item in group.expressions if not _is_call(item, calls)]
    others += [part for name, value in group.args.items() if name != "expressions" and isinstance(value, list)
               for part in value]  # fmt: skip
    found = []
    for item in others:
        if isinstance(item, exp.Literal | exp.Boolean | exp.Null):
            continue
        if not isinstance(item, exp.Column) or (item.table and item.table.lower() not in tables):
            raise UnsupportedError(
                "the other keys of GROUP BY SESSION must be columns",
                span=_place(item, next(iter(calls.values())).span),
                hint="FROM (SELECT *, upper(item) AS key FROM t) GROUP BY SESSION(ts, gap), key",
            )
        meta = item.this.meta
        found.append(ast.Name(item.name, Span(meta["start"], meta["end"] + 1)))
    return tuple(found)


def _place(tree: exp.Expr, otherwise: Span) -> Span:
    places = [node.meta for node in tree.walk() if "start" in node.meta]
    return Span(min(at["start"] for at in places), max(at["end"] for at in places) + 1) if places else otherwise


def refuse_left_over(tree: exp.Expr, calls: Calls, windows: Calls) -> None:
    """Raise SqlSyntaxError for a group window's call in a SELECT that does not group by that window, and for a call of
    a window function that is not used as a table.
    """
    for node in tree.find_all(exp.Column):
        if _is_call(node, windows):
            call = windows[node.name]
            raise SqlSyntaxError(
                f"the window function {call.function} is only allowed in FROM",
                span=call.span,
                hint=f"FROM TABLE({call.function}(...))",
            )
        if _is_call(node, calls):
            call = calls[node.name]
            function, _, kind = call.function.partition("_")
            where = f"SELECT {call.function}(ts, ...), ... " if kind else ""
            raise SqlSyntaxError(
                f"{call.function} needs GROUP BY {function}(...)" if kind else f"{function} is not allowed here",
                span=call.span,
                hint=f"{where}GROUP BY {function}(ts, ...)",
            )


def _is_call(node: exp.Expr, calls: Calls) -> bool:
    return isinstance(node, exp.Column) and not node.table and node.name in calls


def _column_of(call: ast.WindowCall, window: ast.WindowCall) -> str:
    """The window column that a call such as TUMBLE_START returns."""
    function, _, kind = call.function.partition("_")
    if not kind:
        raise SqlSyntaxError(
            f"{function} is only allowed in GROUP BY", span=call.span, hint=f"{function}_START or {function}_END"
        )
    tables = {table.lower() for each in (call, window) if (table := _qualifier(each))}
    if function != window.function or call.arguments != window.arguments or len(tables) > 1:
        raise SqlSyntaxError(
            f"{call.function} does not match {window.function} in GROUP BY",
            span=call.span,
            hint=f"{window.function}_{kind} with the same arguments as {window.function}",
        )
    return COLUMNS[kind]


def _qualifier(call: ast.WindowCall) -> str | None:
    time = call.arguments[0].value
    return time.table if isinstance(time, ast.Descriptor) else None


def _column(name: str, span: Span) -> exp.Expr:
    identifier = exp.to_identifier(name)
    identifier.meta.update(start=span.start, end=span.end - 1)
    return exp.Column(this=identifier, table=exp.to_identifier(QUALIFIER, quoted=True))


def _set(tree: exp.Expr, key: str, change: Callable[[exp.Expr], exp.Expr]) -> None:
    value = tree.args.get(key)
    if value:
        tree.set(key, [change(part) for part in value] if isinstance(value, list) else change(value))
