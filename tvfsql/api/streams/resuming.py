"""`tvfsql check --checkpoint`: reports in advance what a run with this checkpoint would do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from tvfsql.api.program import Program, streams_of
from tvfsql.api.script import Outcome, queries_of
from tvfsql.errors import DataError
from tvfsql.plan.checkpoint.changes import changes
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.driver.checkpoints import manifest_in, refuse_changes, refuse_other_text, refuse_start


def check_checkpoint(checkpoint: Place, outcomes: Iterable[Outcome], changed_input: bool, out: TextIO) -> None:
    """Write for each stream of a script whether it can resume, and its changes. Only reads. Raises OptionError if a run
    would refuse the checkpoint, and DataError if there is no checkpoint or it is damaged.
    """
    if not checkpoint.exists():
        raise DataError(f"there is no folder {checkpoint}", hint="pass the folder of tvfsql run --checkpoint")
    for number, program in enumerate(_streams(outcomes), 1):
        folder = checkpoint / str(number)
        refuse_start(folder, program.queries[0].options.start)
        old = manifest_in(folder)
        if old is None:
            out.write(f"stream {number} {'resumes' if refuse_other_text(folder, program.code) else 'is new'}\n")
            continue
        found = changes(old, program.aligned(old).manifest)
        refuse_changes(folder, found, changed_input=changed_input)
        out.write(f"stream {number} resumes{':' if found else ''}\n")
        out.writelines(f"{line}\n" for change in found for line in change.lines)


def _streams(outcomes: Iterable[Outcome]) -> Iterator[Program]:
    """The streams of a script, in the order of their folders."""
    for outcome in outcomes:
        yield from streams_of(query for query in queries_of(outcome) if query.mode == "streaming")
