"""What is printed: a table per case, the memory, and the targets beside what was reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from tests.bench.cases import Case
from tests.bench.measure import Answer, Bench, Timed

HEADER = ("", "rows out", "seconds", "min-max", "x tvfsql", "s/M rows out", "cpu s")
WIDTHS = (14, 13, 9, 17, 9, 13, 8)
TVFSQL = "tvfsql"
AGAINST = (  # case, engine, how many times faster tvfsql must be
    ("stream-tumble", "Spark's own", 1, "TUMBLE 1 min not slower than Spark's own"),
    ("stream-hop-1h", "Spark's own", 4, "HOP 1 min/1 h at least 4 times faster than Spark's own"),
    ("stream-hop-1h", "Flink", 1, "HOP 1 min/1 h ahead of Flink"),
)


def say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


def answers(case: Case, found: Sequence[Answer]) -> Iterator[str]:
    yield f"\n{case.title}"
    for each in found[1:]:
        if each.engine != found[0].engine:
            verdict = "agrees with" if each.agrees else "DISAGREES WITH"
            sums = ", ".join(f"{total:,}" for total in each.totals.sums)
            yield f"  {each.engine} {verdict} tvfsql on {each.keys:,} keys: {each.totals.rows:,} rows, sums {sums}"


def timed(found: Sequence[Timed]) -> Iterator[str]:
    yield _line(HEADER)
    for each in found:
        yield _line(
            (
                each.engine,
                f"{each.rows:,}",
                f"{each.seconds:.2f}",
                "{:.2f}-{:.2f}".format(*each.spread),
                f"{each.seconds / found[0].seconds:.1f}",
                f"{each.per_million_rows:.2f}",
                f"{each.cpu:.1f}",
            )
        )
    for each in found:
        if each.share > 1:
            seen, before = median(each.runs), each.before[0]
            yield f"  {each.engine}: SCALED from 1/{each.share} of the keys. Seen: {seen:.2f} s;"
            yield f"    {before:.2f} s of that go before the first row and count once, the rest {each.share} times"


def compared(bench: Bench, case: Case) -> bool:
    """Print the answers of all engines, and then their times; whether the answers agree."""
    found = list(bench.answers(case))
    say(*answers(case, found))
    say(*timed(list(bench.timed(case, found))))
    return all(answer.agrees for answer in found)


def memory(peaks: Mapping[str, int]) -> Iterator[str]:
    yield "\nPeak resident memory of the largest Python worker, each case in new workers (tvfsql)"
    for title, peak in peaks.items():
        yield f"  {title:<20} {peak / 2**20:6.0f} MiB"


def under(title: str, lines: Iterable[str]) -> list[str]:
    """The lines below a title, if there are any."""
    found = [*lines]
    return [f"\n{title}", *found] if found else []


def targets(times: Mapping[str, Sequence[Timed]], peaks: Mapping[str, int]) -> Iterator[str]:
    """One line per target of batch whose cases were run."""
    if "hop-1h" in times:
        own, windows, *_ = times["hop-1h"]
        ratio, cpu = windows.seconds / own.seconds, windows.cpu / own.cpu
        yield target(f"HOP 1 min/1 h at least 8 times faster than window(): {ratio:.1f} (cpu {cpu:.1f})", ratio >= 8)
    if {"hop-1h", "hop-24h"} <= times.keys():
        hour, day = times["hop-1h"][0], times["hop-24h"][0]
        ratio = day.per_million_rows / hour.per_million_rows
        cpu = (day.cpu / day.rows) / (hour.cpu / hour.rows)
        yield target(f"time per output row, 24 h to 1 h, within 1.3: {ratio:.2f} (cpu {cpu:.2f})", ratio <= 1.3)
    if {"hop-1h", "tumble"} <= times.keys():
        hop, tumble = times["hop-1h"][0], times["tumble"][0]
        ratio, cpu = hop.seconds / tumble.seconds, hop.cpu / tumble.cpu
        yield target(f"HOP 1 min/1 h within 3 times TUMBLE 1 min: {ratio:.2f} (cpu {cpu:.2f})", ratio <= 3)
    if peaks:
        least, *_, most = peaks.values()
        ratio = most / least
        yield target(f"peak memory does not grow with size/slide: 24 h to 10 min {ratio:.2f}", ratio <= 1.1)


def stream_targets(times: Mapping[str, Sequence[Timed]]) -> Iterator[str]:
    """One line per target of streams whose cases were run."""
    for name, engine, least, text in AGAINST:
        by_engine = {each.engine: each for each in times.get(name, ())}
        if engine in by_engine:
            ratio = by_engine[engine].seconds / by_engine[TVFSQL].seconds
            cpu = by_engine[engine].cpu / by_engine[TVFSQL].cpu
            yield target(f"{text}: {ratio:.1f} times faster (cpu {cpu:.1f})", ratio >= least)
    for hour, day, text in (("stream-hop-1h", "stream-hop-24h", "10"), ("stream-100-1h", "stream-100-24h", "100")):
        if {hour, day} <= times.keys():
            ratio = times[day][0].per_million_rows / times[hour][0].per_million_rows
            text = f"time per output row, 24 h to 1 h, in {text} micro-batches within 1.5: {ratio:.2f}"
            yield target(text, ratio <= 1.5)
    if "stream-keys" in times:
        yield target("a stream of 1 million keys comes to its end", True)


def target(text: str, reached: bool) -> str:
    return f"  {'reached' if reached else 'MISSED '}  {text}"


def _line(cells: Sequence[str]) -> str:
    rest = (cell.rjust(width) for cell, width in zip(cells[1:], WIDTHS[1:], strict=True))
    return "  " + cells[0].ljust(WIDTHS[0]) + "".join(rest)
