"""The micro-batch at which a stream is, from the files that Spark keeps in its checkpoint."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BEGUN, DONE = ("spark", "offsets"), ("spark", "commits")  # a file for each micro-batch


@dataclass(frozen=True)
class MicroBatch:
    """`begun`: when it has begun (epoch seconds); None: it is done, and the stream waits for rows."""

    number: int
    begun: float | None


def micro_batch_of(stream: Path, started: float) -> MicroBatch | None:
    """The last micro-batch of a stream, which runs since `started`; None if it had none. One that the run before has
    left open is repeated."""
    number, done = _last(stream.joinpath(*BEGUN)), _last(stream.joinpath(*DONE))
    if number is None:
        return None
    if done is not None and done >= number:
        return MicroBatch(number, None)
    with suppress(OSError):
        return MicroBatch(number, max(started, stream.joinpath(*BEGUN, str(number)).stat().st_mtime))
    return None


def _last(folder: Path) -> int | None:
    with suppress(OSError):
        return max((int(file.name) for file in folder.iterdir() if file.name.isdigit()), default=None)
    return None
