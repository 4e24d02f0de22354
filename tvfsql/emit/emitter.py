"""`emit`, which writes an operator, with the operators of all families."""

from __future__ import annotations

from tvfsql.emit import operators, rank_operators, row_operators, window_operators

FAMILIES = (operators, rank_operators, row_operators, window_operators)  # importing them is what registers them
emit = operators.emit
