"""The folders of tables without a connector. Each has a marker, and only a folder with a marker is ever deleted."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

MARKER = "_tvfsql_table"  # readers ignore files whose names begin with _


def managed_folder(path: str) -> str:
    """The folder of such a table. It is created here, so it exists before any row is inserted. A folder that has other
    files already gets no marker."""
    if not is_elsewhere(path):
        os.makedirs(path, mode=0o700, exist_ok=True)
        if not os.listdir(path):
            with suppress(FileExistsError), open(os.path.join(path, MARKER), "x"):
                pass
    return path


def delete_folder(path: str) -> str | None:
    """Delete such a folder with its files, if there is one. Returns why its files stay; None: nothing stays."""
    if is_elsewhere(path):
        return "which is not on this machine"
    folder = Path(path)
    if folder.is_symlink() or not (folder / MARKER).is_file():
        return "which tvfsql has not made" if folder.is_symlink() or _has_entries(folder) else None
    try:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name == MARKER):  # the marker goes last
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        folder.rmdir()
    except OSError as error:
        return f"which cannot be deleted ({error.filename}: {error.strerror})"
    return None


def is_elsewhere(path: str) -> bool:
    """Whether a path is the URL of another file system."""
    return re.match(r"[a-zA-Z][\w+.-]+:", path) is not None


def _has_entries(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
