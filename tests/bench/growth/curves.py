"""The curves: what grows, over which sizes, and what the time may grow with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.bench.cases import HOUR, MINUTE
from tvfsql.plan.window import Hop, Tumble

SECOND = 1_000
MILLION = 1_000_000
EACH_MINUTE, HOUR_EACH_MINUTE = Tumble(MINUTE), Hop(MINUTE, HOUR)
READ = 3  # columns that are read: ts, k, v


@dataclass(frozen=True)
class Question:
    """Aggregates per key and window: so many SUMs of other values. Rows come in as many files as there are
    micro-batches; the watermark is `delay` seconds behind."""

    rows: int = 5 * MILLION
    keys: int = 1_000
    window: Tumble | Hop = EACH_MINUTE
    aggregates: int = 3
    micro_batches: int = 10
    delay: int = 0

    @property
    def select(self) -> str:
        window, made = self.window, ", ".join(f"SUM(v + {i}) AS a{i}" for i in range(self.aggregates))
        times = [window.slide, window.size] if isinstance(window, Hop) else [window.size]
        lengths = ", ".join(f"INTERVAL '{ms // SECOND}' SECOND(6)" for ms in times)
        call = f"{type(window).__name__.upper()}(TABLE bid, DESCRIPTOR(ts), {lengths})"
        return f"SELECT window_start, window_end, k, {made} FROM TABLE({call}) GROUP BY window_start, window_end, k"

    @property
    def columns(self) -> str:
        made = ", ".join(f"a{i} BIGINT" for i in range(self.aggregates))
        return f"window_start TIMESTAMP(3), window_end TIMESTAMP(3), k INT, {made}"

    def values(self, rows_out: int) -> int:
        """The values that it must read and write."""
        return self.rows * READ + rows_out * (READ + self.aggregates)

    @property
    def least_state(self) -> int:
        """The bytes of a key and slice as data: the key, the slice's time, and the sums."""
        return 4 + 8 + 8 * self.aggregates


@dataclass(frozen=True)
class Curve:
    """`question` for each of `sizes`, over `rows`. Where `by_values`, time may grow with the values read and written,
    else with the size itself. `few` are sizes, and a tenth of the rows, to try it in minutes."""

    name: str
    title: str
    axis: str
    sizes: tuple[int, ...]
    few: tuple[int, ...]
    rows: int
    question: Callable[[int, int], Question]  # of a size and the number of rows
    by_values: bool = True
    modes: tuple[str, ...] = ("batch", "stream")

    def questions(self, small: bool) -> dict[int, Question]:
        sizes, rows = (self.few, self.rows // 10) if small else (self.sizes, self.rows)
        return {size: self.question(size, rows) for size in sizes}


STREAM = ("stream",)
CURVES = (
    Curve(
        "rows",
        "Rows: HOP 1 min/1 h, 1,000 keys",
        "rows",
        (MILLION, 2 * MILLION, 5 * MILLION, 10 * MILLION, 20 * MILLION, 50 * MILLION),
        (MILLION // 10, MILLION // 2, 2 * MILLION),
        0,
        lambda rows, _: Question(rows, window=HOUR_EACH_MINUTE),
    ),
    Curve(
        "keys",
        "Keys: TUMBLE 1 h, 10 million rows",
        "keys",
        tuple(10**n for n in range(3, 8)),
        (1_000, 10_000, 100_000),
        10 * MILLION,
        lambda keys, rows: Question(rows, keys, Tumble(HOUR)),
    ),
    Curve(
        "overlap",
        "Windows of a row: HOP of 1 s, 1 million rows, 10 keys",
        "windows that share a row (size / slide)",
        (1, 10, 100, 1_000, 10_000, 86_400),
        (1, 100, 10_000),
        MILLION,
        lambda overlap, rows: Question(rows, 10, Hop(SECOND, overlap * SECOND)),
    ),
    Curve(
        "aggregates",
        "Aggregates: TUMBLE 1 min, 5 million rows, 1,000 keys",
        "aggregates",
        (1, 3, 10, 30, 100),
        (1, 10, 100),
        5 * MILLION,
        lambda aggregates, rows: Question(rows, aggregates=aggregates),
        by_values=False,
    ),
    Curve(
        "micro-batches",
        "Micro-batches: HOP 1 min/1 h, 1 million rows, 1,000 keys",
        "micro-batches",
        (10, 30, 100, 300, 1_000),
        (10, 30, 100),
        MILLION,
        lambda count, rows: Question(rows, window=HOUR_EACH_MINUTE, micro_batches=count),
        by_values=False,
        modes=STREAM,
    ),
    Curve(
        "open-windows",
        "Open windows: TUMBLE 1 s behind a delay, 1 million rows, 10 keys, 50 micro-batches",
        "open windows of a key",
        (10, 100, 1_000, 10_000),
        (10, 100, 1_000),
        MILLION,
        lambda delay, rows: Question(rows, 10, Tumble(SECOND), micro_batches=50, delay=delay),
        by_values=False,
        modes=STREAM,
    ),
)
