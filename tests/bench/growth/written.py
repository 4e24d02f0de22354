"""How the bytes that a micro-batch writes to state grow with the state and with what changes: no Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.support.small_changes import CASES, Cost, cost

NAME = "growth-written"
SIZES, CHANGES = (10_000, 100_000), (10, 1_000)
MORE = {"open sessions": (*SIZES, 1_000_000), "keys of a deduplication": (*SIZES, 1_000_000), "open slices": SIZES[:1]}
FEW_SIZES = (1_000, 10_000)
TIMES = 20  # micro-batches
HEADER = ("in state, of one key group", "rows that change", "read kB", "written kB", "state calls", "ms", "state kB")


def lines(small: bool) -> Iterator[str]:
    """The table of all cases."""
    yield f"| {' | '.join(HEADER)} |"
    yield f"| {' | '.join(['---', *['---:'] * (len(HEADER) - 1)])} |"
    for name, case in CASES.items():
        for size in FEW_SIZES if small else MORE.get(name, SIZES):
            for few in CHANGES:
                yield _row(f"{name}, {size:,}", few, cost(case, size, few, TIMES))


def _row(name: str, few: int, found: Cost) -> str:
    kilobytes = (f"{value / 1000:,.1f}" for value in (found.read, found.written))
    cells = [name, f"{few:,}", *kilobytes, f"{found.calls:,.0f}", f"{1000 * found.seconds:,.0f}"]
    return f"| {' | '.join([*cells, f'{found.whole / 1000:,.0f}'])} |"


if __name__ == "__main__":
    for line in lines("--small" in sys.argv):
        print(line, flush=True)
