"""The feeder, a process of its own: rows whose event time is the clock, ten times a second, into files or into Kafka.

A file appears whole, by a rename. Kafka's rows are lines on stdout, `key;row`, for its console producer. When a tick's
rows are handed over is written to a log.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

TICK = 100  # ms
PHASE = 50  # a tick begins so many ms after a multiple of its length, so that windows end inside one
VALUES = 1_000_000
LATE = 1_000  # a tick handed over so many ms after its end: the feeder has fallen behind
AS_LINES = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")


@dataclass(frozen=True)
class Tick:
    """The rows of the event times `start` to `start` + TICK (epoch ms), evenly spaced, handed over at `visible`."""

    start: int
    rows: int
    visible: float

    def times(self) -> np.ndarray:
        """The event times of its rows, in order."""
        return self.start + np.arange(self.rows, dtype=np.int64) * TICK // self.rows


@dataclass(frozen=True)
class Feed:
    """What a feeder did, by its log."""

    ticks: tuple[Tick, ...]
    rate: int  # wanted rows a second

    @classmethod
    def of(cls, log: Path, rate: int) -> Feed:
        with log.open(newline="") as lines:
            return cls(tuple(Tick(int(a), int(b), float(c)) for a, b, c in csv.reader(lines)), rate)

    @property
    def reached(self) -> float:
        """Rows a second that were handed over."""
        first, *rest = self.ticks
        return sum(tick.rows for tick in rest) / (rest[-1].visible - first.visible) * 1000

    def fell_behind(self, warm_up: int) -> bool:
        """Whether its rate or its ticks were late, without the first `warm_up` seconds: producers start slowly."""
        counted = self.ticks[warm_up * 1000 // TICK :]
        return self.reached < 0.99 * self.rate or max(tick.visible - tick.start - TICK for tick in counted) > LATE

    def passed(self, slide: int) -> dict[int, float]:
        """The window ends (multiples of `slide`) that the event time has passed, and when: the time at which the first
        row at or after the end was handed over."""
        ends: dict[int, float] = {}
        for tick in self.ticks:
            last = int(tick.times()[-1])
            for end in range(-(-self.ticks[0].start // slide) * slide, last + 1, slide):
                if end > self.ticks[0].start:
                    ends.setdefault(end, tick.visible)
        return ends

    def rows_between(self, start: int, end: int) -> int:
        """The rows with event times in [start, end)."""
        near = (tick for tick in self.ticks if start - TICK < tick.start < end)
        return sum(int(((start <= each) & (each < end)).sum()) for each in (tick.times() for tick in near))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, required=True, help="rows a second")
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--keys", type=int, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--folder", type=Path, help="for files; without it, lines on stdout")
    chosen = parser.parse_args(arguments)
    draw = np.random.default_rng(1)
    first = (time.time_ns() // 1_000_000 // TICK + 2) * TICK + PHASE
    with chosen.log.open("w", newline="") as log:
        for start in range(first, first + chosen.seconds * 1000, TICK):
            made = rows(start, chosen.rate, chosen.keys, draw)
            hand_over = into_folder(made, chosen.folder, start) if chosen.folder else into_pipe(made)
            next(hand_over)  # all but the last step, before it is due
            time.sleep(max(0.0, (start + TICK) / 1000 - time.time()))
            next(hand_over)
            log.write(f"{start},{len(made)},{time.time() * 1000:.1f}\n")


def rows(start: int, rate: int, keys: int, draw: np.random.Generator) -> pa.Table:
    tick = Tick(start, rate * TICK // 1000, 0)
    return pa.table(
        {
            "ts": pa.array(tick.times()).cast(pa.timestamp("ms")),
            "k": pa.array(draw.integers(0, keys, tick.rows, dtype=np.int32)),
            "v": pa.array(draw.integers(1, VALUES, tick.rows, dtype=np.int64)),
        }
    )


def into_folder(made: pa.Table, folder: Path, start: int) -> Iterator[None]:
    draft = folder.with_name(f"{folder.name}.draft")
    pyarrow.csv.write_csv(made, draft, AS_LINES)
    yield
    os.utime(draft)  # streams go by the time of the last change
    draft.rename(folder / f"{start}.csv")
    yield


def into_pipe(made: pa.Table) -> Iterator[None]:
    ts, k, v = (pc.cast(column, pa.string()) for column in made.columns)
    lines = pc.binary_join_element_wise(pc.binary_join_element_wise(k, ts, ";"), k, v, ",")
    text = "\n".join([*lines.to_pylist(), ""]).encode()
    yield
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    yield


if __name__ == "__main__":
    main()
