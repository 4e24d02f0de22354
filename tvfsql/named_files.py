"""Local files that users name: the texts of scripts, and hints for names that no file has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tvfsql.errors import DataError, nearest


def read_text(file: str | os.PathLike[str], what: str = "the script") -> str:
    """The text of a file. Raises DataError, which says `what` it is, and names a similar file if it does not exist."""
    try:
        return Path(file).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        close = nearest_file(os.fspath(file)) if isinstance(error, FileNotFoundError) else None
        hint = f"did you mean {close}?" if close else None
        raise DataError(f"{what} {file} cannot be read: {reason}", hint=hint) from error


def nearest_file(path: str, ends: Sequence[str] = ()) -> str | None:
    """Find a file or folder with a similar path. Returns None if no path is similar enough. `ends`: how the name of a
    file may end; empty: in any way.
    """
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        close = nearest_file(folder, ("/",))
        if close is None:
            return None
        if os.path.exists(os.path.join(close, name)):
            return os.path.join(close, name)
        folder = close
    stem = name.partition(".")[0]
    alike = [each for each in files_in(folder, ends) if nearest(stem, [each.partition(".")[0]], 0.65)]
    close = nearest(name, alike, 0)
    return os.path.join(folder, close) if close else None


def files_in(folder: str, ends: Sequence[str] = ()) -> list[str]:
    """The names in a folder, except hidden ones; empty if the folder cannot be read. `ends`: how the name of a file may
    end; "/" alone: only folders.
    """
    try:
        with os.scandir(folder or ".") as entries:
            seen = [(entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return []
    return sorted(
        name
        for name, is_folder in seen
        if not ends or (is_folder and "/" in ends) or name.lower().endswith(tuple(ends))
    )
