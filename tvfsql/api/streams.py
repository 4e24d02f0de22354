"""The streams of a session: where each keeps its state, which run now, and what they have counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvfsql.api.compiled import Compiled
from tvfsql.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tvfsql.runtime.stream.run import Running

Build = Callable[[], Any]  # makes a DataStreamWriter


@dataclass
class Streams:
    """The first stream of the session has its state in `checkpoint`/1, the second in `checkpoint`/2, and so on;
    without a checkpoint the state goes with the stream. `flush`: the end of a bounded input fires every window."""

    checkpoint: Path | None
    flush: bool
    runs: list[Running] = field(default_factory=list)
    begun: int = 0

    def run(self, spark: SparkSession, queries: Sequence[tuple[Compiled, Build]]) -> Running:
        """Start streams, all at once. Raises OptionError if a checkpoint belongs to another query."""
        from tvfsql.runtime.stream import Running, Stream

        streams = [
            Stream(build, self._folder(query), endless=query.awaits_start, flush=self.flush) for query, build in queries
        ]
        running = Running(spark, streams)
        self.runs = [*(run for run in self.runs if run.active), running]
        return running

    @property
    def counts(self) -> dict[str, int]:
        """The counters of those that run, or of those that ran last."""
        from tvfsql.runtime.stream.counts import totals

        return totals(each for run in self.runs for each in run.counts) if self.runs else {}

    def stop(self) -> None:
        """Stop those that run, each after the micro-batch that it is at."""
        for run in self.runs:
            run.stop()

    def _folder(self, query: Compiled) -> Path | None:
        """Where the next stream keeps its state. The folder holds the program that it belongs to."""
        self.begun += 1
        if self.checkpoint is None:
            return None
        folder = self.checkpoint / str(self.begun)
        program = folder / "query.py"
        if program.exists() and program.read_text(encoding="utf-8") != query.code:
            raise OptionError(
                f"the checkpoint {folder} belongs to another query: {program} says which",
                hint="choose a new folder, or run the script as it was",
            )
        folder.mkdir(parents=True, exist_ok=True)
        program.write_text(query.code, encoding="utf-8")
        return folder
