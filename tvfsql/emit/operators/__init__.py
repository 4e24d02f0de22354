"""Emits operators: `emit` writes one, with the implementations for all families of operators."""

from __future__ import annotations

from tvfsql.emit.operators import basic, ranks, rows, windows

FAMILIES = (basic, ranks, rows, windows)  # importing them registers them
emit = basic.emit
