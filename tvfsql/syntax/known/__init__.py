"""Ensures that no clause gets lost: a tree of sqlglot is accepted only if each kind of node, and each argument that is
set, is known.

The tables are data, by topic: `clauses`, `expressions`, `functions`. `refused_clauses` has the words for unknown ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.syntax.known.clauses import CLAUSES, REFUSED, RESERVED, Table, Values
from tvfsql.syntax.known.expressions import EXPRESSIONS
from tvfsql.syntax.known.functions import NODES

KNOWN: Table = {**CLAUSES, **EXPRESSIONS, **NODES}


# DuckDB's table functions over files
READER = re.compile(
    r"(?P<name>(?:read_(?:csv|parquet|json|ndjson|json_objects)(?:_auto)?|parquet_scan))\('(?P<path>[^']+)'",
    re.IGNORECASE,
)


def refuse_unknown(tree: exp.Expr, span: Span) -> None:
    """Raise UnsupportedError for the tree's first node that is unknown or has an unknown argument, and SqlSyntaxError
    for a name that is an SQL keyword.
    """
    for node in tree.walk(bfs=False):
        of = KNOWN.get(type(node))
        if of is None:
            raise _refusal(node, "", span)
        for argument, value in node.args.items():
            if _is_set(value) and not (argument in of.arguments and _is_one_of(value, of.arguments[argument])):
                raise _refusal(node, argument, span)
        if isinstance(node, exp.Distinct) and isinstance(node.parent, exp.Func) and not any(node.expressions):
            raise SqlSyntaxError("something is missing after DISTINCT", span=_place(node, span))
        if isinstance(node, exp.Star) and not _may_stand(node):
            raise SqlSyntaxError(
                "* only stands in SELECT and COUNT(*)", span=_place(node, span), hint=f"{_name_around(node)}(column)"
            )
        if isinstance(node, exp.Identifier) and not node.quoted and node.name.lower() in RESERVED:
            raise SqlSyntaxError(
                f"unexpected {node.name}", span=_place(node, span), hint=f"`{node.name}`, if it is a name"
            )


def _may_stand(star: exp.Star) -> bool:
    """Whether it is an item of SELECT, alone or of a table, or the argument of COUNT."""
    parent = star.parent
    named = parent.parent if isinstance(parent, exp.Column | exp.Dot) else parent
    return named is None or isinstance(named, exp.Query) or (named is parent and isinstance(parent, exp.Count))


def _name_around(node: exp.Expr) -> str:
    function = node.find_ancestor(exp.Func) or exp.Count()
    return function.name if isinstance(function, exp.Anonymous) else function.sql_name()


def _is_set(value: object) -> bool:
    return value is not None and value is not False and value != [] and value != ""


def _is_one_of(value: object, values: Values) -> bool:
    if values is None:
        return True
    if isinstance(value, exp.Expr):
        return type(value) in values
    return (value.upper() if isinstance(value, str) else value) in values


def _refusal(node: exp.Expr, argument: str, span: Span) -> UnsupportedError:
    value = node.args.get(argument)
    what, hint = REFUSED.get((type(node), argument)) or (_called(node, argument), None)
    if isinstance(node, exp.Table) and isinstance(value, exp.Func) and (read := READER.match(value.sql())):
        what, hint = f"{read['name'].lower()}(...)", f"FROM '{read['path']}'"
    places = value if isinstance(value, list) else [value]
    nearest = next((part for part in places if isinstance(part, exp.Expr) and any(_spans(part))), node)
    return UnsupportedError(f"{what} is not supported", span=_place(nearest, span), hint=hint)


def _called(node: exp.Expr, argument: str) -> str:
    """The SQL name of a node or of an argument of it; the name in sqlglot if SQL has none."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).upper()
    return f"{argument.strip('_').replace('_', ' ').upper()} of {words}" if argument else words


def _place(node: exp.Expr, otherwise: Span) -> Span:
    """The span of a node, or of the nearest node around it that has one."""
    at: exp.Expr | None = node
    while at is not None:
        if spans := [*_spans(at)]:
            return Span(min(span.start for span in spans), max(span.end for span in spans))
        at = at.parent
    return otherwise


def _spans(node: exp.Expr) -> Iterator[Span]:
    for part in node.walk():
        if "start" in part.meta:
            yield Span(part.meta["start"], part.meta["end"] + 1)
