"""How many digits of a second a time has. Its type does not say; its expression does."""

from __future__ import annotations

import re

from sqlglot import exp

T = exp.DataType.Type
TIMES = (T.TIMESTAMP, T.TIMESTAMPNTZ, T.TIMESTAMPLTZ, T.TIMESTAMPTZ)
OF_COLUMNS = 3
DIGITS = "digits"  # the key in `meta` under which a lowered CAST has them


def digits_of(tree: exp.Expr) -> int:
    """The digits of a literal as written, or those of a CAST's type. Any other expression is over columns, which have
    milliseconds.
    """
    tree = tree.unnest()
    if DIGITS in tree.meta:
        return int(tree.meta[DIGITS])
    if isinstance(tree, exp.Cast) and tree.to.this in TIMES:
        return digits_of_cast(tree)
    if isinstance(tree, exp.Array):
        return max(map(digits_of, tree.expressions), default=OF_COLUMNS)
    if isinstance(tree, exp.Add | exp.Sub) and isinstance(tree.right, exp.Interval):
        return digits_of(tree.left)
    return OF_COLUMNS


def digits_of_cast(node: exp.Cast) -> int:
    """The digits of the time that a CAST, or a literal TIMESTAMP '...', makes."""
    if node.to.expressions:
        return int(node.to.expressions[0].name)
    is_literal = isinstance(node.this, exp.Literal) and "start" not in node.meta
    if not is_literal:
        return 6
    found = re.search(r"\.(\d+)$", node.this.name)
    return len(found[1]) if found else 0
