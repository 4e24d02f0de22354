"""Names of files for names of users, and the user's folders: the cache, for files that tvfsql can create again, and the
state."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

LONGEST = 200  # bytes of a file name; file systems take 255, and temporary files have a longer name


def file_name(name: str) -> str:
    """The name of a file or folder for a name that a user has chosen: the same on each file system, one for each name,
    and always that of an entry directly below its folder. Readers do not ignore it, and nothing in it is a pattern.

    Raises ValueError for an empty name.
    """
    if not name:
        raise ValueError("an empty name has no file")
    made = quote(name.encode("utf-8", "surrogatepass"), safe=" ")
    if made[0] in "._":  # `.`, `..`, and what readers ignore
        made = f"%{ord(made[0]):02X}{made[1:]}"
    if len(made) > LONGEST:
        made = f"{made[: LONGEST - 20].rstrip('%')}%-{sha256(made.encode()).hexdigest()[:16]}"
    return made


def cache_folder() -> Path:
    """`tvfsql` in the user's cache folder ($XDG_CACHE_HOME, or ~/.cache). Raises OSError if there is no home folder."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path("~/.cache")
    try:
        return root.expanduser() / "tvfsql"
    except RuntimeError as error:  # there is no home folder
        raise OSError(str(error)) from error


def state_folder() -> Path:
    """`tvfsql` in the user's folder for what outlives a process ($XDG_STATE_HOME, or ~/.local/state). Raises OSError if
    there is no home folder."""
    base = os.environ.get("XDG_STATE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path("~/.local/state")
    try:
        return root.expanduser() / "tvfsql"
    except RuntimeError as error:  # there is no home folder
        raise OSError(str(error)) from error


def in_cache(make: Callable[[Path], Path]) -> Path:
    """Call `make` with the cache folder and return its result. If that folder cannot be written, use a folder that is
    deleted with the process.
    """
    try:
        return make(cache_folder())
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="tvfsql-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return make(folder)


def is_ours(path: Path) -> bool:
    """Whether a file or folder belongs to the current user and nobody else can write it. Raises OSError."""
    if not hasattr(os, "getuid"):  # on Windows a user's folders belong to the user
        return True
    found = path.lstat()
    return found.st_uid == os.getuid() and not found.st_mode & 0o022 and not path.is_symlink()
