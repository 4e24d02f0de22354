"""Latencies of tvfsql, Spark's own windows and Flink at several rates, as tables with their targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench import report
from tests.bench.latency import kafka
from tests.bench.latency.measured import Measured
from tests.bench.latency.run import Runner
from tests.bench.latency.setup import ENGINES, KEYS, WINDOWS
from tests.bench.latency.sustainable import searched
from tests.bench.stream_engines import FLINK

TRANSPORTS = ("files", "kafka")
CASES = {f"latency-{window}-{transport}": (window, transport) for transport in TRANSPORTS for window in WINDOWS}
SUSTAINABLE = {f"sustainable-{name.partition('-')[2]}": case for name, case in CASES.items()}
RATES = (1_000, 10_000, 50_000)
TARGET, TARGET_RATE = 1_000, 10_000  # ms of p99, at rows a second
HEADER = ("", "rows/s", "p50", "p99", "max", "rows out", "lost", "cores", "micro-batch")
WIDTHS = (14, 9, 8, 8, 8, 12, 8, 7, 13)


@dataclass(frozen=True)
class Lengths:
    """Seconds: of a run, of its warm-up, and of the runs of the search for the sustainable rate."""

    seconds: int
    warm_up: int
    search: int


def run(names: set[str], rates: Sequence[int], lengths: Lengths) -> bool:
    """Print what was found; whether no row was lost."""
    if names & CASES.keys():
        report.say(
            f"\nLatency, ms, from the row that passes a window's end to the arrival of the window's rows in Kafka: "
            f"{KEYS:,} keys, {lengths.seconds} s each, the first {lengths.warm_up} left out"
        )
    engines = [engine for engine in ENGINES if engine != "Flink" or (FLINK / ".installed").exists()]
    if len(engines) < len(ENGINES):
        report.say("Flink is left out: `make bench-flink` installs it.")
    with TemporaryDirectory(prefix="tvfsql-bench-") as scratch:
        try:
            with kafka.running(Path(scratch)) as broker:
                return _all(Runner(broker, Path(scratch)), engines, names, rates, lengths)
        except kafka.Unreachable as reason:
            report.say(f"Left out: {reason}")
            return True


def _all(runner: Runner, engines: Sequence[str], names: set[str], rates: Sequence[int], lengths: Lengths) -> bool:
    whole = True
    for name, (window, transport) in CASES.items():
        if name in names:
            report.say(f"\n{WINDOWS[window].title} over {transport}", _line(HEADER))
            runs: dict[tuple[str, int], Measured] = {}
            for rate in rates:
                for engine in engines:
                    made = runner.run(engine, window, transport, rate, lengths.seconds, lengths.warm_up)
                    runs[engine, rate] = made
                    report.say(*_told(engine, made))
                    whole &= not made.lost
            report.say(*_targets(runs, rates))
    for name, (window, transport) in SUSTAINABLE.items():
        if name in names:
            report.say(f"\nSustainable rate, {WINDOWS[window].title} over {transport}: runs of {lengths.search} s")
            for engine in engines:
                for line in searched(runner, engine, window, transport, lengths.search):
                    report.say(line)
    return whole


def _told(engine: str, made: Measured) -> Iterator[str]:
    figures = [f"{each:,.0f}" for each in made.quantiles] or ["-"] * 3
    micro_batch = f"{made.micro_batch:,.0f}" if made.micro_batch else ""
    counts = [f"{len(made.latencies):,}", f"{made.lost:,}", f"{made.cores:.2f}", micro_batch]
    yield _line((engine, f"{made.feed.rate:,}", *figures, *counts))
    if made.fell_behind:
        yield f"    THE FEEDER FELL BEHIND: {made.feed.reached:,.0f} rows/s"
    if made.lost or made.late or made.unsent:
        yield f"    {made.lost} rows lost, {made.late} dropped as late, {made.unsent} not in the topic"
    if made.missing:
        yield f"    {made.missing} of {len(made.ends)} window ends had not arrived when the engine was stopped"
    if made.grows:
        yield "    the lag grows"


def _targets(runs: dict[tuple[str, int], Measured], rates: Sequence[int]) -> Iterator[str]:
    own, windows, flink = ENGINES
    for rate in rates:
        p99 = {engine: made.quantiles[1] for (engine, each), made in runs.items() if each == rate and made.quantiles}
        if own not in p99:
            yield report.target(f"rows at {rate:,} rows/s", False)
            continue
        if rate == TARGET_RATE:
            yield report.target(f"p99 below 1 s at {rate:,} rows/s: {p99[own] / 1000:.2f} s", p99[own] < TARGET)
        if windows in p99:
            ratio = p99[own] / p99[windows]
            yield report.target(f"p99 no worse than Spark's own at {rate:,} rows/s: {ratio:.2f} of it", ratio <= 1)
        if flink in p99:
            yield f"  Flink's p99 at {rate:,} rows/s is {p99[flink] / 1000:.2f} s, tvfsql's {p99[own] / 1000:.2f} s"


def _line(cells: Sequence[str]) -> str:
    rest = (cell.rjust(width) for cell, width in zip(cells[1:], WIDTHS[1:], strict=True))
    return "  " + cells[0].ljust(WIDTHS[0]) + "".join(rest)
