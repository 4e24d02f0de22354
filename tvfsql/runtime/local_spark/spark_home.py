"""The SPARK_HOME of an installed pyspark, such that Python workers start in half the time.

Spark puts SPARK_HOME's `python/lib/pyspark.zip` first on the PYTHONPATH of every Python process that it starts. Python
keeps no compiled modules of a zip: each process would compile pyspark anew, 0.6 s. Without the zip, workers import the
installed package that this process imports too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pyspark

from tvfsql.folders import in_cache, is_ours

_ZIPPED = "python"  # the folder that only has the zips, and sources for R


def home_without_zip(home: Path) -> Path:
    """A folder with links to all that `home` has but the zip. `home` itself where it is not the installed package,
    but a Spark of its own: that may be another version than the package.

    The folder is kept in the user's cache, and is a temporary one where that cannot be written.
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
        draft.rename(folder)  # at once: another process may be starting Spark from it
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        if not _has(folder, links):  # else another process was first
            raise
    return folder


def _has(folder: Path, links: dict[str, str]) -> bool:
    """Whether it is there, ours, and as it was made."""
    try:
        return is_ours(folder) and {entry.name: os.readlink(entry) for entry in folder.iterdir()} == links
    except OSError:
        return False
