"""Sends Python code to other machines: tvfsql itself, and the folders of the user's functions."""

from __future__ import annotations

import hashlib
import os
import py_compile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvfsql.folders import in_cache, is_ours
from tvfsql.runtime.cluster.asked import is_local
from tvfsql.runtime.cluster.workers import workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OURS = Path(__file__).parents[2]  # tvfsql/
# the parts that Spark's workers import, directly or not
PARTS = ("__init__.py", "errors.py", "folders.py", "functions.py", "named_files.py", "secrets.py", "plan", "runtime")

_sent: set[tuple[str, str]] = set()  # (application or session, file)
TRIED = 4  # tasks that examine the workers


def share(spark: SparkSession, folders: Sequence[str] = ()) -> None:
    """Let Spark's Python processes import tvfsql, and what is in `folders`.

    Processes on this machine import what this process imports, after `folders` are added to their path. Other machines
    get zips, which override what is installed there, so that both sides run the same release. On the driver, where
    transformWithState starts a process too, the zips are added to PYTHONPATH.
    """
    if of_connect(spark):
        _send(spark.session_id, folders, lambda file: spark.addArtifacts(file, pyfile=True))  # type: ignore[attr-defined]
        return
    context = spark.sparkContext
    here = [*folders]
    if not is_local(str(context.master)):
        here += _send(context.applicationId, folders, context.addPyFile)
    if here:
        before = context.environment.get("PYTHONPATH", "").split(os.pathsep)
        context.environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*filter(None, before), *here]))


def prepare(spark: SparkSession) -> None:
    """`share`, and check once that the workers on other machines have the packages they need.

    Raises DataError if they lack one, and Spark's exceptions if no task can run there.
    """
    share(spark)
    owner = spark.session_id if of_connect(spark) else spark.sparkContext.applicationId  # type: ignore[attr-defined]
    local = not of_connect(spark) and is_local(str(spark.sparkContext.master))
    if not local and (owner, "workers") not in _sent:
        for worker in workers(spark, TRIED):
            worker.require()
        _sent.add((owner, "workers"))


def _send(owner: str, folders: Sequence[str], send: Callable[[str], None]) -> list[str]:
    """Send the zips that this application or session does not have yet. Returns the paths of all zips."""
    zips = [str(file) for file in _zips(folders)]
    for file in zips:
        # spark-submit has already sent the zip that this process runs from
        if file != str(OURS.parent) and _is_new(owner, file):
            send(file)
    return zips


def of_connect(spark: Any) -> bool:
    """Whether a session uses Spark Connect, so that this process has no JVM."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def our_zip() -> Path:
    """The zip of the parts of tvfsql that Spark's workers import. It is in the user's cache.

    If this process itself runs from a zip, as under spark-submit, that zip.
    """
    if OURS.parent.is_file():
        return OURS.parent
    return _zipped("tvfsql", OURS.parent, [*_files(OURS, PARTS)])


def _zips(folders: Sequence[str]) -> Iterator[Path]:
    yield our_zip()
    yield from map(zip_of, map(Path, folders))


def zip_of(folder: Path) -> Path:
    """The zip of the modules and packages in a folder. It is in the user's cache."""
    parts = [entry.name for entry in folder.iterdir() if entry.suffix == ".py" or (entry / "__init__.py").is_file()]
    return _zipped("functions", folder, [*_files(folder, sorted(parts))])


def _files(root: Path, parts: Sequence[str]) -> Iterator[Path]:
    for part in parts:
        entry = root / part
        yield from [entry] if entry.is_file() else sorted(entry.rglob("*.py"))


def _zipped(name: str, root: Path, files: Sequence[Path]) -> Path:
    """The zip of files below `root`. Its name depends on their paths, sizes and times, so it is made only once."""
    found = [(str(file.relative_to(root)), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    key = hashlib.sha256(repr((str(root), found)).encode()).hexdigest()[:12]
    return in_cache(lambda folder: _kept(folder / f"{name}-{key}.zip", root, files))


def _kept(file: Path, root: Path, files: Sequence[Path]) -> Path:
    if file.exists() and is_ours(file):
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=file.parent)
    os.close(handle)
    try:
        write_zip(Path(draft), root, files)
        Path(draft).replace(file)  # atomically, because another process may be sending it
    finally:
        Path(draft).unlink(missing_ok=True)
    return file


def write_zip(target: Path, root: Path, files: Sequence[Path]) -> None:
    """Write sources and their bytecode into a zip.

    Python does not cache the bytecode of modules in a zip, so without it each process would compile them again. Other
    versions of Python ignore the bytecode and read the sources.
    """
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        compiled = os.path.join(scratch, "compiled.pyc")
        for file in files:
            name = file.relative_to(root)
            made.write(file, name)
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            if py_compile.compile(str(file), compiled, str(name), quiet=2, invalidation_mode=mode):
                made.write(compiled, name.with_suffix(".pyc"))


def _is_new(owner: str, what: str) -> bool:
    if (owner, what) in _sent:
        return False
    _sent.add((owner, what))
    return True
