"""The identity of a stream: a random id, which its checkpoint gets at birth and keeps wherever it is moved.

Tables recognise by it the micro-batches that a stream has written before. A copy of a checkpoint has the id of its
original, so one of the two must not write: a copy is refused as long as its original is where it ran last.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from secrets import token_hex
from typing import TYPE_CHECKING

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace, Place
from tvfsql.runtime.cluster.places import place_of
from tvfsql.runtime.stream.checkpoint.moved import follow, is_left_behind, take_over
from tvfsql.runtime.stream.driver.checkpoints import has_begun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE = "identity.json"


def new_identity() -> str:
    return token_hex(8)


def identify(folder: Place, spark: Callable[[], SparkSession]) -> str:
    """The id of the stream with this checkpoint, which its process owns. It is made if the checkpoint has none, and the
    place of the checkpoint is noted. If that is another one than before, all paths in the checkpoint follow. Raises
    DataError if the checkpoint is a copy of one that is still there, or if its id cannot be read, and OSError.
    """
    kept = _read(folder)
    id, place, host = kept or (new_identity(), "", "")
    here = socket.gethostname() if isinstance(folder, LocalPlace) else ""
    if kept is not None and host == here and place != str(folder):
        before = place_of(place, spark)
        _refuse_copy(folder, id, before)
        if is_left_behind(before) and before.resolved() != folder:
            take_over(folder, before)
    if kept is None or place != str(folder):
        follow(folder, place or None)
    if kept != (id, str(folder), here):
        (folder / FILE).write(json.dumps({"id": id, "place": str(folder), "host": here}) + "\n")
    return id


def has_id(folder: Place, id: str) -> bool:
    """Whether a checkpoint has this id. Raises DataError if its id cannot be read, and OSError."""
    found = _read(folder)
    return found is not None and found[0] == id


def refuse_moved(folder: Place, id: str, cause: Exception | None = None) -> None:
    """Raise DataError, because of `cause`, if a checkpoint is not at its place any more. One that cannot be reached, or
    that is damaged, may be."""
    try:
        there = has_id(folder, id)
    except (DataError, OSError):
        return
    if not there:
        raise DataError(
            f"the checkpoint {folder} is not there any more: it was moved or deleted while its stream ran",
            hint=f"run it again with --checkpoint and its new place, before {folder} is deleted: no row is lost",
        ) from cause


def _refuse_copy(folder: Place, id: str, original: Place) -> None:
    moved = original.resolved() == folder  # with a link to it where it was
    other = _read(original) if not moved and has_begun(original) else None
    if other is not None and other[0] == id:
        raise DataError(
            f"the checkpoint {folder} is a copy of {original}, which is still there: both would write the same rows",
            hint=f"go on with {original}; or delete {folder / FILE}, and the copy is a stream of its own",
        )


def _read(folder: Place) -> tuple[str, str, str] | None:
    """The id of a checkpoint, where it ran last, and on which machine ("" if all reach that place); None: no id."""
    file = folder / FILE
    text = file.read()
    if text is None:
        return None
    try:
        found = json.loads(text)
        return str(found["id"]), str(found["place"]), str(found["host"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the checkpoint {folder} is damaged: {file} is not what tvfsql has written",
            hint=f"restore {file}; without it the stream writes its last micro-batch again",
        ) from error
