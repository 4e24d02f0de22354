"""What `tvfsql ps` tells of a run, from the files in its checkpoint: without Spark, and without asking the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tvfsql.cli.background.runs import is_alive, is_held, run_in
from tvfsql.cli.output import Exit
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint.owner import FILE as OWNER
from tvfsql.runtime.stream.checkpoint.owner import since
from tvfsql.runtime.stream.progress.kept_metrics import kept_in, rate

RUNNING, STARTING, STOPPED, ENDED, FAILED, KILLED = "running", "starting", "stopped", "ended", "failed", "killed"


@dataclass(frozen=True)
class Figures:
    """`uptime` and `lag` are in seconds. None: it does not run, or has none."""

    name: str
    state: str
    uptime: float | None
    rows_per_second: float | None
    lag: float | None
    late_rows: int
    checkpoint: str


def figures_of(checkpoint: Path, now: float) -> Figures:
    """The figures of all streams of a run as of `now` (epoch seconds)."""
    streams = streams_in(checkpoint)
    kept = [found for stream in streams if (found := kept_in(LocalPlace(stream))) is not None]
    state, started = _state(checkpoint, streams)
    runs = state == RUNNING
    lags = [now - found.watermark for found in kept if found.watermark is not None]
    return Figures(
        checkpoint.name,
        state,
        now - started if started is not None else None,
        sum(rate(found, now) for found in kept) if runs and kept else None,
        max(lags, default=None) if runs else None,
        sum(found.late_rows for found in kept),
        str(checkpoint),
    )


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
