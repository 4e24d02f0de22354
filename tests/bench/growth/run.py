"""`make bench-growth`: measures curves, draws them into docs/dev/growth, and writes their tables into
docs/dev/growth.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from tests.bench import report
from tests.bench.growth.curves import CURVES, Curve
from tests.bench.growth.measure import Measurer, Point
from tests.bench.growth.picture import MIB, picture
from tests.bench.growth.written import NAME as WRITTEN
from tests.bench.growth.written import lines as written

DOCS = Path(__file__).parents[3] / "docs"
PAGE, PICTURES = DOCS / "dev" / "growth.md", DOCS / "dev" / "growth"
NAMES = {f"growth-{curve.name}": curve for curve in CURVES}
LIMIT = 1.1  # a slope that measurement cannot tell from linear
LEAST = 1.5  # the least growth over which a slope says something
STATE = 2.0  # how many times the data's own bytes the state of a key and slice may take
HEADER = ("", "rows out", "values", "s", "slope", "CPU s", "Python MiB", "JVM MiB", "state bytes")


def run(names: set[str], small: bool) -> bool:
    """Print what was found; whether batch and streams agree. Only whole curves, not `small` ones, change the
    documentation."""
    if WRITTEN in names:
        _written(small)
    if not names & NAMES.keys():
        return True
    measurer, agree = Measurer(), True
    for name, curve in NAMES.items():
        if name in names:
            report.say(f"\n{curve.title}")
            points: list[Point] = []
            for point in measurer.points(curve, small):
                points.append(point)
                report.say(f"  {point.mode} {point.size:,}: {point.seconds:.2f} s, CPU {point.cpu:.1f} s")
            wrong = {point.size for point in points if point.late or not _agrees(point, points)}
            for size in sorted(wrong):
                report.say(f"  {size:,}: ROWS ARE MISSING")
            agree &= not wrong
            lines = [*_table(curve, points)]
            report.say(*(f"  {line}" for line in lines))
            if not small:
                PICTURES.mkdir(exist_ok=True)
                (PICTURES / f"{curve.name}.svg").write_text(picture(curve, points), encoding="utf-8")
                shown = [f"![{curve.title}](growth/{curve.name}.svg)", "", *lines]
                PAGE.write_text(_filled(PAGE.read_text(encoding="utf-8"), curve.name, shown), encoding="utf-8")
    measurer.spark.stop()
    return agree


def _written(small: bool) -> None:
    """Bytes of state that micro-batches read and write."""
    table = [*written(small)]
    report.say("\nBytes written", *(f"  {line}" for line in table))
    if not small:
        PAGE.write_text(_filled(PAGE.read_text(encoding="utf-8"), "written", table), encoding="utf-8")


def _agrees(point: Point, points: Sequence[Point]) -> bool:
    """Whether batch and stream made as many rows."""
    return {other.rows_out for other in points if other.size == point.size} == {point.rows_out}


def _table(curve: Curve, points: Sequence[Point]) -> Iterator[str]:
    yield _row((curve.axis, *HEADER[1:]))
    yield _row(("---", *("---:" for _ in HEADER[1:])))
    slopes = _slopes(curve, points)
    for point in points:
        state = f"{point.state_bytes:.0f} of {point.least_state}" if point.state_bytes else ""
        cells = [f"{point.mode}, {point.size:,}", f"{point.rows_out:,}", f"{point.values / 1e6:,.1f} M"]
        cells += [f"{point.seconds:.2f}", slopes.get(point, ""), f"{point.cpu:.1f}"]
        yield _row((*cells, f"{point.worker / MIB:,.0f}", f"{point.java / MIB:,.0f}", state))
    yield ""
    yield "| target | reached |"
    yield "|---|---:|"
    for mode in curve.modes:
        first, *_, last = [point for point in points if point.mode == mode]
        for what, value in (("time", _time), ("memory of Python", _worker), ("memory of the JVM", _java)):
            if (slope := _slope(curve, first, last, value)) is not None:
                yield f"| {mode}: {what} no steeper than linear | {slope:.2f}{'' if slope <= LIMIT else ', MISSED'} |"
    if ratios := [point.state_bytes / point.least_state for point in points if point.state_bytes]:
        missed = "" if max(ratios) <= STATE else ", MISSED"
        yield f"| state of a key and slice within {STATE:g} times its data | {max(ratios):.2f}{missed} |"


def _slopes(curve: Curve, points: Sequence[Point]) -> dict[Point, str]:
    """Of the time, from the point before."""
    near = ((a, b) for a, b in pairwise(points) if a.mode == b.mode)
    found = ((b, _slope(curve, a, b, _time)) for a, b in near)
    return {point: f"{slope:.2f}" for point, slope in found if slope is not None}


def _slope(curve: Curve, a: Point, b: Point, value: Callable[[Point], float]) -> float | None:
    """How fast a value grows with what it may grow with, log-log: 1 is linear. None if that hardly grows, or if there
    was nothing to measure, such as the memory of Python before its first worker."""
    grown = b.values / a.values if curve.by_values else b.size / a.size
    return math.log(value(b) / value(a)) / math.log(grown) if grown >= LEAST and value(a) and value(b) else None


def _time(point: Point) -> float:
    return point.seconds


def _worker(point: Point) -> float:
    return point.worker


def _java(point: Point) -> float:
    return point.java


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _filled(page: str, name: str, lines: Sequence[str]) -> str:
    """The page with these lines between the marks of a curve."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    text = "\n".join([first, "", *lines, "", last])
    return re.sub(f"{re.escape(first)}.*?{re.escape(last)}", lambda _: text, page, count=1, flags=re.DOTALL)
