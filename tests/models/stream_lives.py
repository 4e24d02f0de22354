"""A simulated Spark, file system and clock under the driver's `TableLives` and an operator's `Valve`, and a model.

A history has tables whose files arrive at any time, with any modification time; micro-batches that are planned, killed
and repeated; looks of the driver at any moment in between; lulls; and runs over one checkpoint. After each micro-batch
the model says how far the watermark may have come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tvfsql.runtime.stream.lives.idle_sources import Source
from tvfsql.runtime.stream.lives.table_lives import Message, TableLives
from tvfsql.runtime.stream.time.valve import END_OF_INPUT, ENDED, Valve

SIZE, DELAY, TIMEOUT = 10, 5, 30.0  # of windows and of watermarks in ms of event time; seconds until a table is idle


@dataclass
class File:
    """A file of a table: when it was modified, by its own clock, and the times of its rows."""

    modified: float
    rows: list[int]
    name: int


@dataclass
class Table:
    source: Source
    limit: int | None  # files per micro-batch
    files: list[File] = field(default_factory=list)
    read: list[File] = field(default_factory=list)  # in committed micro-batches
    log: int = -1  # the number of the last entry in Spark's log
    pinned: list[File] | None = None  # what Spark reads in this run; None: all that it finds
    rows_at: float = 0.0  # when the last micro-batch with rows of it ended, or the first run started
    united: bool = False  # whether it is a side of a UNION ALL that an operator reads

    def next(self) -> list[File]:
        """The files of the next micro-batch: Spark goes by the time of modification."""
        listed = self.files if self.pinned is None else self.pinned
        new = sorted((file for file in listed if file not in self.read), key=lambda file: (file.modified, file.name))
        return new[: self.limit]

    @property
    def watermark(self) -> int | None:
        return max((row for file in self.read for row in file.rows), default=DELAY - 1) - DELAY if self.read else None

    @property
    def has_ended(self) -> bool:
        """Whether all that was there when the run pinned it has been read."""
        return self.pinned is not None and all(file in self.read for file in self.pinned)


@dataclass
class Planned:
    """A micro-batch in Spark's log: the files of each table, and how many control messages it reads up to."""

    number: int
    files: list[list[File]]
    messages: int


@dataclass
class Checkpoint:
    """What outlives a run."""

    committed: int = -1
    planned: Planned | None = None
    messages: list[Message] = field(default_factory=list)
    taken: int = 0  # messages that committed micro-batches have read
    valve: tuple[int | None, str] = (None, "{}")
    windows: dict[int, int] = field(default_factory=dict)  # open ones: rows by start
    fired: dict[int, int] = field(default_factory=dict)
    late: int = 0
    announced: bool = False
    closed: set[str] = field(default_factory=set)


class History:
    """One random history. `idle`: tables have a timeout. Raises AssertionError where the model is broken."""

    runs: type[Run]  # how its runs are simulated

    def __init__(self, seed: int, *, idle: bool, tables: int | None = None) -> None:
        self.random = Random(seed)
        number = tables or self.random.randint(1, 3)
        timeout = round(TIMEOUT * 1000) if idle else 0
        self.now = 0.0
        self.tables = [
            Table(Source(f"t{i}", timeout, ends=idle and self.random.random() < 0.5), self.random.choice([None, 1, 2]))
            for i in range(number)
        ]
        self.kept = Checkpoint()
        self.rows = self.arrived = 0
        self.starts = [self.random.randint(0, 60) for _ in self.tables]

    def arrive(self, table: Table) -> None:
        """A file of a table, whose rows are out of order by at most the delay; any time of modification."""
        at = self.tables.index(table)
        self.starts[at] += self.random.randint(0, 12)
        rows = [self.starts[at] + self.random.randint(0, DELAY - 1) for _ in range(self.random.randint(1, 3))]
        modified = self.random.choice([self.now, self.now + 3600, 0.0, 7.0])
        if self.random.random() < 0.7:  # in order; otherwise rows can be late, as they are in Flink
            modified = max([modified, *(file.modified for file in table.files)])
        table.files.append(File(modified, rows, self.arrived))
        self.arrived += 1
        self.rows += len(rows)

    def run(self, *, endless: bool, closes: bool, steps: int) -> None:
        """One run, which is killed if it has not ended after `steps` actions."""
        self.runs(self, endless, closes).go(steps)

    def bounded_runs(self, *, closes_each: bool = False, last: int = 2000) -> None:
        """One to five runs over growing tables that leave windows open, some of which are killed, and a final one of up
        to `last` actions. A fault: `closes_each`."""
        for _ in self.arrivals(5):
            killed = self.random.random() < 0.3
            self.run(endless=False, closes=closes_each, steps=self.random.randint(1, 12) if killed else last // 2)
        self.run(endless=False, closes=True, steps=last)

    def endless_runs(self) -> Run:
        """Runs beside tables without end, which are killed; the last one, which it returns, goes on until nothing comes
        any more."""
        for _ in self.arrivals(4):
            self.run(endless=True, closes=False, steps=self.random.randint(5, 60))
        last = self.runs(self, True, False)
        for _ in range(60):
            for action in (last.spark, last.spark, last.look):
                action()
        assert last.at_rest
        return last

    def arrivals(self, runs: int) -> Iterator[None]:
        """Files that come before each of one to `runs` runs."""
        for _ in range(self.random.randint(1, runs)):
            for _ in range(self.random.randint(0, 4)):
                self.arrive(self.random.choice(self.tables))
            yield

    @property
    def counted(self) -> int:
        return sum(self.kept.fired.values()) + sum(self.kept.windows.values())


class Run:
    """A run of the query, with its driver. `endless`: it looks for files until it is stopped; otherwise it reads what
    there is at its start. `closes`: that is the end of time."""

    def __init__(self, history: History, endless: bool, closes: bool) -> None:
        self.history, self.kept, self.random = history, history.kept, history.random
        self.endless, self.closes = endless, closes
        planned = self.kept.planned.number if self.kept.planned else self.kept.committed
        sources = [table.source for table in history.tables]
        self.lives = TableLives(sources, history.now, closes, planned, self.kept.announced)
        self.running: Planned | None = None
        self.last: tuple[int, list[dict[str, Any]]] | None = None
        self.unseen: list[tuple[int, list[dict[str, Any]], float, float]] = []
        self.at_rest = self.done = False
        self.looked = self.began = history.now
        self.pin()

    def pin(self) -> None:
        for table in self.history.tables:
            if self.kept.closed & {table.source.table}:  # a run with new files of it is refused; they are taken away
                table.files = [*table.read, *(self.planned_files(table))]
            table.pinned = [*table.files] if table.source.ends or not self.endless else None

    def planned_files(self, table: Table) -> list[File]:
        planned = self.kept.planned
        return planned.files[self.history.tables.index(table)] if planned is not None else []

    def go(self, steps: int) -> None:
        for _ in range(steps):
            if self.done:
                return
            self.random.choice([self.tick, self.look, self.spark, self.spark, self.arrive])()

    def arrive(self) -> None:
        self.history.arrive(self.random.choice(self.history.tables))

    def tick(self) -> None:
        self.history.now += self.random.choice([0.1, 1.0, TIMEOUT / 2, TIMEOUT])

    def spark(self) -> None:
        if self.running is None:
            self.plan()
        else:
            self.commit(self.running)

    def plan(self) -> None:
        """Plan a micro-batch; one that a killed run has planned comes first."""
        tables = self.history.tables
        self.began = self.history.now
        if self.kept.planned is None:
            files = [table.next() for table in tables]
            if not any(files) and self.kept.taken == len(self.kept.messages):
                self.at_rest = True
                offsets = [self.report(table, table.log, 0) for table in tables]
                if (
                    self.last is None or self.random.random() < 0.5
                ):  # Spark does not report each time that it finds nothing
                    self.last = (self.kept.committed + 1, offsets)
                if not self.endless and not self.closes:
                    self.done = True  # availableNow
                return
            self.kept.planned = Planned(self.kept.committed + 1, files, len(self.kept.messages))
        self.at_rest, self.running = False, self.kept.planned

    def report(self, table: Table, before: int, rows: int) -> dict[str, Any]:
        start, end = ({"logOffset": number} if number >= 0 else None for number in (before, table.log))
        return {
            "description": "FileStreamSource[file:/in]",
            "startOffset": start,
            "endOffset": end,
            "numInputRows": rows,
        }

    def commit(self, planned: Planned) -> None:
        """Rows are judged by the watermark before the micro-batch, then the messages count, and then windows fire."""
        kept, tables = self.kept, self.history.tables
        names = [f"{i}/" for i in range(1, len(tables) + 1)] if len(tables) > 1 else [""]
        valve = Valve.load(*kept.valve, names)
        valve.micro_batch = planned.number
        before, reports, messages = valve.watermark, list[Any](), list[Any]()
        for channel, watermark in kept.messages[kept.taken : planned.messages]:
            to = names if channel is None else [names[[table.source.table for table in tables].index(channel)]]
            messages += [(f"{name}*" if channel is None else name, watermark) for name in to]
        for table, files, name in zip(tables, planned.files, names, strict=True):
            rows = [row for file in files for row in file.rows]
            for row in rows:
                start = row // SIZE * SIZE
                if before is not None and before >= start + SIZE - 1:
                    kept.late += 1
                else:
                    kept.windows[start] = kept.windows.get(start, 0) + 1
            log = table.log
            table.read += files
            table.log += bool(files)
            if rows:
                table.rows_at = self.history.now
                messages.append((name, table.watermark))
            reports.append(self.report(table, log, len(rows)))
        after = valve.advance(sorted(messages, key=lambda message: message[1] is not None and message[1] >= 0))
        if after != before:
            self.check(before, after, planned)
        for start in [start for start in kept.windows if after is not None and after >= start + SIZE - 1]:
            assert start not in kept.fired, "a window fires twice"
            kept.fired[start] = kept.windows.pop(start)
        kept.valve, kept.committed, kept.planned = (valve.watermark, valve.dump()), planned.number, None
        kept.taken = planned.messages
        self.running, self.last = None, (planned.number, reports)
        self.unseen.append((planned.number, reports, self.began, self.history.now))

    def check(self, before: int | None, after: int | None, planned: Planned) -> None:
        """The watermark is not later than that of any table that it has not passed before, and that neither has ended
        nor has been silent for its timeout before this micro-batch."""
        tables = self.history.tables
        if after is not None and after >= END_OF_INPUT:
            assert all(table.has_ended for table in tables), "time has ended before the tables have been read"
            assert self.closes or self.endless
            return
        for table, files in zip(tables, planned.files, strict=True):
            silent = bool(table.source.timeout) and not files and self.began - table.rows_at >= TIMEOUT
            ended = self.endless and table.source.ends and table.has_ended and not files
            own = table.watermark
            behind = own is not None and before is not None and own < before
            held = ended or silent or behind
            assert held or (own is not None and after is not None and after <= own), f"{table.source.table} was passed"

    def look(self) -> None:
        at_rest, last, now = self.at_rest, self.last, self.history.now
        for number, reports, began, _ in self.unseen:
            self.lives.micro_batch(number, reports, min(began, self.looked), now)
        self.unseen = []
        number, reports = (None, list[Any]()) if last is None else last
        messages = self.lives.look(number, reports, at_rest, now)
        self.kept.messages += messages
        self.kept.closed |= {str(channel) for channel, watermark in messages if watermark >= ENDED}
        self.kept.announced |= any(channel is None for channel, _ in messages)
        self.looked = now
        if last is not None and self.closes and self.lives.has_ended(reports, at_rest):
            self.done = True


History.runs = Run
