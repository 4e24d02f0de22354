"""The streams of a session: their checkpoint folders, which ones are running, and their counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tvfsql.api.program import Program
from tvfsql.emit.jobs import OF_LETTERS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tvfsql.runtime.cluster.files import Place
    from tvfsql.runtime.stream.driver.jobs import Job
    from tvfsql.runtime.stream.driver.running import Running
    from tvfsql.runtime.stream.progress.counts import StreamCounts
    from tvfsql.runtime.stream.progress.metrics import Metrics, Report

Build = Callable[[Program, "SparkSession"], Any]  # makes a DataStreamWriter


@dataclass
class Streams:
    """The first stream of the session keeps its state in `checkpoint`/1, the second in `checkpoint`/2, and so on.

    Without a checkpoint, the state is deleted with the stream.
    `changed_input`: resume from state even if open windows will mix results of the old and the new query.
    """

    checkpoint: Place | None
    changed_input: bool = False
    runs: list[Running] = field(default_factory=list)
    metrics: dict[str, Metrics] = field(default_factory=dict)  # the latest metrics of each stream
    reports: list[Report] = field(default_factory=list)  # functions that are called with them
    programs: dict[str, Program] = field(default_factory=dict)  # the program of each stream with metrics
    begun: int = 0

    def run(
        self, spark: SparkSession, programs: Sequence[tuple[Program, Build]], logged: Sequence[str] = ()
    ) -> Running:
        """Start streams, all at the same time. `logged`: folders with a log of Spark's that `programs` do not know
        about. Raises the errors of `start_streams`."""
        from tvfsql.runtime.stream import start_streams

        jobs = [job for program, build in programs for job in self._jobs(program, build, logged)]
        running = start_streams(spark, *jobs, changed_input=self.changed_input)
        self.runs = [*(run for run in self.runs if run.active), running]
        return running

    def _jobs(self, program: Program, build: Build, logged: Sequence[str]) -> Iterator[Job]:
        """The job of the next stream, over the state in its folder, and the job of its dead letters."""
        from tvfsql.runtime.stream import Job
        from tvfsql.runtime.stream.driver.checkpoints import manifest_in

        folder = self.folder()
        resumed = program.over(manifest_in(folder)) if folder is not None else program
        manifest = resumed.manifest if folder is not None else None
        yield Job(
            partial(build, resumed),
            **resumed.job,
            checkpoint=folder,
            program=resumed.code,
            manifest=manifest,
            logged=[*logged, *(sink.at for sink in (manifest.sinks if manifest is not None else ()) if sink.logged)],
            label=str(self.begun),
            report=partial(self._report, resumed),
        )
        if (letters := resumed.letters) is not None:
            beside = folder and folder.parent / f"{folder.name}{OF_LETTERS}"
            yield Job(
                partial(resumed.run, "dead_letters"),
                **letters,
                checkpoint=beside,
                program=resumed.code,
                manifest=resumed.letters_manifest(manifest_in(beside)) if beside is not None else None,
                label=f"{self.begun}{OF_LETTERS}",
                report=partial(self._report, None),
            )

    def _report(self, program: Program | None, metrics: Metrics) -> None:
        if program is not None:
            self.programs[metrics.stream] = program
            metrics = by_table(metrics, program, self.metrics.get(metrics.stream))
        self.metrics[metrics.stream] = metrics
        for report in self.reports:
            report(metrics)

    @property
    def counts(self) -> dict[str, int]:
        """The counters of the running streams, or of the last ones."""
        from tvfsql.runtime.stream.progress.counts import totals

        return totals(self.counts_of_runs) if self.runs else {}

    @property
    def counts_of_runs(self) -> list[StreamCounts]:
        """The same, of each stream."""
        return [each for run in self.runs for each in run.counts]

    def kept_apart(self) -> Iterator[str]:
        """Where the late rows and the dead letters of these streams are, a line for each kind that there was."""
        from tvfsql.runtime.stream.progress.counts import LATE_WRITTEN

        late, letters = (
            (
                ", ".join(dict.fromkeys(name for names in kind for name in names))
                for kind in zip(*(program.kept_apart for program in self.programs.values()), strict=True)
            )
            if self.programs
            else ("", "")
        )
        if late and (rows := self.counts.get(LATE_WRITTEN, 0)):
            yield f"late: SELECT * FROM {late}  -- {rows:,} of this run"
        beside = (driver for run in self.runs for driver in run.drivers if driver.stream.beside)
        if letters and (rows := sum(driver.counts.added["rowsOut"] for driver in beside)):
            yield f"dead letters: SELECT * FROM {letters}  -- {rows:,} of this run"

    def advance(self, watermark: int, table: str | None) -> int:
        """Advance the watermark of `table`, or of all tables, to `watermark` (epoch ms).

        Affects the running streams, and all streams of the checkpoint, in any process. Returns how many have not ended.
        """
        from tvfsql.runtime.stream.time.control_channel import advance, ended

        folders = {folder for run in self.runs if run.active for folder in run.controls(table)}
        if self.checkpoint is not None:
            checkpoint = self.checkpoint.resolved()
            found = (checkpoint / name / "control" for name in checkpoint.names() if not name.endswith(OF_LETTERS))
            folders |= {folder for folder in found if folder.exists()}
        told = [folder for folder in sorted(folders, key=str) if not ended(folder)]
        for folder in told:
            advance(folder, watermark, table)
        return len(told)

    def parent(self) -> str | None:
        """The checkpoint, which is created; None without one."""
        if self.checkpoint is not None:
            self.checkpoint.make()
            return str(self.checkpoint.resolved())
        return None

    def refuse_in_use(self, count: int) -> None:
        """Raise DataError if another process runs one of the next `count` streams over its checkpoint."""
        from tvfsql.runtime.stream.checkpoint.owner import refuse_in_use

        if self.checkpoint is not None:
            for number in range(self.begun + 1, self.begun + count + 1):
                refuse_in_use(self.checkpoint / str(number))

    def folder(self) -> Place | None:
        """The checkpoint folder of the next stream; None without a checkpoint."""
        self.begun += 1
        return None if self.checkpoint is None else self.checkpoint / str(self.begun)


def wait_for(running: Running | None) -> None:
    """Wait until streams have ended. Prints a warning if they have dropped late rows. Raises DataError if one fails."""
    from tvfsql.runtime.host.failures import translated
    from tvfsql.runtime.stream.driver.progress_text import warn_of_late_rows

    if running is not None:
        try:
            with translated():
                running.wait()
        finally:
            warn_of_late_rows(running)


# Metrics that need the plan of a stream: the watermarks of its tables, and the delay of its windows.


DELAY = "window_delay_seconds"


def by_table(metrics: Metrics, program: Program, before: Metrics | None) -> Metrics:
    """The metrics of a micro-batch with `channels` and window_delay_seconds. `before`: those of the micro-batch before
    it, whose delay holds until windows fire again.

    A table that several operators read has the watermark of the one that is furthest behind.
    """
    latest = dict(metrics.latest)
    of_operators = metrics.operators.operators
    fired = [of_operators[name].get("fired_end") for name in program.last_operators if name in of_operators]
    if ends := [end for end in fired if end is not None]:
        latest[DELAY] = round(metrics.time - min(ends), 3)
    elif before is not None and DELAY in before.latest:
        latest[DELAY] = before.latest[DELAY]
    return replace(metrics, latest=latest, channels=_channels(metrics, program))


def _channels(metrics: Metrics, program: Program) -> tuple[dict[str, Any], ...]:
    found: dict[tuple[str, str | None], dict[str, Any]] = {}
    for name, tables in program.input_tables.items():
        operator = metrics.operators.operators.get(name, {"ended": True})
        for channel in () if operator["ended"] else operator["channels"]:
            table, partition, watermark = tables[channel["input"] - 1], channel["partition"], channel["watermark"]
            if table is None or channel["ended"]:
                continue
            told = {"table": table, "partition": partition, "status": channel["status"]}
            if watermark is not None:
                told |= {"watermark": watermark, "watermark_lag_seconds": round(metrics.time - watermark, 3)}
            known = found.get((table, partition))
            if known is None or _behind(told, known):
                found[table, partition] = told
    return tuple(found.values())


def _behind(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return "watermark" in other and one.get("watermark", float("-inf")) < other["watermark"]
