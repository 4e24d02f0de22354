"""`emit`, which writes an operator, with the implementations for all families of operators."""

from __future__ import annotations

from tvfsql.emit import operators, rank_operators, row_operators, window_operators

FAMILIES = (operators, rank_operators, row_operators, window_operators)  # importing them registers them
emit = operators.emit
