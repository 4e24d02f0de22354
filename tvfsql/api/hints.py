"""Hints of errors for a person who types statements, not commands."""

from __future__ import annotations

from tvfsql.api.script import Script
from tvfsql.errors import OtherMode, TvfSqlError
from tvfsql.options.known import RUNTIME_MODE


def with_set_mode(error: TvfSqlError, script: Script) -> TvfSqlError:
    """The same error, whose hint names SET and not --mode, unless the mode is fixed, so that SET has no effect."""
    if isinstance(error.advice, OtherMode) and script.mode is None:
        error.advice = error.advice.written(f"SET '{RUNTIME_MODE.key}' = '{error.advice.mode}'")
    return error
