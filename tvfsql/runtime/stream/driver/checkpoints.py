"""Ownership of a stream's folders: a checkpoint belongs to one program, and the folder of a sink to one stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from pyspark.sql import SparkSession

from tvfsql.errors import DataError, OptionError, UnsupportedError
from tvfsql.plan.checkpoint.changes import Change, Verdict, changes, verdict_of
from tvfsql.plan.checkpoint.manifest import PARALLELISM, Manifest
from tvfsql.plan.checkpoint.matching import following
from tvfsql.plan.start_mode import StartMode
from tvfsql.runtime.cluster.files import LOG, WITHOUT_LOG, Place, is_ignored
from tvfsql.runtime.cluster.places import table_place
from tvfsql.runtime.stream.checkpoint.added_sources import BEFORE
from tvfsql.runtime.stream.checkpoint.parallelism import FILE as KEY_GROUPS_KEPT
from tvfsql.runtime.stream.checkpoint.parallelism import keep_key_groups, kept_key_groups
from tvfsql.runtime.stream.checkpoint.unfinished_rescale import settle
from tvfsql.runtime.stream.sinks.files import FILES
from tvfsql.secrets import without

PROGRAM, MANIFEST = "query.py", "manifest.json"
MAIN = '\nif __name__ == "__main__":'  # the text from here on says how the program is run, and may change


def claim(folder: Place, program: str, manifest: Manifest | None = None, *, changed_input: bool = False) -> None:
    """Make `folder` the checkpoint of a program, or check that it already is.

    Writes the program's text, without passwords, and its manifest into the folder. If the folder has a manifest and one
    is passed, they decide whether the state can be reused. With `changed_input` the user accepts that open windows mix
    results of the old and the new query. Without two manifests the program's text must be the same, except for the
    number of key groups, and for the part that says how it is run. A rescale that was interrupted is settled first.
    Raises OptionError if the checkpoint belongs to another program, and DataError if it cannot be read or written.
    """
    kept, program = folder / PROGRAM, without(program)
    with usable(folder):
        settle(folder)
        same = has_text(folder, program)
        before = manifest_in(folder) if same is not None and manifest is not None else None
        if same is False and before is None:
            raise _others(folder)
        if before is not None and manifest is not None:
            refuse_changes(folder, changes(before, manifest), changed_input=changed_input)
        folder.make()
        if not same:
            kept.write(program)
        _keep_number(folder)
        if manifest is not None:
            _keep(folder, before, manifest)


@contextmanager
def usable(folder: Place) -> Iterator[None]:
    """Raise DataError for a file of a checkpoint that this block cannot read or write."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(
            f"the checkpoint {folder} is damaged: {folder / PROGRAM} is not UTF-8 text",
            hint="choose a new folder, or restore the file: tvfsql compile prints it",
        ) from error
    except OSError as error:
        path = Path(str(folder))
        in_the_way = next((each for each in (path, *path.parents) if each.is_file()), None)
        reason = f"{in_the_way} is a file" if in_the_way else f"{error.filename or folder}: {error.strerror}"
        raise DataError(f"the checkpoint {folder} cannot be used: {reason}", hint="choose another folder") from error


def _keep(folder: Place, before: Manifest | None, manifest: Manifest) -> None:
    """Write the manifest of a stream that may use the state of a checkpoint with the manifest `before`. That one is
    kept too, until tables that the stream adds are in Spark's log."""
    if before is not None and manifest.known is not None:
        (folder / BEFORE).write(before.dump())
    following_it = manifest if before is None else following(before, manifest)
    (folder / MANIFEST).write(following_it.dump())
    if manifest.known is None and (folder / BEFORE).exists():
        (folder / BEFORE).delete()


def _keep_number(folder: Place) -> None:
    """Note the number of key groups, which manifests of older releases have, before the manifest is replaced."""
    if not (folder / KEY_GROUPS_KEPT).exists() and (number := kept_key_groups(folder, manifest_in(folder))):
        keep_key_groups(folder, number)


def has_text(folder: Place, program: str) -> bool | None:
    """Whether a checkpoint holds this program's text, ignoring the part that says how it is run. None: it holds no
    text."""
    kept = (folder / PROGRAM).read()
    return _identity(without(kept)) == _identity(without(program)) if kept is not None else None


def refuse_other_text(folder: Place, program: str) -> bool:
    """Whether a folder is the checkpoint of this program, by its text. False: it is not a checkpoint yet. Raises
    OptionError if it belongs to another program."""
    same = has_text(folder, program)
    if same is False:
        raise _others(folder)
    return same is not None


def _others(folder: Place) -> OptionError:
    return OptionError(
        f"the checkpoint {folder} belongs to another query, which is in {folder / PROGRAM}",
        hint="use a new folder, or run the old script",
    )


def manifest_in(folder: Place) -> Manifest | None:
    """The manifest of a checkpoint, with the number of key groups that it has now; None if it has none. Tables that a
    run was about to add do not count. Raises DataError if the manifest is damaged or of another version."""
    found = _read(folder / BEFORE, folder) or _read(folder / MANIFEST, folder)
    return _with_number(folder, found) if found is not None else None


def claimed_manifest(folder: Place) -> Manifest | None:
    """The manifest of the stream that has claimed a checkpoint, with the tables that it is about to add. Raises
    DataError."""
    return _read(folder / MANIFEST, folder)


def _read(file: Place, folder: Place) -> Manifest | None:
    try:
        text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"the checkpoint {folder} cannot be used: {file} cannot be read",
            hint=f"restore {file}, or use a new folder",
        ) from error
    return Manifest.load(text) if text is not None else None


def _with_number(folder: Place, manifest: Manifest) -> Manifest:
    number = kept_key_groups(folder, manifest)
    own = {} if number is None else {PARALLELISM: str(number)}
    operators = (replace(one, settings={**(one.settings or {}), **own}) for one in manifest.operators)
    return replace(manifest, operators=tuple(operators))


def refuse_changes(folder: Place, found: Sequence[Change], *, changed_input: bool) -> None:
    """Raise OptionError if the state of a checkpoint cannot be reused after these changes."""
    verdict = verdict_of(found)
    asked = [line for change in found if change.verdict is verdict for line in change.lines]
    if verdict is Verdict.REFUSED:
        hints = {change.hint for change in found if change.verdict is verdict}
        raise OptionError(
            "\n".join([f"the checkpoint {folder} belongs to another query:", *asked]),
            hint=hints.pop() if len(hints) == 1 and all(hints) else "use a new folder, or run the old script",
        )
    if verdict is Verdict.WORD and not changed_input:
        raise OptionError(
            "\n".join([f"the state in the checkpoint {folder} was computed by the old query:", *asked]),
            hint="--allow-changed-input reuses this state; or use a new folder",
        )


def has_begun(folder: Place) -> bool:
    """Whether a stream has begun a micro-batch."""
    return any(name.isdigit() for name in (folder / "spark" / "offsets").names())


def planned(folder: Place) -> int:
    """The last micro-batch of a stream that Spark has planned; -1: none."""
    names = (folder / "spark" / "offsets").names()
    return max((int(name) for name in names if name.isdigit()), default=-1)


def finished(folder: Place) -> int | None:
    """The last micro-batch of a stream that has finished; None if none has."""
    commits = (folder / "spark" / "commits").names()
    return max((int(name) for name in commits if name.isdigit()), default=None)


def refuse_start(folder: Place | None, mode: StartMode) -> None:
    """Raise OptionError if a stream with this checkpoint cannot start in this mode: RESUME needs state to resume from,
    and FROM_ a new folder, because state is never deleted.
    """
    if mode.place is None and (folder is None or not has_begun(folder)):
        where = f"{folder} is not the checkpoint of a stream" if folder is not None else "there is no checkpoint"
        hint = "RESUME_OR_FROM_BEGINNING starts a new stream" if folder is not None else "--checkpoint DIR"
        raise OptionError(f"tvfsql.start-mode is {mode}, but {where}", hint=hint)
    if not mode.resumes and folder is not None and has_begun(folder):
        problem = f"tvfsql.start-mode is {mode}, but the checkpoint {folder} has the state of a stream"
        raise OptionError(problem, hint=f"use a new folder; or RESUME_OR_{mode} resumes from the state")


def refuse_files_of_others(
    spark: SparkSession,
    writes: Sequence[str],
    late: Sequence[str],
    checkpoint: Place | None,
    before: Manifest | None = None,
) -> None:
    """Raise DataError if a folder that a stream writes to holds files of another stream, or of batch.

    Spark lists a sink's files by micro-batch, and skips micro-batches that are already listed. A new stream starts at 0
    again, so its first rows would be lost silently. Files outside Spark's list would be lost too: readers that use
    Spark see only listed files. Several streams may write their late rows (`late`) into one folder. A stream that
    resumes has already written to the folders in its manifest `before`, or to all of them if it had no manifest.
    """
    if checkpoint is not None and has_begun(checkpoint):
        if before is None:
            return
        known = {sink.at for sink in before.sinks}
        writes, late = ([path for path in paths if path not in known] for paths in (writes, late))
    for path in (*writes, *late):
        if (folder := table_place(path, spark)) is None:
            continue
        listed = any(name[:1].isdigit() for name in (folder / LOG).names())
        names = [file.name for file in folder.below() if not is_ignored(file.name)] if path in writes else []
        if listed or any(fnmatch(name, f"{FILES}*") for name in names):
            raise DataError(
                f"the folder {path} holds the output of another stream",
                hint="use another path, or resume that stream with its --checkpoint",
            )
        if names:
            raise DataError(
                f"the folder {path} has other files, such as {names[0]}, but a stream needs a folder of its own",
                hint=WITHOUT_LOG,
            )


def refuse_unseen_logs(
    spark: SparkSession, logged: Sequence[str], checkpoint: Place | None, before: Manifest | None
) -> None:
    """Raise UnsupportedError if a stream would go on in another folder in which only a Spark Connect server could begin
    Spark's log of files (`logged`). `before` is the manifest of its checkpoint."""
    if checkpoint is None or before is None or not has_begun(checkpoint):
        return
    known = {sink.at for sink in before.sinks}
    for path in logged:
        if path not in known and table_place(path, spark) is None:
            raise UnsupportedError(
                f"over Spark Connect a stream cannot go on in another folder at a URL, such as {path}: this process "
                "has no JVM to begin Spark's log of files there",
                hint="--master URL of the cluster, once; or use a new --checkpoint",
            )


def _identity(program: str) -> str:
    return re.sub(r",\s*key_groups=\d+", "", program.partition(MAIN)[0])
