"""`tvfsql package`: writes a script as a folder that spark-submit can run on machines without tvfsql."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tvfsql.api.program import Stages, code_of
from tvfsql.api.targets.readme import readme
from tvfsql.emit.jobs import CHECKPOINT
from tvfsql.errors import DataError
from tvfsql.plan.node import functions_in
from tvfsql.runtime.cluster.code import our_zip, zip_of

PROGRAM, OURS, FUNCTIONS, README = "program.py", "tvfsql.zip", "functions{}.zip", "README.md"


def write_package(
    target: str, statements: Sequence[Sequence[Stages]], checkpoint: str | None, spark: str
) -> list[Path]:
    """Write the folder: the program, zips of the code that it imports, and instructions. Returns the files.

    `checkpoint`: the folder for the state of its streams. `spark`: the version of Spark that it needs. Raises DataError
    if the folder contains other files, or if a stream has no checkpoint.
    """
    queries = [query for statement in statements for query in statement]
    if checkpoint is None and any(query.mode == "streaming" for query in queries):
        raise DataError(
            "a package of streams needs a checkpoint", hint="--checkpoint DIR, a folder that all machines see"
        )
    folder = Path(target)
    zips = {OURS: our_zip()}
    for i, source in enumerate(_folders(queries)):
        zips[FUNCTIONS.format(f"-{i + 1}" if i else "")] = zip_of(Path(source))
    program = code_of(statements, checkpoint or CHECKPOINT)
    texts = {PROGRAM: program, README: readme(queries, PROGRAM, program, [*zips], checkpoint, spark)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if others := {entry.name for entry in folder.iterdir()} - {*zips, *texts}:
            raise DataError(f"the folder {target} has other files: {min(others)}", hint="choose an empty folder")
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name, file in zips.items():
            (folder / name).write_bytes(file.read_bytes())
    except OSError as error:
        raise DataError(f"{error.filename or target} cannot be written: {error.strerror}") from error
    return [folder / name for name in (*texts, *zips)]


def _folders(queries: Iterable[Stages]) -> list[str]:
    found = {function.folder for query in queries for function in functions_in((query.physical,))}
    return sorted(found - {""})
