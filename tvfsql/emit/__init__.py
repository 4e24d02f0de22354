"""Physical plans to Python text."""

from tvfsql.emit.program import program

__all__ = ["program"]
