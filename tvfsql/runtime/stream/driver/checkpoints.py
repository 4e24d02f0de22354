"""To whom the folders of a stream belong: its checkpoint to one program, its sink's files to one stream."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tvfsql.errors import DataError, OptionError
from tvfsql.runtime.stream.driver.statement_set import FILES
from tvfsql.secrets import without

PROGRAM = "query.py"
MAIN = '\nif __name__ == "__main__":'  # from here on a program says how it is run, which may change
SPARKS = "_spark_metadata/[0-9]*"


def claim(folder: Path, program: str) -> None:
    """Make `folder` the checkpoint of a program, or see that it is. The folder keeps its text, without passwords.

    The part of a program that says how it is run is no part of its identity. Raises OptionError if the checkpoint
    belongs to another program, DataError if it cannot be read or written.
    """
    kept, program = folder / PROGRAM, without(program)
    try:
        if kept.exists():
            if _identity(kept.read_text(encoding="utf-8")) != _identity(program):
                raise OptionError(
                    f"the checkpoint {folder} belongs to another query: {kept} says which",
                    hint="use a new folder, or run the old script",
                )
            return
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = folder / "query.draft"  # a kill while it is written must not leave half of a program
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(program)
        draft.replace(kept)
    except UnicodeDecodeError as error:
        raise DataError(
            f"the checkpoint {folder} is damaged: {kept} is not UTF-8 text",
            hint="choose a new folder, or put the file back: tvfsql compile prints it",
        ) from error
    except OSError as error:
        in_the_way = next((path for path in (folder, *folder.parents) if path.is_file()), None)
        reason = f"{in_the_way} is a file" if in_the_way else f"{error.filename or folder}: {error.strerror}"
        raise DataError(f"the checkpoint {folder} cannot be used: {reason}", hint="choose another folder") from error


def refuse_files_of_others(writes: Sequence[str], late: Sequence[str], checkpoint: Path | None) -> None:
    """Spark lists a sink's files by micro-batch, and passes over micro-batches that are in the list: those of a new
    stream, whose numbers start at 0 again, would be lost without a trace. So would be files beside the list, for who
    reads them through Spark. Late rows of several streams may go into one folder. Raises DataError."""
    if checkpoint is not None and any((checkpoint / "spark" / "offsets").glob("[0-9]*")):
        return
    own = [(path, (SPARKS, f"**/{FILES}*")) for path in writes]
    for path, patterns in (*own, *((path, (SPARKS,)) for path in late)):
        if any(any(Path(path.removeprefix("file:")).glob(pattern)) for pattern in patterns):
            raise DataError(
                f"the folder {path} holds the output of another stream",
                hint="use another path, or resume that stream with its --checkpoint",
            )


def _identity(program: str) -> str:
    return program.partition(MAIN)[0]
