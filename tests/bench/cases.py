"""What is measured: the windows, and how often each row is copied by an engine that copies rows into windows."""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.window import Cumulate, Hop, Tumble

MINUTE, HOUR = 60_000, 3_600_000
DAY = 24 * HOUR


@dataclass(frozen=True)
class Case:
    """SUM, COUNT and MAX per key and window; with `distinct`, COUNT(DISTINCT item) instead, by tvfsql alone."""

    name: str
    title: str
    window: Tumble | Hop | Cumulate
    distinct: bool = False

    @property
    def copies(self) -> int:
        """How many windows hold a row; half of a cycle's on the average for CUMULATE."""
        match self.window:
            case Hop(slide, size):
                return size // slide
            case Cumulate(step, size):
                return size // step // 2
        return 1


CASES = (
    Case("tumble", "TUMBLE 1 min", Tumble(MINUTE)),
    Case("hop-10min", "HOP 1 min/10 min", Hop(MINUTE, 10 * MINUTE)),
    Case("hop-1h", "HOP 1 min/1 h", Hop(MINUTE, HOUR)),
    Case("hop-24h", "HOP 1 min/24 h", Hop(MINUTE, DAY)),
    Case("cumulate-24h", "CUMULATE 1 min/24 h", Cumulate(MINUTE, DAY)),
    Case("distinct-1h", "COUNT(DISTINCT), HOP 1 min/1 h", Hop(MINUTE, HOUR), distinct=True),
    Case("distinct-24h", "COUNT(DISTINCT), HOP 1 min/24 h", Hop(MINUTE, DAY), distinct=True),
)
MEMORY = ("hop-10min", "hop-1h", "hop-24h")
