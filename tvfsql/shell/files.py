"""The shell's own files: the history, which only the user may read, and the start file."""

from __future__ import annotations

import os
from pathlib import Path


def history_file() -> Path | None:
    """A private file for the history, in $XDG_STATE_HOME or ~/.local/state. None if it cannot be created."""
    given = os.environ.get("TVFSQL_HISTORY")
    if given == "":
        return None
    try:
        path = Path(given) if given else _folder("XDG_STATE_HOME", "~/.local/state") / "history"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        path.chmod(0o600)
        return path
    except (OSError, RuntimeError):
        return None


def start_file() -> Path | None:
    """$TVFSQL_SHELLRC, or `shellrc` in $XDG_CONFIG_HOME/tvfsql or ~/.config/tvfsql; None if there is no such file."""
    given = os.environ.get("TVFSQL_SHELLRC")
    if given == "":
        return None
    try:
        path = Path(given) if given else _folder("XDG_CONFIG_HOME", "~/.config") / "shellrc"
        return path if path.is_file() else None
    except (OSError, RuntimeError):
        return None


def _folder(variable: str, usual: str) -> Path:
    base = Path(os.environ.get(variable, ""))
    return (base if base.is_absolute() else Path(usual).expanduser()) / "tvfsql"
