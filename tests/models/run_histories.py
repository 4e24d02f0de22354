"""Random histories of runs over one checkpoint, with a real operator in them, and one run over the same rows.

The files, micro-batches, kills, lulls, looks of the driver and runs are those of `stream_lives`: the driver's
`TableLives` and the operator's `Valve` decide together what time it is. The operator keeps its state in memory, and
takes the rows of each micro-batch once it is committed. No row is late by the order of files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.models.stream_lives import DELAY, File, History, Planned, Run, Table
from tests.models.streams import Event, Operator
from tests.support.row_streams import COLUMNS, RowStream
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.window import Cumulate, Hop, Session, Tumble, Window
from tvfsql.runtime.stream.rows.deduplicate import FIRST, LAST, KeepRow
from tvfsql.runtime.stream.rows.joins.intervals import IntervalJoin
from tvfsql.runtime.stream.rows.joins.two_sides import PRESERVED
from tvfsql.runtime.stream.rows.joins.versions import TemporalJoin
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)
Sides = Sequence[list[Event]]  # the rows and messages of each table, in order of arrival
Make = Callable[[], "OverUnion | OfRows"]  # a new operator


@dataclass
class OverUnion:
    """A window aggregate over the UNION ALL of some tables."""

    operator: Operator

    def batch(self, sides: Sides) -> list[Any]:
        return self.operator.batch([event for events in sides for event in events])


@dataclass
class OfRows:
    """Deduplication or a join."""

    stream: RowStream

    def batch(self, sides: Sides) -> list[Any]:
        rows: list[Any] = self.stream.batch(*sides)
        return rows


def random_operator(draw: Random) -> tuple[str, int, Make]:
    """What it is, how many tables it reads, and the operator."""
    spread = draw.randint(1, 3), draw.randint(1, 3)
    slide = draw.randint(1, 9)
    bounds = sorted(draw.randint(-30, 30) * 1000 for _ in range(2))
    kind = draw.choice([*PRESERVED])
    windows: dict[str, Window] = {
        "tumble": Tumble(draw.randint(1, 30), draw.randint(0, 9)),
        "hop": Hop(slide, slide * draw.randint(1, 9) + draw.randint(0, 5)),
        "cumulate": Cumulate(slide, slide * draw.randint(1, 6)),
        "session": Session(draw.randint(1, 12)),
        "session with a limit": Session(slide, slide + draw.randint(1, 40)),
    }
    rows: dict[str, Any] = {
        "first row": KeepRow(COLUMNS, (0,), 1, FIRST, ((2, False, True),), draw.choice([0, 20])),
        "last row": KeepRow(COLUMNS, (0,), 1, LAST, ((2, True, False),)),
        f"{kind} interval join": IntervalJoin(
            (COLUMNS,) * 2, ((0,), (0,)), (1, 1), (bounds[0], bounds[1]), kind, (False,), least_slot=draw.choice([1, 7])
        ),
        f"{(of := draw.choice(['inner', 'left']))} temporal join": TemporalJoin(
            (COLUMNS,) * 2, ((0,),) * 2, (1,) * 2, of, (False,), (2,), slot=draw.choice([3, 1000]), bucket_rows=1000
        ),
    }
    name = draw.choice([*windows, *rows])
    if name in windows:
        tables = draw.randint(1, 3)
        context = StreamContext(inputs=tuple(f"{i}/" for i in range(1, tables + 1)) if tables > 1 else ("",))
        return name, tables, lambda: OverUnion(Operator(windows[name], *spread, context=context))
    return name, 2 if "join" in name else 1, lambda: OfRows(RowStream(rows[name], *spread))


class OperatedRun(Run):
    """A run of a stream with an operator."""

    def commit(self, planned: Planned) -> None:
        history, kept = self.history, self.kept
        assert isinstance(history, RunsOfAnOperator)
        sides = [
            [*rows_of(table, files), *history.messages(kept.messages[kept.taken : planned.messages], table)]
            for table, files in zip(history.tables, planned.files, strict=True)
        ]
        if self.random.random() < 0.1:  # it is killed before the commit, and the state of it is thrown away
            deepcopy(history.operator).batch(sides)
        history.emitted += history.operator.batch(sides)
        super().commit(planned)


class RunsOfAnOperator(History):
    """A history of runs over growing tables, with one operator over them. Its rows are `emitted`."""

    runs = OperatedRun

    def __init__(self, seed: int, *, several: bool = False) -> None:
        draw = Random(seed)
        self.name, number, self.make = random_operator(draw)
        while several and number < 2:
            self.name, number, self.make = random_operator(draw)
        super().__init__(seed, idle=False, tables=number)
        self.operator, self.emitted = self.make(), list[Any]()
        self.united = self.name.partition(" ")[0] in ("tumble", "hop", "cumulate", "session") and number > 1
        for table in self.tables:
            table.united = self.united

    def arrive(self, table: Table) -> None:
        super().arrive(table)
        table.files[-1].modified = max(file.modified for file in table.files)

    def touches(self) -> bool:
        """Whether a row is at the very end of a session of its key: it is of that session only if it comes before the
        session closes."""
        gap = getattr(getattr(getattr(self.operator, "operator", None), "window", None), "gap", 0)
        times = {(event.key, event.ts) for table in self.tables for event in rows_of(table, table.read)}
        return bool(gap) and any((key, ts + gap) in times for key, ts in times if ts is not None)

    def messages(self, messages: Sequence[tuple[str | None, int]], table: Table) -> list[Event]:
        """Messages of the driver to a table."""
        to = f"{self.tables.index(table) + 1}/" if self.united else ""
        return [
            Event(None, None, watermark, channel=(f"{to}*" if self.united else None) if channel is None else to)
            for channel, watermark in messages
            if channel in (None, table.source.table)
        ]

    def at_once(self, ends: Sequence[tuple[str | None, int]] = ((None, END_OF_INPUT),)) -> Counter[str]:
        """The rows of one run, which reads all that there is in one micro-batch, and then these messages."""
        operator = self.make()
        messages = [self.messages(ends, table) for table in self.tables]
        found = operator.batch([rows_of(table, table.read) for table in self.tables])
        return Counter(map(repr, found + operator.batch(messages)))


def rows_of(table: Table, files: Sequence[File]) -> list[Event]:
    """The rows of files as events. What a row has follows from its file and place."""
    number = table.source.table.removeprefix("t")
    channel = f"{int(number) + 1}/" if table.united else None
    events = []
    for file in files:
        draw = Random(file.name)
        for ts in file.rows:
            events.append(Event(draw.choice("abc"), ts, ts - DELAY, draw.randint(0, 9), channel))
    return events


def random_runs(seed: int, *, closes_each: bool = False) -> RunsOfAnOperator:
    """Runs over growing tables, and a final one. A fault: `closes_each`."""
    history = RunsOfAnOperator(seed)
    history.bounded_runs(closes_each=closes_each)
    return history


def finished_and_endless(seed: int) -> RunsOfAnOperator:
    """Runs over tables that end and at least one without end; the last one reads all that there is."""
    history = RunsOfAnOperator(seed, several=True)
    endless = history.random.randrange(len(history.tables))
    finished = history.random.choice([i for i in range(len(history.tables)) if i != endless])
    for number, table in enumerate(history.tables):
        ends = number == finished or (number != endless and history.random.random() < 0.5)
        table.source = replace(table.source, ends=ends)
    history.endless_runs()
    return history
