"""Whatever happens to a stream, and in whatever order: its rows are those of the plain model."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from test_restarts import plain

from tests.models.random_streams import COLUMNS, CUMULATE, DISORDER, HOP, TUMBLE, shown
from tests.models.streams import Event, Model, Out, at
from tests.support.bids import create_table, write_files
from tests.support.examples import SOAK
from tests.support.throwing import SAYS, throw_once
from tvfsql import Session
from tvfsql.errors import TvfSqlError
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FOLDER = "tvfsql.test.folder"  # the setting that says where the files are
WHAT_HAPPENS = {"files", "failures", "advanced", "rows"}


def machine(spark: SparkSession) -> Any:
    class Stream(RuleBasedStateMachine):
        """A stream over a folder of files, a file a micro-batch, and the model of its windows."""

        done: Counter[str] = Counter()  # what happened, in all examples

        def __init__(self) -> None:
            super().__init__()
            self.folder = Path(tempfile.mkdtemp(dir=spark.conf.get(FOLDER)))
            self.draw = random.Random(1)
            self.query, window = self.draw.choice([TUMBLE, HOP, CUMULATE])
            self.model, self.now = Model(window), 0
            self.files: list[list[Event]] = []
            self.read = 0  # files that the model has read
            self.found: Counter[Out] = Counter()
            self.wanted: Counter[Out] = Counter()

        @rule(rows=st.integers(1, 40), seed=st.integers(0, 2**16), late=st.booleans())
        def add_file(self, rows: int, seed: int, late: bool) -> None:
            draw, events = random.Random(seed), []
            for _ in range(rows):
                self.now += draw.randrange(1500)
                ts = self.now - draw.randrange(80_000 if late and draw.randrange(5) == 0 else DISORDER)
                mark = draw.choice([None, None, self.now - DISORDER])
                events.append(Event(draw.choice(["a", "b", "", None]), ts, mark, draw.randrange(50)))
            self.files.append(events)
            self.done["files"] += 1

        @precondition(lambda self: self.read < len(self.files))
        @rule(fails_at=st.none() | st.integers(0, 20))
        def run(self, fails_at: int | None) -> None:
            """Read what there is. A run that fails in the middle of a micro-batch is followed by another."""
            with pytest.MonkeyPatch.context() as patch:
                marker = self.folder / f"thrown-{len(self.files)}"
                if fails_at is not None:
                    throw_once(patch, fails_at, marker, only=str(self.folder / "in"))
                try:
                    self._run()
                except TvfSqlError as error:
                    assert SAYS in error.message and marker.exists()
                    self.done["failures"] += 1
                    self._run()

        @precondition(lambda self: 0 < self.read == len(self.files))
        @rule(ahead=st.integers(-20_000, 60_000))
        def advance_watermark(self, ahead: int) -> None:
            """By hand, between two runs; it holds from the next micro-batch on."""
            when = self.now + ahead
            session = Session(spark, mode="streaming", checkpoint=self.folder / "checkpoint", final=False)
            assert session.advance_watermark(at(when)) == 1
            self.done["advanced"] += 1
            self.wanted.update(keys(self.model.batch([Event(None, None, when)])))
            self._run()

        def _run(self, final: bool = False) -> None:
            write_files(self.folder / "in", [[shown(event) for event in events] for events in self.files])
            session = Session(spark, mode="streaming", checkpoint=self.folder / "checkpoint", final=final)
            create_table(session, "bid", COLUMNS, self.folder / "in")
            query = session.sql(self.query).query
            session.each_batch(query, lambda batch: self.found.update(map(plain, batch.collect())))
            for events in self.files[self.read :]:
                self.wanted.update(keys(self.model.batch(events)))
            self.read = len(self.files)
            if not final:
                assert self.found == self.wanted

        def teardown(self) -> None:
            """The input ends; a second run adds nothing."""
            if self.files:
                self.done["rows"] += sum(self.wanted.values())
                for _ in range(2):
                    self._run(final=True)
                    self.wanted.update(keys(self.model.batch([Event(None, None, END_OF_INPUT)])))
                    assert self.found == self.wanted

    return Stream


def keys(rows: list[Out]) -> list[Out]:
    return [(*row, len(different), every) for *row, different, every, _ in rows]


@pytest.mark.spark
@pytest.mark.slow
def test_files_a_failure_and_a_watermark_by_hand(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set(FOLDER, str(tmp_path))
    stream = machine(spark)()
    stream.add_file(20, 1, late=False)
    stream.add_file(20, 2, late=True)
    stream.run(fails_at=25)
    stream.advance_watermark(ahead=10_000)
    stream.add_file(20, 3, late=True)
    stream.teardown()
    assert stream.done.keys() == WHAT_HAPPENS


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="runs for minutes, in `make soak`")
def test_files_failures_and_watermarks_by_hand_in_any_order(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set(FOLDER, str(tmp_path))
    some = settings(
        max_examples=40, stateful_step_count=15, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    stream = machine(spark)
    run_state_machine_as_test(stream, settings=some)
    assert stream.done.keys() == WHAT_HAPPENS
