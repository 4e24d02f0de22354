"""Where tvfsql keeps what it can make again: the user's cache."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """`tvfsql` in the user's cache folder ($XDG_CACHE_HOME, or ~/.cache). Raises OSError if there is no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path("~/.cache")
    try:
        return root.expanduser() / "tvfsql"
    except RuntimeError as error:  # no home folder at all
        raise OSError(str(error)) from error
