"""A checkpoint at another place than before. Spark notes full paths in it, which have to follow; and if its stream was
running, it has written the files of one or two more micro-batches at the old place before it stopped.
Source: docs/streams.md#what-a-checkpoint-belongs-to.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace, Place, for_spark

AS_IN_URIS = "/:@!$&'()*+,;=~"  # characters that Java leaves as they are in the path of a URI
OTHER_IN_URIS = re.compile(r'[\s%"<>\\^`{|}#?\[\]]')  # those that it does not
SPARK = "spark"  # the folder of Spark's files in a checkpoint
AT_BIRTH = (f"{SPARK}/metadata", "query.py", "identity.json")  # files that are written when a stream starts
LAST = ("offsets", "commits")  # what Spark believes that it has planned and done
SCHEMA = re.compile(r'"([^"]*)(/spark/state/\d+/_stateSchema/)')  # the file with the types of an operator's state
MESSAGE = re.compile(r'"path":"([^"]*)(/control/[^"/]+)"')  # a message of the control channel that was read


def follow(folder: Place, before: str | None = None) -> None:
    """Make all paths in a checkpoint those of its place. `before`: the place that it had, if it is known. It may be
    killed, and called again. Raises OSError.
    """
    homes = {for_spark(before)} if before else set()
    here = json.dumps(for_spark(folder), ensure_ascii=False)[:-1]
    for file in _metadata(folder):
        text = file.read() or ""
        homes |= {json.loads(f'"{found[1]}"') for found in SCHEMA.finditer(text)}
        _rewrite(file, text, SCHEMA.sub(lambda found: here + found[2], text))
    uri = quote(for_spark(folder), safe=AS_IN_URIS).replace("file:/", "file:///", 1)

    def moved(found: re.Match[str]) -> str:
        return f'"path":"{uri}{found[2]}"' if _plain(found[1]) in homes else found[0]

    for file in _files_read(folder):
        text = file.read() or ""
        _rewrite(file, text, MESSAGE.sub(moved, text))


def refuse_elsewhere(folder: Place) -> None:
    """Raise DataError if Spark would look for the state of a checkpoint on a disk at the place that it had before."""
    here = for_spark(folder)
    for file in _metadata(folder) if isinstance(folder, LocalPlace) else ():
        for found in SCHEMA.finditer(file.read() or ""):
            if (home := json.loads(f'"{found[1]}"')) != here:
                raise DataError(
                    f"the checkpoint {folder} was moved or copied, but Spark looks for its state in {home}",
                    hint="run its script once with the new place, or tvfsql rescale: the paths in it follow",
                )


def is_left_behind(place: Place) -> bool:
    """Whether a folder has only what a stream has written there after its checkpoint was moved away."""
    return bool((place / SPARK).names()) and not any((place / name).exists() for name in AT_BIRTH)


def refuse_left_behind(place: Place) -> None:
    """Raise DataError if a folder has only that."""
    if is_left_behind(place):
        raise DataError(
            f"{place} is not a whole checkpoint: it was moved away while its stream ran, and this is what the stream "
            "has written since",
            hint="run it with --checkpoint and its new place, which takes this over; or use a new folder",
        )


def take_over(folder: Place, left: Place) -> None:
    """Move what a stream has left behind at its old place to its checkpoint, over older files. It may be killed, and
    called again. Raises DataError if the file system is not a disk, and OSError.
    """
    if not isinstance(folder, LocalPlace) or not isinstance(left, LocalPlace):
        raise DataError(
            f"the checkpoint {folder} was moved while its stream ran: what the stream has written since is in {left}",
            hint=f"copy all that is in {left} into {folder}, over the old files, and delete {left}",
        )
    found = [Path(top, name).relative_to(left.path) for top, _, names in os.walk(left.path) for name in names]
    for path in sorted(found, key=_order):
        (folder.path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(left.path / path, folder.path / path)
    for top, *_ in os.walk(left.path, topdown=False):
        with suppress(OSError):  # a file that came meanwhile
            os.rmdir(top)


def _order(path: Path) -> tuple[int, Path]:
    return LAST.index(path.parts[1]) if len(path.parts) > 1 and path.parts[1] in LAST else -1, path


def _metadata(folder: Place) -> Iterator[Place]:
    """What Spark has noted about each operator."""
    for operator in filter(str.isdigit, (folder / SPARK / "state").names()):
        log = folder / SPARK / "state" / operator / "_metadata" / "v2"
        yield from (log / name for name in log.names() if name.isdigit())


def _files_read(folder: Place) -> Iterator[Place]:
    """Spark's lists of the files that each source has read."""
    for source in filter(str.isdigit, (folder / SPARK / "sources").names()):
        log = folder / SPARK / "sources" / source
        yield from (log / name for name in log.names() if name.removesuffix(".compact").isdigit())


def _plain(uri: str) -> str:
    """A URI as `for_spark` writes it."""
    return re.sub(r"^file:/+", "file:/", unquote(uri))


def _rewrite(file: Place, before: str, text: str) -> None:
    """Write a file of Spark anew, without the checksum that Spark keeps of it."""
    if text != before:
        checksum = file.parent / f".{file.name}.crc"
        if checksum.exists():
            checksum.delete()
        file.write(text)
