"""The highest rate at which lag does not grow and no row is lost: doubled until it does, then bisected."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.latency.run import Runner

FIRST, MOST = 10_000, 1_280_000  # rows a second
STEPS = 3  # of the bisection: it ends within an eighth of the rate


def searched(runner: Runner, engine: str, window: str, transport: str, seconds: int) -> Iterator[str]:
    """One line for each run, and one for the rate that was found. The first third of a run is its warm-up."""
    sustained, grown, limit = 0, 0, "no limit found"
    rate, steps = FIRST, STEPS
    while steps and rate <= MOST:
        made = runner.run(engine, window, transport, rate, seconds, seconds // 3)
        lags = [*made.lags.values()]
        lag = f"lag {lags[0] / 1000:.1f} s, {lags[-1] / 1000:.1f} s at the end" if lags else "nothing arrived"
        lost = f", {made.lost:,} rows lost" if made.lost else ""
        yield f"    {engine}, {rate:,} rows/s: {lag}{', grows' if made.grows else ''}{lost}"
        if made.fell_behind:
            yield f"    {engine}: the feeder fell behind, {made.feed.reached:,.0f} rows/s"
        steps -= bool(grown)
        if made.grows or made.fell_behind or made.lost:
            grown = rate
            reason = "the feeder is too slow" if made.fell_behind else "lag grows" if made.grows else "rows are lost"
            limit = f"{reason} at {rate:,}"
        else:
            sustained = rate
        rate = (sustained + grown) // 2000 * 1000 if grown else rate * 2
    yield f"  {engine}: {sustained:,} rows/s; {limit}"
