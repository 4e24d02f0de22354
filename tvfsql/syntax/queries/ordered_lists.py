"""The order of a list that an aggregate makes, wherever it is written."""

from __future__ import annotations

from sqlglot import exp

LISTS = (exp.ArrayAgg, exp.GroupConcat)
COLLECT_LIST = "COLLECT_LIST"


def with_order_behind(node: exp.Expr) -> exp.Expr:
    """ARRAY_AGG(x ORDER BY y) as ARRAY_AGG(x) WITHIN GROUP (ORDER BY y), likewise LISTAGG and COLLECT_LIST. sqlglot
    has the order of LISTAGG in its argument in any case.
    """
    values = [node.this] if isinstance(node, LISTS) else node.expressions if _is_collect_list(node) else []
    if len(values) != 1 or not isinstance(values[0], exp.Order) or values[0].this is None:
        return node
    order: exp.Order = values[0]
    if isinstance(node, LISTS):
        node.set("this", order.this)
    else:
        node.set("expressions", [order.this])
    order.set("this", None)
    return exp.WithinGroup(this=node.copy(), expression=order)


def _is_collect_list(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == COLLECT_LIST
