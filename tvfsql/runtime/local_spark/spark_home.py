"""A SPARK_HOME for the installed pyspark with which Python workers start in half the time.

Spark puts SPARK_HOME's `python/lib/pyspark.zip` first on the PYTHONPATH of every Python process that it starts. Python
does not cache compiled modules of a zip, so each process would compile pyspark again, 0.6 s. Without the zip, workers
import the installed package, as this process does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pyspark

from tvfsql.folders import in_cache, is_ours

_ZIPPED = "python"  # the folder that only contains the zips, and sources for R


def home_without_zip(home: Path) -> Path:
    """A folder with links to everything in `home` except the zip.

    If `home` is not the installed package but a separate Spark, `home` itself, because its version may differ. The
    folder is kept in the user's cache, or in a temporary folder if the cache cannot be written.
    """
    if os.name == "nt" or home.resolve() != Path(pyspark.__file__).resolve().parent:
        return home
    links = {entry.name: str(entry) for entry in home.resolve().iterdir() if entry.name != _ZIPPED}
    name = f"spark-{hashlib.sha256(repr(sorted(links.items())).encode()).hexdigest()[:12]}"
    return in_cache(lambda folder: _linked(folder / name, links))


def _linked(folder: Path, links: dict[str, str]) -> Path:
    if _has(folder, links):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        for name, target in links.items():
            (draft / name).symlink_to(target)
        draft.rename(folder)  # atomic: another process may be starting Spark from it
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        if not _has(folder, links):  # otherwise another process was first
            raise
    return folder


def _has(folder: Path, links: dict[str, str]) -> bool:
    """Whether the folder exists, belongs to us, and has exactly these links."""
    try:
        return is_ours(folder) and {entry.name: os.readlink(entry) for entry in folder.iterdir()} == links
    except OSError:
        return False
