"""Comparisons that Spark makes differently: of rows, maps, and times of two types."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.made import Made, made
from tvfsql.bind.flink.times import CLOCK, INSTANT, instant_at
from tvfsql.errors import UnsupportedError
from tvfsql.plan.types import SqlType, is_orderable, split_kinds

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


def one_of_tuples(node: exp.In) -> exp.Expr | None:
    """(a, b) IN ((c, d), ...)."""
    if not all(isinstance(each, exp.Tuple) for each in node.expressions):
        return None
    return exp.paren(exp.or_(*(_same(node.this, each) for each in node.expressions), copy=False))


def _same(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    pairs = zip(left.expressions, right.expressions, strict=False)
    return exp.and_(*(exp.EQ(this=a.copy(), expression=b.copy()) for a, b in pairs), copy=False)


def compared(node: exp.Binary, type_of: TypeOf) -> exp.Expr | None:
    """A wall-clock time compared with an instant becomes the instant at which clocks show it. Maps are equal if their
    entries are, in any order.
    """
    kinds = (type_of(node.left), type_of(node.right))
    if {*kinds} == {CLOCK, INSTANT}:
        for side, kind in zip(("this", "expression"), kinds, strict=True):
            if kind == CLOCK:
                node.set(side, made(instant_at("{0}"), [node.args[side]], INSTANT))
    if {*kinds} == {"boolean", "string"}:
        raise UnsupportedError("a BOOLEAN cannot be compared with a STRING", hint="b = TRUE")
    if kinds == ("float", "double"):  # compares as the first
        node.set("expression", exp.cast(node.right.copy(), "float"))
    if any(kind.startswith("map<") and all(map(is_orderable, split_kinds(kind[4:-1]))) for kind in kinds):
        return _of_maps(node)
    return None


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


def refuse_dates_and_times(values: list[exp.Expr], type_of: TypeOf) -> None:
    """Refuse COALESCE of DATEs and TIMESTAMPs, which Flink turns into dates."""
    kinds = {type_of(value) for value in values}
    if "date" in kinds and kinds & {CLOCK, INSTANT}:
        raise UnsupportedError("COALESCE cannot mix DATE and TIMESTAMP", hint="COALESCE(ts, CAST(dt AS TIMESTAMP(3)))")
