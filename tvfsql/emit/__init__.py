"""Emits physical plans as the text of a Python module."""

from tvfsql.emit.program import Query, program

__all__ = ["Query", "program"]
