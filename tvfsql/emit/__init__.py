"""Emits physical plans as the text of a Python module."""

from tvfsql.emit.pipeline import pipeline
from tvfsql.emit.program import Query, observed_operators, program

__all__ = ["Query", "observed_operators", "pipeline", "program"]
