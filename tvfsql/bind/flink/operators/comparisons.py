"""Comparisons that Spark makes differently: of rows, maps, times of two types, and with the rows of a subquery."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made, made
from tvfsql.bind.flink.time.wall_clock import CLOCK, INSTANT, instant_at
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.values.types import SqlType, is_orderable, split_kinds

TypeOf = Callable[[exp.Expr], SqlType]
ENTRIES = "ARRAY_SORT(MAP_ENTRIES({}))"
HAS_NULL = "EXISTS(MAP_VALUES({0}), value -> value IS NULL)"  # such a map equals no other


def of_rows(node: exp.Binary) -> bool:
    """Whether it is (a, b) = (c, d), (a, b) <> (c, d) or ROW(a, b) = ROW(c, d)."""
    if isinstance(node.left, exp.Tuple) and isinstance(node.right, exp.Tuple):
        return True
    return isinstance(node, exp.EQ) and all(
        isinstance(side, Made) and side.template.startswith("NAMED_STRUCT('EXPR$0'") for side in (node.left, node.right)
    )


def tuples(node: exp.Binary) -> exp.Expr:
    """(a, b) = (c, d) compares column by column; it is NULL if one of them is NULL."""
    same = exp.paren(_same(node.left, node.right))
    return same if isinstance(node, exp.EQ) else exp.not_(same)


def one_of_tuples(node: exp.In) -> exp.Expr:
    """(a, b) IN ((c, d), ...)."""
    if not all(isinstance(each, exp.Tuple) for each in node.expressions):
        raise BindError("rows can only be compared with rows of as many values", hint="(a, b) IN ((1, 2), (3, 4))")
    return exp.paren(exp.or_(*(_same(node.this, each) for each in node.expressions), copy=False))


def _same(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    first, second = len(left.expressions), len(right.expressions)
    if first != second:
        raise BindError(f"a row of {first} values cannot be compared with one of {second}", hint="(a, b) = (1, 2)")
    pairs = zip(left.expressions, right.expressions, strict=True)
    return exp.and_(*(exp.EQ(this=a.copy(), expression=b.copy()) for a, b in pairs), copy=False)


def one_of_query(node: exp.In) -> exp.Expr | None:
    """x IN (SELECT ...) as a value. Without an equal row it is NULL if x or a row is NULL, where Spark has FALSE. None
    in a condition, where both mean the same.
    """
    if _is_condition(node):
        return None
    if isinstance(node.this.unnest(), exp.Tuple):
        raise UnsupportedError(
            "(a, b) IN (SELECT ...) is only supported in conditions", hint="WHERE (a, b) IN (SELECT ...)"
        )
    query = node.args["query"].unnest()
    value = exp.to_identifier("$0", quoted=True)
    names = exp.TableAlias(this=exp.to_identifier("$in", quoted=True), columns=[value])
    nulls = exp.select("1").from_(exp.Subquery(this=query.copy(), alias=names)).where(exp.column(value).is_(exp.null()))
    parts = [node.copy(), node.this, exp.Exists(this=query.copy()), exp.Exists(this=nulls)]
    unknown = "({1} IS NULL AND {2}) OR {3}"  # rows that do not depend on x: Spark looks for them once
    return made(f"CASE WHEN {{0}} THEN TRUE WHEN {unknown} THEN NULL ELSE FALSE END", parts, "boolean")


def _is_condition(node: exp.Expr) -> bool:
    """Whether AND and OR alone connect it, or its negation, to WHERE, HAVING or ON."""
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    if isinstance(node.parent, exp.Not):
        node = node.parent
    while isinstance(node.parent, exp.Connector | exp.Paren):
        node = node.parent
    return isinstance(node.parent, exp.Where | exp.Having | exp.Join)


def compared(node: exp.Binary, type_of: TypeOf) -> exp.Expr | None:
    """A wall-clock time compared with an instant becomes the instant at which clocks show it. Maps are equal if their
    entries are, in any order.
    """
    if not isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):
        exact_floats(node, ("this", "expression"), type_of)
    kinds = (type_of(node.left), type_of(node.right))
    if {*kinds} == {CLOCK, INSTANT}:
        for side, kind in zip(("this", "expression"), kinds, strict=True):
            if kind == CLOCK:
                node.set(side, made(instant_at("{0}"), [node.args[side]], INSTANT))
    if kinds == ("float", "double"):  # compares as the first
        node.set("expression", exp.cast(node.right.copy(), "float"))
    if any(kind.startswith("map<") and all(map(is_orderable, split_kinds(kind[4:-1]))) for kind in kinds):
        return _of_maps(node)
    return None


def exact_floats(node: exp.Expr, sides: Sequence[str], type_of: TypeOf) -> None:
    """Make the literals that are cast to FLOAT doubles, as Flink compares them, unless all sides are FLOATs."""
    if all(type_of(node.args[side]) == "float" for side in sides):
        return
    for side in sides:
        tree = node.args[side].unnest()
        if type_of(tree) == "float" and (value := _literal_cast(tree)) is not None:
            node.set(side, exp.cast(value.copy(), "double"))


def _literal_cast(tree: exp.Expr) -> exp.Expr | None:
    """The number in a CAST of a literal."""
    if not isinstance(tree, exp.Cast | Made):
        return None
    value = (tree.expressions[0] if isinstance(tree, Made) else tree.this).unnest()
    return value if isinstance(value.this if isinstance(value, exp.Neg) else value, exp.Literal) else None


def refuse_float_literals(sides: Sequence[exp.Expr], where: str, type_of: TypeOf) -> None:
    """Refuse a literal that is cast to FLOAT beside a number of another type, which Flink compares as it is written."""
    kinds = {type_of(side) for side in sides}
    for side in sides:
        if type_of(side) == "float" and kinds != {"float"} and _literal_cast(side.unnest()) is not None:
            raise UnsupportedError(
                f"{where} cannot compare a FLOAT literal with a number of another type", hint="CAST(x AS FLOAT)"
            )


def among_floats(node: exp.In) -> None:
    """FLOAT IN (...) compares FLOATs."""
    node.set("expressions", [exp.cast(each.copy(), "float") for each in node.expressions])


def _of_maps(node: exp.Binary) -> exp.Expr | None:
    a, b = ENTRIES.replace("{}", "{0}"), ENTRIES.replace("{}", "{1}")
    template = {
        exp.EQ: f"({a} = {b} AND (NOT {HAS_NULL} OR {{1}} IS NULL))",
        exp.NEQ: f"({a} <> {b} OR ({HAS_NULL} AND {{1}} IS NOT NULL))",
        exp.NullSafeEQ: f"({a} <=> {b} AND NOT COALESCE({HAS_NULL}, FALSE))",
        exp.NullSafeNEQ: f"(NOT {a} <=> {b} OR COALESCE({HAS_NULL}, FALSE))",
    }.get(type(node))
    if template is None:
        return None
    if node.left == node.right:  # Flink does not look at the values then
        template = template.replace(HAS_NULL, "FALSE")
    return made(template, [node.left, node.right], "boolean")


def refuse_dates_and_times(name: str, values: list[exp.Expr], type_of: TypeOf) -> None:
    """Refuse COALESCE, GREATEST and the like of DATEs and TIMESTAMPs, which Flink turns into dates."""
    kinds = {type_of(value) for value in values}
    if "date" in kinds and kinds & {CLOCK, INSTANT}:
        raise UnsupportedError(f"{name} cannot mix DATE and TIMESTAMP", hint=f"{name}(ts, CAST(dt AS TIMESTAMP(3)))")


def is_right_side(node: exp.Expr) -> bool:
    """Whether a predicate is the right side of an operator. For Flink and Spark `a = b IS NULL` is `(a = b) IS NULL`;
    in the tree of sqlglot `b IS NULL` is an operand. Parentheses around a part of it would change its meaning.
    """
    while isinstance(node.parent, exp.Not | exp.Predicate) and node.arg_key == "this":
        node = node.parent
    above = node.parent
    return isinstance(above, exp.Binary) and not isinstance(above, exp.Connector) and node.arg_key == "expression"
