"""A rescale that was interrupted: the next one, or the next run of the stream, finishes it or takes it back.

A rescale is one more micro-batch of Spark's, and is done once Spark's log of commits has it. Before anything is
written, a file in the checkpoint says what is to be done; at the end it is deleted. Source: architecture.md#rescale.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.checkpoint.added_sources import finish_adding
from tvfsql.runtime.stream.checkpoint.parallelism import keep_key_groups
from tvfsql.runtime.stream.progress.metrics import without_gap

FILE = "rescale.json"  # in a checkpoint


@dataclass(frozen=True)
class Rescale:
    """A rescale to `tasks` tasks and `key_groups` key groups (None: as before), in micro-batch `micro_batch`."""

    micro_batch: int
    tasks: int
    key_groups: int | None = None

    def announce(self, stream: Place) -> None:
        """Note it in the folder of a stream, before anything is written."""
        (stream / FILE).write(json.dumps(asdict(self)) + "\n")


def settle(stream: Place, committed: Callable[[int], None] | None = None) -> None:
    """Finish a rescale of a stream that Spark has committed, or take back what it wrote; and finish adding sources.
    Nothing happens if none was interrupted. `committed` does what else is to be done after a commit, whose micro-batch
    it is given. Raises DataError if the file about it is damaged."""
    finish_adding(stream)
    file = stream / FILE
    text = file.read()
    if text is None:
        return
    try:
        rescale = Rescale(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise DataError(
            f"the checkpoint {stream} is damaged: {file} does not say how it was rescaled",
            hint="restore the checkpoint",
        ) from error
    if (stream / "spark" / "commits" / str(rescale.micro_batch)).exists():
        if rescale.key_groups is not None:
            keep_key_groups(stream, rescale.key_groups)
        without_gap(stream, rescale.micro_batch)
        if committed is not None:
            committed(rescale.micro_batch)
    else:
        _take_back(stream / "spark", rescale.micro_batch)
    file.delete()


def _take_back(spark: Place, micro_batch: int) -> None:
    """Delete what was written for a micro-batch that is not committed. Spark would load a snapshot of it later, because
    it has the number of a version that a micro-batch of the stream writes anew. The entry of its offsets is the last to
    go."""
    state, version = spark / "state", micro_batch + 1  # a micro-batch leaves the version after its number
    for operator in filter(str.isdigit, state.names()):
        for partition in filter(str.isdigit, (state / operator).names()):
            for name in (state / operator / partition).names():
                if name.lstrip(".").split(".")[0] == str(version):
                    (state / operator / partition / name).delete()
        _delete(state / operator / "_metadata" / "v2", micro_batch)
    _delete(spark / "offsets", micro_batch)


def _delete(folder: Place, number: int) -> None:
    """Delete an entry of one of Spark's logs, and its checksum on a local disk."""
    for name in folder.names():
        if name in (str(number), f".{number}.crc"):
            (folder / name).delete()
