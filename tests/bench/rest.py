"""`--only rest`: the CPU time per minute and the latency of a stream with few rows, or none."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench import report
from tests.bench.latency import kafka
from tests.bench.latency.feeder import Feed
from tests.bench.latency.measured import Measured
from tests.bench.latency.run import TOLD, Runner
from tests.bench.latency.setup import Setup
from tests.bench.processes import cpu_seconds_by_kind
from tests.bench.stream_engines import FLINK
from tvfsql.plan.stream import PACE

RATES = (0, 10, 1_000)
NAMES = {f"rest-{rate}": rate for rate in RATES}
FEWEST = 10  # rows a second during the warm-up
MOST_CORES, MOST_MS = 0.5, 1_000  # at the highest rate, and of p99
HEADER = ("CPU s a minute", "all", "driver", "JVM", "workers", "p50 ms", "p99 ms", "lost", "micro-batches of")
WIDTHS = (28, 8, 8, 8, 9, 8, 8, 6, 18)


@dataclass(frozen=True)
class Engine:
    """An engine and how often its micro-batches start; `pace` is tvfsql's, `interval` that of Spark's own (ms)."""

    name: str
    kind: str
    pace: int = PACE
    interval: int = 0


ENGINES = (
    Engine("tvfsql", "tvfsql"),
    Engine("tvfsql, no pace", "tvfsql", pace=0),
    Engine("Spark's own", "Spark's own"),
    Engine(f"Spark's own, every {PACE} ms", "Spark's own", interval=PACE),
    Engine("Flink", "Flink"),
)


@dataclass(frozen=True)
class Rest:
    """Processor seconds a minute by kind of process, and what arrived; None: no rows were fed after the warm-up.
    `micro_batches`: how long those of the whole run took, in ms."""

    minute: dict[str, float]
    measured: Measured | None
    micro_batches: tuple[int, ...]

    @property
    def all(self) -> float:
        return sum(self.minute.values())


def run(names: set[str], seconds: int, warm_up: int, engines: Sequence[Engine] = ENGINES) -> bool:
    """Print what was found in `seconds` after the warm-up; whether no row was lost. During the first minute a JVM
    compiles its own code, which takes more processor time than the stream does later."""
    report.say(
        f"\nA stream with few rows: TUMBLE 1 s over Kafka, 10,000 keys, {seconds} s each after {warm_up} s of warm-up"
    )
    there = [engine for engine in engines if engine.kind != "Flink" or (FLINK / ".installed").exists()]
    whole = True
    with TemporaryDirectory(prefix="tvfsql-bench-") as scratch:
        try:
            with kafka.running(Path(scratch)) as broker:
                for name, rate in NAMES.items():
                    if name in names:
                        whole &= _of_rate(Runner(broker, Path(scratch)), there, rate, seconds, warm_up)
        except kafka.Unreachable as reason:
            report.say(f"Left out: {reason}")
    return whole


def _of_rate(runner: Runner, engines: Sequence[Engine], rate: int, seconds: int, warm_up: int) -> bool:
    report.say(f"\n{rate:,} rows/s", _line(HEADER))
    whole = True
    for engine in engines:
        found = measure(runner, engine, rate, seconds, warm_up)
        report.say(_line(_cells(engine, found)))
        whole &= not (found.measured and found.measured.lost)
        if rate == max(RATES) and engine == ENGINES[0] and found.measured and found.measured.quantiles:
            cores, p99 = found.all / 60, found.measured.quantiles[1]
            reached = cores <= MOST_CORES and p99 < MOST_MS
            report.say(report.target(f"at most {MOST_CORES} cores, p99 below 1 s: {cores:.2f}, {p99:,.0f} ms", reached))
    return whole


def measure(runner: Runner, engine: Engine, rate: int, seconds: int, warm_up: int) -> Rest:
    """Feed an engine, and take its processor time from the end of the warm-up on."""
    with runner.prepared(engine.kind, "tumble", "kafka") as (made, folder):
        setup: Setup = replace(made, pace=engine.pace, interval=engine.interval)
        log, fed = folder / "ticks.csv", warm_up + (seconds if rate else 0)
        with runner.engine(setup, folder) as process:
            feeding = threading.Thread(target=runner.feed, args=(setup, rate or FEWEST, fed, log))
            feeding.start()
            time.sleep(warm_up + (0 if rate else 2))
            clock, before = time.monotonic(), cpu_seconds_by_kind(process.pid)
            time.sleep(seconds - 1)
            passed, after = time.monotonic() - clock, cpu_seconds_by_kind(process.pid)
            feeding.join()
            time.sleep(3)
        told = (folder / TOLD).read_text() if (folder / TOLD).exists() else ""
        micro_batches = tuple(json.loads(told or "{}").get("micro_batches", ()))
        minute = {kind: (after[kind] - before[kind]) * 60 / passed for kind in after}
        if not rate:
            return Rest(minute, None, micro_batches)
        arrived, cores = runner.kafka.arrived(setup.results), sum(minute.values()) / 60
        return Rest(minute, Measured(setup, Feed.of(log, rate), arrived, cores, (), warm_up), micro_batches)


def _cells(engine: Engine, found: Rest) -> Iterator[str]:
    yield engine.name
    yield f"{found.all:.1f}"
    yield from (f"{found.minute[kind]:.1f}" for kind in ("driver", "JVM", "workers"))
    measured = found.measured
    quantiles = measured.quantiles[:2] if measured else []
    yield from ([f"{each:,.0f}" for each in quantiles] or ["-"] * 2)
    yield f"{measured.lost:,}" if measured else "-"
    yield f"{len(found.micro_batches):,} x {median(found.micro_batches):.0f} ms" if found.micro_batches else ""


def _line(cells: Iterator[str] | Sequence[str]) -> str:
    return "  " + "".join(
        cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    )
