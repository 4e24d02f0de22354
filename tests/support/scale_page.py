"""What the shapes of queries would read, shuffle, keep and send through the driver on a large cluster: computed from
the plans of tests/data/spark_plans.txt, by counting rows from operator to operator.

`python -m tests.support.scale_page` writes the table into docs/scale.md; test_spark_plans.py fails if it is stale.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import exp
from pathlib import Path

from tests.support.spark_plans import SHAPES, Shape, shapes

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
BEGIN, END = "<!-- from the plans -->\n", "<!-- end -->\n"
ROWS, KEYS, DAYS, CORES = 10**9, 10**7, 30, 4000
MOST_VALUES = 3  # rows that a Top-N keeps
LARGEST_BROADCAST = 10 << 20  # bytes: spark.sql.autoBroadcastJoinThreshold
BYTES = {"ts": 8, "k": 4, "item": 4, "v": 8, "dt": 0, "name": 16}
WINDOW, PARTIALS = 16, 16  # bytes of a window's start and end, and of its partials or results
SECONDS = DAYS * 86_400
# by what is in a query's text: the slide and the size of its windows in seconds
WINDOWS = {
    "'1' SECOND, INTERVAL '1' HOUR": (1, 3600),
    "'0.1' SECOND, INTERVAL '1' HOUR": (0.1, 3600),
    "'1' MINUTE, INTERVAL '1' HOUR": (60, 3600),
    "CUMULATE": (60, 43_200),  # half a day on the average
    "'1' MINUTE": (60, 60),
    "SESSION": (1800, 1800),
}


@dataclass
class Found:
    """Bytes that a query moves, and the fewest tasks of a step."""

    read: float = 0
    shuffled: float = 0
    kept: float = 0
    driver: float = 0
    one_task: float = 0


@dataclass(frozen=True)
class Rows:
    """Rows between two operators: how many, the bytes of one, and the bytes that Spark expects: those of the files."""

    count: float
    width: float
    expected: float

    @property
    def bytes(self) -> float:
        return self.count * self.width


@dataclass
class Node:
    """A line of a reduced plan, with the lines below it."""

    text: str
    below: list[Node] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return self.text.split()[0]


def table() -> str:
    """The table of docs/scale.md."""
    lines = [
        "| query | read | shuffled | kept | through the driver | in one task |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for shape in shapes():
        found = of_shape(shape)
        parts = (found.read, found.shuffled, found.kept, found.driver, found.one_task)
        lines.append(f"| {shape.name} | {' | '.join(map(_shown, parts))} |")
    return "\n".join(lines) + "\n"


def of_shape(shape: Shape) -> Found:
    found, top = Found(), Node("")
    path = [top]
    for line in shape.lines:
        depth = (len(line) - len(line.lstrip())) // 2
        node = Node(line.strip())
        path[depth:] = [node]
        (path[depth - 1] if depth > 1 else top).below.append(node)
    slide, size = next((window for text, window in WINDOWS.items() if text in SHAPES[shape.name]), (60, 60))
    for node in top.below:
        _rows(node, found, slide, size)
    return found


def _rows(node: Node, found: Found, slide: float, size: float) -> Rows:
    """The rows that a node gives; what it moves is added up."""
    if node.kind == "Scan":
        return _scanned(node, found)
    below = [_rows(each, found, slide, size) for each in node.below]
    source = max(below, key=lambda rows: rows.bytes)
    expected = sum(rows.expected for rows in below)
    match node.kind:
        case "Exchange":
            made = _aggregated(node, source, slide)
            found.shuffled += made.bytes
            if "SinglePartition" in node.text:
                found.one_task += made.count
            return made
        case "MapInArrow":
            if node.below[0].kind == "Scan":  # partials of slices, or intervals of sessions
                return Rows(_different(source.count, slide), source.width + PARTIALS, expected)
            keys = KEYS if "k" in node.below[0].text.split("(")[-1] else 1
            windows = keys * SECONDS / slide * (1 - exp(-ROWS / keys * size / SECONDS))
            width = WINDOW + PARTIALS + (4 if keys > 1 else 0)
            return Rows(min(windows, source.count * size / slide), width, expected)
        case "Kept":
            found.kept += source.bytes
        case kind if kind.endswith("Join"):
            sides = [*zip(node.below, below, strict=True)]
            broadcast = [rows for each, rows in sides if each.kind == "Broadcast"]
            if any(rows.expected <= LARGEST_BROADCAST for rows in broadcast):
                found.driver += min(rows.bytes for rows in broadcast)
                # a shuffle that only shows Spark the size of windows, whose slices take more than that here
                found.shuffled -= sum(rows.bytes for each, rows in sides if each.kind == "Exchange")
            else:  # of so many rows Spark shuffles both sides, unless they are
                found.shuffled += sum(rows.bytes for each, rows in sides if not _is_shuffled(each))
            return Rows(min(rows.count for rows in below), sum(rows.width for rows in below), expected)
    return source


def _scanned(node: Node, found: Found) -> Rows:
    columns = node.text.partition("[")[2].partition("]")[0].split(", ")
    width = sum(BYTES[name] for name in columns)
    if node.text.startswith("Scan dim"):
        return Rows(1000, width, 1000 * width)
    lower, upper = "GreaterThanOrEqual(ts" in node.text, "LessThan(ts" in node.text
    one = "(dt = " in node.text or (lower and upper)
    count = ROWS / DAYS if one else ROWS
    found.read += count * width
    return Rows(count, width, count * width)


def _is_shuffled(node: Node) -> bool:
    """Whether the side of a join comes from a shuffle by the join's keys."""
    own = node.below[0] if node.kind == "Broadcast" else node
    return own.kind in ("Exchange", "Kept") and "window," not in own.text and "_groupingexpression" not in own.text


def _aggregated(node: Node, source: Rows, slide: float) -> Rows:
    """What is shuffled: rows as they are, or their partials, if Spark groups them by a window or a slice first."""
    columns = node.text.partition("(")[2]
    if node.below[0].kind == "WindowGroupLimit":  # the first rows of each group in each task
        kept = MOST_VALUES * (SECONDS / slide + CORES)
        if re.search(r"\bk\b", columns):
            kept = _different(source.count, slide) if "window" in columns else source.count
        return Rows(min(source.count, kept), source.width, source.expected)
    if "window," not in columns and "_groupingexpression" not in columns:
        return source
    keyed = re.search(r"\bk\b|\bitem\b", columns) is not None
    count = _different(source.count, slide) if keyed else min(source.count, SECONDS / slide + CORES)
    return Rows(count, (WINDOW / 2 + 4 * keyed) + PARTIALS, source.expected)


def _different(rows: float, slide: float) -> float:
    """Different pairs of key and slice among rows in order of time."""
    cells = KEYS * SECONDS / slide * rows / ROWS
    return cells * (1 - exp(-rows / cells))


def _shown(number: float) -> str:
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}" if number else ""


def page() -> str:
    """The whole page, with the table of now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
