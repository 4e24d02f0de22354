"""The user's cache folder, for files that tvfsql can create again."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_folder() -> Path:
    """`tvfsql` in the user's cache folder ($XDG_CACHE_HOME, or ~/.cache). Raises OSError if there is no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path("~/.cache")
    try:
        return root.expanduser() / "tvfsql"
    except RuntimeError as error:  # no home folder at all
        raise OSError(str(error)) from error


def in_cache(make: Callable[[Path], Path]) -> Path:
    """What `make` puts into the cache folder, or, where that cannot be written, into one that goes with the process."""
    try:
        return make(cache_folder())
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="tvfsql-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return make(folder)


def is_ours(path: Path) -> bool:
    """Whether a file or folder belongs to who runs this, and nobody else may write it. Raises OSError."""
    if not hasattr(os, "getuid"):  # Windows: the user's own folders are the user's
        return True
    found = path.lstat()
    return found.st_uid == os.getuid() and not found.st_mode & 0o022 and not path.is_symlink()
