"""GROUP BY: its plain keys, and the sets of keys of GROUPING SETS, CUBE and ROLLUP."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, combinations, product
from math import prod

from sqlglot import exp

from tvfsql.errors import Span, UnsupportedError

MAX_SETS = 4096

ALL_COLUMNS = re.compile(  # without keys behind it
    r"\bGROUP\s+BY\s+(?P<all>ALL)(?=\s*(?:\Z|[;)]|--|/\*|(?:HAVING|ORDER|LIMIT|OFFSET|FETCH|WINDOW|QUALIFY|UNION|EXCEPT|"
    r"INTERSECT|EMIT)\b))",
    re.IGNORECASE,
)

KeySet = tuple[exp.Expr, ...]


def key_sets(items: Sequence[exp.Expr], span: Span) -> tuple[KeySet, tuple[KeySet, ...]]:
    """Split a GROUP BY into the keys that every set has, and the sets without them; no sets if there would be only one.

    Several items with more than one set are combined: each set of one with each set of the other. Raises
    UnsupportedError if there would be too many.
    """
    spelled = [_sets(item, span) for item in items]
    common = tuple(key for sets in spelled if len(sets) == 1 for key in sets[0])
    several = [sets for sets in spelled if len(sets) > 1]
    _refuse_too_many(prod(map(len, several)), span)
    combined = tuple(_joined(chosen) for chosen in product(*several)) if several else ()
    return common, combined or (((),) if items and not common else ())


def _sets(item: exp.Expr, span: Span) -> list[KeySet]:
    """The key sets of one item of GROUP BY or of GROUPING SETS."""
    match item:
        case exp.GroupingSets():
            return [keys for part in item.expressions for keys in _sets(constant(part), span)]
        case exp.Rollup():
            parts = [_keys(constant(part)) for part in item.expressions]
            return _each_once(reversed([*accumulate(parts, initial=())]))
        case exp.Cube():
            parts = [_keys(constant(part)) for part in item.expressions]
            _refuse_too_many(2 ** len(parts), span)
            sizes = range(len(parts), -1, -1)
            return _each_once(_joined(chosen) for size in sizes for chosen in combinations(parts, size))
    return [_keys(item)]


def _each_once(sets: Iterable[KeySet]) -> list[KeySet]:
    """The sets of one ROLLUP or CUBE. Of several with the same keys, as in ROLLUP (a, a), there is one, as in Flink."""
    unique: dict[frozenset[exp.Expr], KeySet] = {}
    for keys in sets:
        unique.setdefault(frozenset(keys), keys)
    return [*unique.values()]


def _keys(item: exp.Expr) -> KeySet:
    """The keys of `a`, `(a)`, `(a, b)` or `()`."""
    inner = item.unnest()
    return tuple(inner.expressions) if isinstance(inner, exp.Tuple) else (inner,)


def constant(part: exp.Expr) -> exp.Expr:
    """The part of GROUPING SETS, ROLLUP or CUBE, where a number is a constant, and no position as in GROUP BY 1."""

    def of(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Paren | exp.Tuple):
            of_parts = node.copy()
            for key in of_parts.iter_expressions():
                key.replace(of(key))
            return of_parts
        is_number = isinstance(node, exp.Literal) and node.is_int
        return exp.cast(node.copy(), exp.DataType.Type.INT) if is_number else node

    return of(part)


def refuse_shown_numbers(keys: Iterable[exp.Expr], items: Iterable[exp.Expr], span: Span | None) -> None:
    """Raise UnsupportedError for a number among the keys of grouping sets that the SELECT list has too: Flink takes it
    for the key there, which is NULL in the other sets.
    """
    numbers = {key.this.name for key in keys if isinstance(key, exp.Cast) and isinstance(key.this, exp.Literal)}
    for literal in (literal for item in items for literal in item.find_all(exp.Literal)):
        if literal.is_int and literal.name in numbers and literal.find_ancestor(exp.AggFunc, exp.Cast) is None:
            raise UnsupportedError(
                f"{literal.name} is a key of some grouping sets, which is NULL in the others, and a constant in SELECT",
                span=span,
                hint="() instead of the number: the set of all rows",
            )


def distinct_sets(node: exp.Expr) -> exp.Expr:
    """GROUP BY DISTINCT as GROUPING SETS in which each set is once, and GROUP BY ALL of keys as GROUP BY."""
    if not isinstance(node, exp.Group) or node.args.get("all") is None or not node.expressions:
        return node
    if node.args["all"]:
        return exp.Group(expressions=[item.copy() for item in node.expressions])
    common, sets = key_sets(node.expressions, Span(0, 0))
    if not sets:
        return exp.Group(expressions=[item.copy() for item in node.expressions])
    without_table = {
        key.name.lower() for key in _joined((common, *sets)) if isinstance(key, exp.Column) and not key.table
    }

    def meant(key: exp.Expr) -> exp.Expr:
        known = isinstance(key, exp.Column) and key.name.lower() in without_table
        return exp.column(key.name.lower()) if known else key

    unique = {frozenset(map(meant, (*common, *keys))): keys for keys in reversed(sets)}
    tuples = [exp.Tuple(expressions=[key.copy() for key in keys]) for keys in reversed(unique.values())]
    return exp.Group(expressions=[*(key.copy() for key in common), exp.GroupingSets(expressions=tuples)])


def refuse_all_columns(tree: exp.Expr, text: str, span: Span) -> None:
    """Raise UnsupportedError for GROUP BY ALL without keys, in the text at `span`. The hint has those it would have."""
    for group in tree.find_all(exp.Group):
        if not group.args.get("all") or group.expressions:
            continue
        found, select = ALL_COLUMNS.search(text), group.parent
        items = select.expressions if isinstance(select, exp.Select) else []
        keys = [item.unalias().sql() for item in items if not item.find(exp.AggFunc, exp.Star)]
        place = Span(span.start + found.start("all"), span.start + found.end("all")) if found else span
        hint = f"GROUP BY {', '.join(keys)}" if keys else "leave out GROUP BY ALL"
        raise UnsupportedError("GROUP BY ALL is not supported", span=place, hint=hint)


def _joined(parts: Sequence[KeySet]) -> KeySet:
    return tuple(key for part in parts for key in part)


def _refuse_too_many(count: int, span: Span) -> None:
    if count > MAX_SETS:
        raise UnsupportedError(
            f"this GROUP BY has {count} grouping sets; at most {MAX_SETS} are allowed",
            span=span,
            hint="list the sets you need: GROUPING SETS ((a, b), (a), ())",
        )
