"""The Python API: compile() and Session."""

from tvfsql.api.compiled import Compiled
from tvfsql.api.one_query import compile
from tvfsql.api.result import Result
from tvfsql.api.session import Session

__all__ = ["Compiled", "Result", "Session", "compile"]
