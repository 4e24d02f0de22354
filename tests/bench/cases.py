"""What is measured: the windows, and how often each row is copied by an engine that copies rows into windows."""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.window import Cumulate, Hop, Session, Tumble

MINUTE, HOUR = 60_000, 3_600_000
DAY = 24 * HOUR


@dataclass(frozen=True)
class Case:
    """SUM, COUNT and MAX per key and window, or with `keyed` False per window. With `distinct`, COUNT(DISTINCT item)
    instead, by tvfsql alone."""

    name: str
    title: str
    window: Tumble | Hop | Cumulate | Session
    distinct: bool = False
    keyed: bool = True

    @property
    def alone(self) -> bool:
        """Whether tvfsql alone is timed; the last of the other engines checks it then."""
        return self.distinct

    @property
    def copies(self) -> int:
        """How many windows hold a row; half of a cycle's on the average for CUMULATE."""
        match self.window:
            case Hop(slide, size):
                return size // slide
            case Cumulate(step, size):
                return size // step // 2
        return 1


@dataclass(frozen=True)
class StreamCase(Case):
    """On a stream of so many micro-batches. With `keys` that many instead of the run's. One that is `dear` is timed
    once, and tvfsql alone."""

    micro_batches: int = 10
    keys: int | None = None
    dear: bool = False
    format: str = "csv"

    @property
    def alone(self) -> bool:
        return self.dear


@dataclass(frozen=True)
class SplitCase(Case):
    """COUNT(DISTINCT item) of a hot key with the distinct split and without it; 0 micro-batches: in batch."""

    distinct: bool = True
    micro_batches: int = 0

    @property
    def alone(self) -> bool:
        return False


@dataclass(frozen=True)
class RangeCase(Case):
    """Windows made by time ranges, and in one task."""

    keyed: bool = False


CASES = (
    Case("tumble", "TUMBLE 1 min", Tumble(MINUTE)),
    Case("hop-10min", "HOP 1 min/10 min", Hop(MINUTE, 10 * MINUTE)),
    Case("hop-1h", "HOP 1 min/1 h", Hop(MINUTE, HOUR)),
    Case("hop-24h", "HOP 1 min/24 h", Hop(MINUTE, DAY)),
    Case("cumulate-24h", "CUMULATE 1 min/24 h", Cumulate(MINUTE, DAY)),
    Case("distinct-1h", "COUNT(DISTINCT), HOP 1 min/1 h", Hop(MINUTE, HOUR), distinct=True),
    Case("distinct-24h", "COUNT(DISTINCT), HOP 1 min/24 h", Hop(MINUTE, DAY), distinct=True),
)
SPLIT_CASES = (
    SplitCase("split-tumble", "Hot key, COUNT(DISTINCT), TUMBLE 1 h", Tumble(HOUR)),
    SplitCase("split-hop", "Hot key, COUNT(DISTINCT), HOP 1 h/6 h", Hop(HOUR, 6 * HOUR)),
    SplitCase("split-stream", "Stream, hot key, DISTINCT, TUMBLE 1 h", Tumble(HOUR), micro_batches=5),
    SplitCase("split-stream-hop", "Stream, hot key, DISTINCT, HOP 1 h/6 h", Hop(HOUR, 6 * HOUR), micro_batches=5),
)
RANGE_CASES = (
    RangeCase("ranges-hop", "No keys, HOP 100 ms/1 min", Hop(100, MINUTE)),
    RangeCase("ranges-cumulate", "No keys, CUMULATE 100 ms/1 min", Cumulate(100, MINUTE)),
)
PARQUET = "parquet"
MEMORY = ("hop-10min", "hop-1h", "hop-24h")
STREAM_CASES = (
    StreamCase("stream-tumble", "Stream, TUMBLE 1 min", Tumble(MINUTE)),
    StreamCase("stream-hop-1h", "Stream, HOP 1 min/1 h", Hop(MINUTE, HOUR)),
    StreamCase("stream-hop-24h", "Stream, HOP 1 min/24 h", Hop(MINUTE, DAY)),
    StreamCase("stream-cumulate-24h", "Stream, CUMULATE 1 min/24 h", Cumulate(MINUTE, DAY)),
    StreamCase("stream-tumble-parquet", "Stream from Parquet, TUMBLE 1 min", Tumble(MINUTE), format=PARQUET),
    StreamCase("stream-hop-1h-parquet", "Stream from Parquet, HOP 1 min/1 h", Hop(MINUTE, HOUR), format=PARQUET),
    StreamCase(
        "stream-cumulate-24h-parquet", "Stream from Parquet, CUMULATE 1 min/24 h", Cumulate(MINUTE, DAY), format=PARQUET
    ),
    StreamCase("stream-session", "Stream, 100,000 keys, SESSION 1 h", Session(HOUR), keys=100_000),
    StreamCase("stream-100-1h", "Stream of 100, HOP 1 min/1 h", Hop(MINUTE, HOUR), micro_batches=100, dear=True),
    StreamCase("stream-100-24h", "Stream of 100, HOP 1 min/24 h", Hop(MINUTE, DAY), micro_batches=100, dear=True),
    StreamCase("stream-keys", "Stream, 1 million keys, HOP 1 min/1 h", Hop(MINUTE, HOUR), keys=1_000_000, dear=True),
)
