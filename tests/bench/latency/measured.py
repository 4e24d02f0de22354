"""What came when: latencies of the rows of a run, and whether they grew."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np
import pyarrow as pa

from tests.bench.engines import size_and_slide
from tests.bench.latency.feeder import Feed
from tests.bench.latency.setup import SECOND, Setup

QUANTILES = (50, 99, 100)
GROWTH = 0.05  # seconds of lag a second, above which lag grows
SMALL = 1_000  # ms: a lag below it at the end has not grown


@dataclass(frozen=True)
class Measured:
    """A run of an engine: its feed, the rows that arrived, the cores that it used, and the ms that each of its
    micro-batches took. Windows that end in the first `warm_up` seconds and in the last one are left out.

    `late`: the rows that it dropped as late, if it says so. `sent`: the rows in its topic; None with files."""

    setup: Setup
    feed: Feed
    arrived: pa.Table
    cores: float
    micro_batches: tuple[int, ...]
    warm_up: int
    late: int | None = None
    sent: int | None = None

    @cached_property
    def ends(self) -> dict[int, float]:
        """The window ends that count, and when event time passed them (epoch ms)."""
        _, slide = size_and_slide(self.setup.case.window)
        first, last = self.feed.ticks[0].start + self.warm_up * SECOND, self.feed.ticks[-1].start - SECOND
        return {end: at for end, at in self.feed.passed(slide).items() if first <= end <= last}

    @cached_property
    def latencies(self) -> np.ndarray:
        """Of each row, in ms: from the time at which event time passed its window's end, to its arrival."""
        counts = np.isin(self._ends, [*self.ends])
        passed = np.array([self.ends[end] for end in self._ends[counts].tolist()])
        return self._arrivals[counts] - passed

    @property
    def quantiles(self) -> list[float]:
        """p50, p99 and the maximum, in ms; empty if nothing arrived."""
        return [float(np.percentile(self.latencies, q)) for q in QUANTILES] if len(self.latencies) else []

    @cached_property
    def lags(self) -> dict[int, float]:
        """The latency of the last row of each window end, in ms, for those that arrived."""
        found = {end: self._arrivals[self._ends == end] for end in self.ends}
        return {end: float(each.max()) - self.ends[end] for end, each in found.items() if len(each)}

    @property
    def fell_behind(self) -> bool:
        """Whether the feeder did not keep its rate."""
        return self.feed.fell_behind(self.warm_up)

    @property
    def missing(self) -> int:
        """Window ends without a row when the engine was stopped."""
        return len(self.ends) - len(self.lags)

    @property
    def lost(self) -> int:
        """Rows that were fed and are not counted in the windows that arrived; negative: counted twice."""
        size, _ = size_and_slide(self.setup.case.window)
        counts = self.arrived["n"].to_numpy()
        fed = sum(self.feed.rows_between(end - size, end) for end in self.lags)
        return fed - int(counts[np.isin(self._ends, [*self.lags])].sum())

    @property
    def unsent(self) -> int:
        """Rows of the feeder that are not in the topic."""
        return 0 if self.sent is None else sum(tick.rows for tick in self.feed.ticks) - self.sent

    @property
    def micro_batch(self) -> float:
        """The median of those after the warm-up, in ms; 0 without micro-batches."""
        ticks = self.feed.ticks
        share = self.warm_up * SECOND / (ticks[-1].start - ticks[0].start)
        later = self.micro_batches[int(len(self.micro_batches) * share) :]
        return median(later) if later else 0.0

    @property
    def grows(self) -> bool:
        """Whether lag grows: windows are missing, or a line through the lags rises and its last third is high."""
        if self.missing or len(self.lags) < 3:
            return True
        ends, lags = np.array([*self.lags]), np.array([*self.lags.values()])
        slope, _ = np.polyfit(ends - ends[0], lags, 1)
        return bool(slope > GROWTH and lags[-len(lags) // 3 :].mean() > SMALL)

    @cached_property
    def _ends(self) -> np.ndarray:
        found: np.ndarray = self.arrived["window_end"].cast(pa.int64()).to_numpy()
        return found

    @cached_property
    def _arrivals(self) -> np.ndarray:
        found: np.ndarray = self.arrived["arrival"].to_numpy()
        return found
