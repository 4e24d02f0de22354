"""Binds WINDOWS(TABLE t, DESCRIPTOR(ts), TUMBLE(...) AS minute, HOP(...) AS hour): several windows over one table. Each
row has the name of its window. Flink has no such function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce

from tvfsql.bind.flink.beyond import note_clause
from tvfsql.bind.scalar import text_literal
from tvfsql.bind.scope import Relation, Visible
from tvfsql.bind.windows.call import PARTITIONED, USAGE, by_name, input_of
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project, SetOperation
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS, WINDOW_NAME
from tvfsql.plan.values.scalar import column, free_name
from tvfsql.plan.values.types import STRING
from tvfsql.syntax import ast

TAKEN = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
EXAMPLE = "TUMBLE(INTERVAL '1' MINUTE) AS minute"


def bind_named_windows(call: ast.WindowCall, bind_window: Callable[[ast.WindowCall], Relation]) -> Relation:
    """The rows of all windows: the columns of the table, the STRING window_name, and the columns of the window.
    `bind_window` binds the call of a single window function.

    Raises BindError, or UnsupportedError for a function that cannot be one of several.
    """
    note_clause("WINDOWS", call.span)
    windows = [argument.value for argument in call.arguments if isinstance(argument.value, ast.NamedWindow)]
    others = tuple(argument for argument in call.arguments if not isinstance(argument.value, ast.NamedWindow))
    for argument in others[2:]:
        if isinstance(argument.value, ast.Other) and argument.value.text.upper().startswith(TAKEN):
            hint = f"{argument.value.text} AS name"
            raise BindError("each window of WINDOWS needs a name", span=argument.span, hint=hint)
    given = by_name(replace(call, arguments=others))
    input_of(call, given)
    if not windows:
        raise BindError("WINDOWS needs at least one window", span=call.span, hint=USAGE["WINDOWS"])
    _check_names(windows)
    found = [bind_window(single) for single in _single_calls(windows, given["DATA"], given["TIMECOL"])]
    sides = [_named(one.node, window.name.text) for one, window in zip(found, windows, strict=True)]
    node = reduce(lambda left, right: SetOperation(left, right, "union", all=True), sides)
    own = len(WINDOW_COLUMNS)
    (*visible, first, second, third) = found[0].visible
    name = Visible(first.qualifier, WINDOW_NAME, node.columns[-own - 1], STRING, first.hidden)
    return Relation(node, (*visible, name, first, second, third), found[0].time)


def _check_names(windows: list[ast.NamedWindow]) -> None:
    names: set[str] = set()
    for window in windows:
        if window.name.text.lower() in names:
            raise BindError(f"two windows have the name {window.name.text}", span=window.name.span)
        names.add(window.name.text.lower())
        if window.call.function not in TAKEN:
            raise UnsupportedError(
                f"{window.call.function} cannot be a window of WINDOWS", span=window.call.span, hint=EXAMPLE
            )


def _single_calls(windows: list[ast.NamedWindow], data: ast.Argument, time: ast.Argument) -> Iterator[ast.WindowCall]:
    """A call of each window function over the table. Only those that take PARTITION BY get it, if one of them does."""
    table = data.value
    assert isinstance(table, ast.Input), table
    partitioned = any(window.call.function in PARTITIONED for window in windows)
    for window in windows:
        function, own = window.call.function, window.call.arguments
        bare = replace(table, partition_by=()) if partitioned and function not in PARTITIONED else table
        first = (replace(data, name=None, value=bare), replace(time, name=None))
        yield ast.WindowCall(function, (*first, *own), window.call.span)


def _named(windowed: Node, name: str) -> Node:
    """The rows with the name of their window before the columns of the window."""
    made = Item(free_name(WINDOW_NAME, windowed.columns), replace(text_literal(name), type=STRING))
    items = [Item(field.name, column(field.name, field.type)) for field in windowed.schema]
    return Project(windowed, (*items[: -len(WINDOW_COLUMNS)], made, *items[-len(WINDOW_COLUMNS) :]))
