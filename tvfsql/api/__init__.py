"""The Python face: compile() and Session."""

from tvfsql.api.compiled import Compiled
from tvfsql.api.session import Result, Session, compile

__all__ = ["Compiled", "Result", "Session", "compile"]
