"""Hints of errors for a person who types statements, not commands."""

from __future__ import annotations

import re

from tvfsql.api.script import Script
from tvfsql.errors import TvfSqlError
from tvfsql.options.known import RUNTIME_MODE


def with_set_mode(error: TvfSqlError, script: Script) -> TvfSqlError:
    """The same error, whose hint names SET and not --mode, unless the mode is fixed, so that SET has no effect."""
    if error.hint and script.mode is None:
        error.hint = re.sub(r"--mode (batch|streaming)", rf"SET '{RUNTIME_MODE.key}' = '\1'", error.hint)
    return error
