"""UNNEST in FROM: Flink's columns of an array, a map or an array of rows, as a LATERAL VIEW of Spark."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from tvfsql.bind.flink.made import made
from tvfsql.bind.infer import infer
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan.scalar import quoted
from tvfsql.plan.types import SqlType, fields, shown, split_kinds
from tvfsql.syntax.places import span_of


def with_views(tree: exp.Expr, types: Mapping[str, SqlType], span: Span) -> exp.Expr:
    """Replace each UNNEST in a join by a LATERAL VIEW. Raises UnsupportedError for WITH ORDINALITY if the type of the
    array is not certain.
    """
    tree = tree.copy()
    for join in [*tree.find_all(exp.Join)]:
        select, unnest = join.parent, join.this
        if not isinstance(unnest, exp.Unnest) or not isinstance(select, exp.Select) or len(unnest.expressions) != 1:
            continue
        (of,) = unnest.expressions
        kind, numbered = infer(of, dict(types)), unnest.args.get("offset")
        if kind == "" and numbered:
            raise UnsupportedError(
                "WITH ORDINALITY needs an array whose type is certain", span=span_of(of, span), hint="UNNEST(column)"
            )
        alias = unnest.args.get("alias") or exp.TableAlias(this=exp.to_identifier("unnested"))
        _check(kind, of, alias, span)
        names = [*alias.columns, *([numbered] if isinstance(numbered, exp.Identifier) else [])]
        inner = [*fields(kind[6:-1])] if kind.startswith("array<struct<") else []
        names = names or [exp.to_identifier(name, quoted=True) for name in inner]
        if kind.startswith("map<") and not names:
            names = [exp.to_identifier("KEY"), exp.to_identifier("VALUE")]
        view = exp.Lateral(
            this=made(_rows(kind, inner, numbered=bool(numbered)), [of.copy()], ""),
            view=True,
            outer=join.side.upper() == "LEFT" or None,
            alias=exp.TableAlias(this=alias.this, columns=names),
        )
        join.pop()
        select.append("laterals", view)
    for unnest in tree.find_all(exp.Unnest):
        if unnest.args.get("offset"):
            raise UnsupportedError(
                "WITH ORDINALITY is not supported here", span=span, hint="FROM t CROSS JOIN UNNEST(a) WITH ORDINALITY"
            )
    return tree


def _check(kind: SqlType, of: exp.Expr, alias: exp.TableAlias, span: Span) -> None:
    """Raise BindError if the type is known and makes no rows, or makes rows of another width than the alias has."""
    if kind and not kind.startswith(("array<", "map<")):
        message = f"UNNEST takes an ARRAY, a MAP or a MULTISET, but this is {shown(kind)}"
        raise BindError(message, span=span_of(of, span), hint=f"ARRAY[{of.sql('spark')}]")
    width = 2 if kind.startswith("map<") else len(fields(kind[6:-1])) or 1
    names = len(alias.columns)
    if kind and names not in (0, width):
        raise BindError(
            f"{alias.name} lists {names} columns, but has {width}",
            span=span_of(of, span),
            hint=f"AS {alias.name} ({', '.join('abcdefgh'[:width])})" if width <= 8 else None,
        )


def _rows(kind: SqlType, inner: list[str], *, numbered: bool) -> str:
    """A generator of Spark over {0}, with numbers from 1 as its last column if it is `numbered`."""
    if not numbered:
        return "INLINE({0})" if inner else "EXPLODE({0})"
    if kind.startswith("map<"):
        assert len(split_kinds(kind[4:-1])) == 2, kind
        return "INLINE(TRANSFORM(MAP_ENTRIES({0}), (item, at) -> STRUCT(item.key, item.value, at + 1)))"
    parts = ", ".join(f"item.{quoted(name)}" for name in inner) or "item"
    return f"INLINE(TRANSFORM({{0}}, (item, at) -> STRUCT({parts}, at + 1)))"
