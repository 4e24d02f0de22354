"""What `tvfsql ps` tells of a run, from the files in its checkpoint: without Spark, and without asking the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from tvfsql.cli.background.micro_batches import MicroBatch, micro_batch_of
from tvfsql.cli.background.runs import is_alive, is_held, run_in
from tvfsql.cli.output import Exit
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint.owner import FILE as OWNER
from tvfsql.runtime.stream.checkpoint.owner import since
from tvfsql.runtime.stream.progress.kept_metrics import Kept, kept_in, rate

RUNNING, STARTING, STUCK = "running", "starting", "stuck"
STOPPED, ENDED, FAILED, KILLED = "stopped", "ended", "failed", "killed"
QUIET = 60.0  # seconds after which a stream without a micro-batch has started, and waits for rows
TRIGGERS = 10  # a micro-batch that lasts longer than so many usual ones, and than QUIET, is stuck


@dataclass(frozen=True)
class Figures:
    """`uptime`, `lag` and `micro_batch_seconds` are in seconds: how long the micro-batch has run for. None: it does not
    run, or has none.
    """

    name: str
    state: str
    uptime: float | None
    micro_batch: int | None
    micro_batch_seconds: float | None
    rows_per_second: float | None
    lag: float | None
    late_rows: int
    checkpoint: str


def figures_of(checkpoint: Path, now: float) -> Figures:
    """The figures of all streams of a run as of `now` (epoch seconds)."""
    streams = streams_in(checkpoint)
    kept = [found for stream in streams if (found := kept_in(LocalPlace(stream))) is not None]
    state, started = _state(checkpoint, streams)
    open_one = None
    if started is not None:
        open_one = _slowest([micro_batch_of(stream, started) for stream in streams])
        since_when = max((since(LocalPlace(stream)) or started for stream in streams), default=started)
        state = _of_streams(kept, open_one, since_when, now) if state == RUNNING else state
    runs = state in (RUNNING, STUCK)
    lags = [now - found.watermark for found in kept if found.watermark is not None]
    return Figures(
        checkpoint.name,
        state,
        now - started if started is not None else None,
        open_one.number if open_one is not None else None,
        now - open_one.begun if open_one is not None and open_one.begun is not None else None,
        sum(rate(found, now) for found in kept) if runs and kept else None,
        max(lags, default=None) if runs else None,
        sum(found.late_rows for found in kept),
        str(checkpoint),
    )


def _slowest(found: Sequence[MicroBatch | None]) -> MicroBatch | None:
    """The micro-batch that runs for the longest; if none runs, one that is done."""
    return min(filter(None, found), key=lambda each: each.begun or inf, default=None)


def _of_streams(kept: Sequence[Kept], last: MicroBatch | None, started: float, now: float) -> str:
    """The state of streams that run, of which `last` is the micro-batch that runs for the longest."""
    begun = last.begun if last is not None else None
    if not any(at >= started for found in kept for at, _ in found.recent):
        return RUNNING if begun is None and now - started > QUIET else STARTING
    usual = max(found.seconds for found in kept)
    return STUCK if begun is not None and now - begun > max(QUIET, TRIGGERS * usual) else RUNNING


def streams_in(checkpoint: Path) -> list[Path]:
    """The folders of its streams, without those of dead letters."""
    found = [folder for folder in _folders(checkpoint) if folder.name.isdigit() and (folder / OWNER).exists()]
    return sorted(found, key=lambda folder: int(folder.name))


def _folders(checkpoint: Path) -> Iterator[Path]:
    try:
        yield from checkpoint.iterdir()
    except OSError:
        return


def _state(checkpoint: Path, streams: Sequence[Path]) -> tuple[str, float | None]:
    """The state of a run, and since when it lives."""
    owned = [stream for stream in streams if is_held(stream / OWNER)]
    run, alive = run_in(checkpoint), is_alive(checkpoint)
    if alive and run is not None:
        return (RUNNING if owned else STARTING), run.started
    if owned:  # it was not started in the background
        return RUNNING, since(LocalPlace(owned[0]))
    if run is None:
        return STOPPED, None
    names: dict[int | None, str] = {Exit.OK: ENDED, Exit.INTERRUPTED: STOPPED, None: KILLED}
    return names.get(run.code, FAILED), None
