"""UNNEST in FROM: Flink's columns of an array, a map or an array of rows.

It is an operator of the plan where the type of the array is certain, so that windows can be above and below it.
Elsewhere, and in queries that Spark plans, it is a LATERAL VIEW of Spark.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.flink.lowered_call import made
from tvfsql.bind.infer import infer
from tvfsql.bind.scope import Relation, Visible, resolve
from tvfsql.bind.spark_text.text import in_spark_words
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan import nodes
from tvfsql.plan.node import Field, Node, row_of
from tvfsql.plan.nodes import Item
from tvfsql.plan.values.scalar import Scalar, column, free_name, quoted, template
from tvfsql.plan.values.types import INT, UNKNOWN, Array, Map, Row, SqlType, element_type, fields
from tvfsql.syntax import ast
from tvfsql.syntax.places import span_of

NOT_NULL = "item -> item IS NOT NULL"
WITHOUT_ALIAS = "unnested"  # the name of the table if it has none


class UnknownElements(UnsupportedError):
    """The type of an array is not certain, so the planner does not know the columns that it makes."""


def unnested(join: ast.JoinTable, left: Relation) -> Relation:
    """The relation with a row for each element of an array in its rows. Raises UnknownElements, or BindError for what
    has no elements.
    """
    assert isinstance(join.right, ast.Unnested)
    source = join.right
    _check_join(join)
    array = resolve(source.array, left).scalar()
    if array.type == UNKNOWN:
        raise UnknownElements(
            "the type of this array is not certain", span=source.array.span, hint="UNNEST(CAST(x AS ARRAY<STRING>))"
        )
    alias = source.alias or ast.Alias("")
    check(array.type, source.array, alias.name, len(alias.columns) - source.numbered if alias.columns else 0)
    elements = elements_of(array.type, alias.name, numbered=source.numbered)
    names = alias.columns or tuple(field.name for field in elements)
    taken = {name.lower() for name in left.node.columns}
    made: list[Field] = []
    for name, field in zip(names, elements, strict=True):
        made.append(Field(free_name(name, lambda name: name.lower() in taken), field.type))
        taken.add(made[-1].name.lower())
    rows = free_name(WITHOUT_ALIAS, lambda name: name.lower() in taken)
    value = _numbered(array, made) if source.numbered else _without_null_rows(array)
    kept = (Item(field.name, column(field.name, field.type)) for field in left.node.schema)
    node: Node = nodes.Project(left.node, (*kept, Item(rows, value)), span=source.span)
    node = nodes.Unnest(node, rows, tuple(made), join.kind == "left", span=source.span)
    visible = (Visible(alias.name, name, field.name, field.type) for name, field in zip(names, made, strict=True))
    return _where(join.condition, Relation(node, (*left.visible, *visible), left.time))


def elements_of(kind: SqlType, alias: str, *, numbered: bool) -> tuple[Field, ...]:
    """The columns that UNNEST makes of an array or a map, as Flink names them. A single column is named as the table
    if this has a name.
    """
    inner = element_type(kind)
    made = tuple(Field(*named) for named in fields(inner).items()) or (Field(alias or "EXPR$0", inner),)
    if isinstance(kind, Map):
        made = (Field("KEY", kind.key), Field("VALUE", kind.value))
    return (*made, Field("ORDINALITY", INT)) if numbered else made


def _check_join(join: ast.JoinTable) -> None:
    """Raise UnsupportedError for a join that takes no UNNEST."""
    if join.kind not in ("inner", "cross", "left") or join.using:
        kind = "a join with USING" if join.using else f"a {join.kind.upper()} JOIN"
        raise UnsupportedError(
            f"UNNEST is not supported in {kind}",
            span=join.span,
            hint="CROSS JOIN UNNEST(a) AS u (x)",
        )
    if join.kind == "left" and not (join.condition and _is_true(join.condition.tree)):
        raise _other_than_true(join.condition.span if join.condition else join.span)


def _refuse_condition(join: exp.Join, span: Span) -> None:
    """Raise UnsupportedError for a condition that a LATERAL VIEW cannot have."""
    condition = join.args.get("on")
    if condition is not None and not _is_true(condition):
        raise _other_than_true(span_of(condition, span))


def _other_than_true(place: Span) -> UnsupportedError:
    message = "here the join with UNNEST takes no other condition than ON TRUE"
    return UnsupportedError(message, span=place, hint="ON TRUE, and the condition in WHERE")


def _where(condition: ast.Expr | None, relation: Relation) -> Relation:
    """The rows that satisfy ON."""
    if condition is None or _is_true(condition.tree):
        return relation
    parts = scalar.conjuncts(resolve(condition, relation))
    conditions = tuple(scalar.condition(part, "ON") for part in parts)
    return relation.on(nodes.Filter(relation.node, conditions, span=condition.span))


def _is_true(tree: exp.Expr) -> bool:
    tree = tree.unnest()
    return isinstance(tree, exp.Boolean) and bool(tree.this)


def _without_null_rows(array: Scalar) -> Scalar:
    """The elements that make rows: in Flink a ROW that is NULL makes none, but any other NULL does."""
    if not isinstance(element_type(array.type), Row):
        return array
    return template(f"FILTER({{a}}, {NOT_NULL})", {"a": array}, array.type)


def _numbered(array: Scalar, columns: Sequence[Field]) -> Scalar:
    """An array of structs with these columns, the last of which counts from 1."""
    *own, number = columns
    inner = [*fields(element_type(array.type))]
    parts = ("key", "value") if isinstance(array.type, Map) else tuple(map(quoted, inner))
    values = [f"item.{part}" for part in parts] or ["item"]
    pairs = [*zip(own, values, strict=True), (number, "at + 1")]
    struct = ", ".join(f"{value} AS {quoted(field.name)}" for field, value in pairs)
    of = "MAP_ENTRIES({a})" if isinstance(array.type, Map) else "{a}"
    made = _each_row(of, f"STRUCT({struct})", rows=bool(inner))
    return template(made, {"a": array}, Array(row_of(field for field, _ in pairs)))


def _each_row(array: str, struct: str, *, rows: bool) -> str:
    """The structs of the elements with their numbers. Elements that are `rows` make none if they are NULL."""
    if not rows:
        return f"TRANSFORM({array}, (item, at) -> {struct})"
    return f"FILTER(TRANSFORM({array}, (item, at) -> IF(item IS NULL, NULL, {struct})), {NOT_NULL})"


def with_views(tree: exp.Expr, span: Span) -> exp.Expr:
    """Replace each UNNEST in a join by a LATERAL VIEW; columns have their types already. Raises UnsupportedError if the
    type of the array is not certain, but its elements must be ROWs or get numbers.
    """
    tree = tree.copy()
    for join in [*tree.find_all(exp.Join)]:
        select, unnest = join.parent, join.this
        if not isinstance(unnest, exp.Unnest) or not isinstance(select, exp.Select) or len(unnest.expressions) != 1:
            continue
        (of,) = unnest.expressions
        kind, numbered = infer(in_spark_words(of, {}, span), {}), unnest.args.get("offset")
        alias = unnest.args.get("alias") or exp.TableAlias()
        if kind == UNKNOWN and (numbered or len(alias.columns) > 1):
            what = "WITH ORDINALITY" if numbered else "UNNEST of ROWs"
            problem = f"{what} needs an array whose type is certain"
            raise UnsupportedError(problem, span=span_of(of, span), hint="UNNEST(CAST(x AS ARRAY<INT>))")
        _refuse_condition(join, span)
        check(kind, ast.Expr(of, span_of(of, span)), alias.name, len(alias.columns))
        elements = elements_of(kind, alias.name, numbered=False) if kind else ()
        names = [*alias.columns] or [exp.to_identifier(field.name, quoted=True) for field in elements]
        if numbered:
            given = isinstance(numbered, exp.Identifier)
            names.append(numbered if given else exp.to_identifier("ORDINALITY", quoted=True))
        view = exp.Lateral(
            this=made(_rows(kind, numbered=bool(numbered)), [of.copy()], UNKNOWN),
            view=True,
            outer=join.side.upper() == "LEFT" or None,
            alias=exp.TableAlias(this=alias.this or exp.to_identifier(WITHOUT_ALIAS), columns=names),
        )
        join.pop()
        select.append("laterals", view)
    for unnest in tree.find_all(exp.Unnest):
        if unnest.args.get("offset"):
            raise UnsupportedError(
                "WITH ORDINALITY is not supported here", span=span, hint="FROM t CROSS JOIN UNNEST(a) WITH ORDINALITY"
            )
    return tree


def check(kind: SqlType, of: ast.Expr, name: str, names: int) -> None:
    """Raise BindError if the type is known and makes no rows, or makes rows of another width than an alias of so many
    columns has.
    """
    if kind and not isinstance(kind, Array | Map):
        message = f"UNNEST takes an ARRAY, a MAP or a MULTISET, but this is {kind.flink}"
        raise BindError(message, span=of.span, hint=f"ARRAY[{of}]")
    width = len(elements_of(kind, name, numbered=False)) if kind else 0
    if kind and names not in (0, width):
        hint = f"AS {name} ({', '.join('abcdefgh'[:width])})" if width <= 8 else None
        raise BindError(f"{name} lists {names} columns, but has {width}", span=of.span, hint=hint)


def _rows(kind: SqlType, *, numbered: bool) -> str:
    """A generator of Spark over {0}, with numbers from 1 as its last column if it is `numbered`."""
    inner = fields(element_type(kind))
    if not numbered:
        return f"INLINE(FILTER({{0}}, {NOT_NULL}))" if inner else "EXPLODE({0})"
    if isinstance(kind, Map):
        return "INLINE(TRANSFORM(MAP_ENTRIES({0}), (item, at) -> STRUCT(item.key, item.value, at + 1)))"
    parts = ", ".join(f"item.{quoted(name)}" for name in inner) or "item"
    return f"INLINE({_each_row('{0}', f'STRUCT({parts}, at + 1)', rows=bool(inner))})"
