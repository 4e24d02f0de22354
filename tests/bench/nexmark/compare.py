"""Nexmark's queries on streams: tvfsql, Spark's own SQL and Flink side by side, over the same files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median
from tempfile import TemporaryDirectory

import tvfsql
from tests.bench import report, stream_engines
from tests.bench.nexmark import answers
from tests.bench.nexmark.engines import Engine, Flink, SparksOwn, Tvfsql, bid_columns, fresh, result_columns
from tests.bench.nexmark.queries import CEP, QUERIES, Query
from tests.bench.nexmark.tables import FILES, RATE, NexmarkFiles
from tests.bench.processes import cpu_seconds

HEADER = ("engine", "rows out", "seconds", "min-max", "x tvfsql", "cpu s")
WIDTHS = (16, 13, 9, 17, 9, 8)


def run(events: int, queries: Sequence[Query], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    files = NexmarkFiles(events)
    report.say(
        f"\nNexmark: {events:,} events, {RATE:,} per second of event time, in CSV files, {FILES} micro-batches; medians"
        f" of {repeats} after a warm-up whose rows are compared, engines by turns, into sinks that keep no row"
    )
    session = tvfsql.Session(mode="streaming")
    with stream_engines.flink() as peers:
        at_once = Tvfsql(session, files, "tvfsql, at once", at_once=True)
        engines: list[Engine] = [Tvfsql(session, files), at_once, SparksOwn(session, files)]
        engines += [Flink(peer, files, peer.name) for peer in peers]
        agree = True
        for query in queries:
            able = [engine for engine in engines if engine.can(query)]
            report.say(f"\n{query.name}: {query.title}")
            counts = compared(query, able, files)
            agree &= None not in counts.values()
            report.say(*timed(query, able, counts, repeats)[0])
    session.spark.stop()
    return agree


def compared(query: Query, engines: Sequence[Engine], files: NexmarkFiles) -> dict[str, int | None]:
    """The number of rows of each engine; None where they are not those of the first one. Where rows depend on the
    clock, the counts of the first one must add up to the number of bids; the others' are only told."""
    with TemporaryDirectory(prefix="tvfsql-bench-") as folder:
        sources = {each.name: each.run(query, fresh(folder, each.name)) for each in engines}
        if query.decides:
            return _with_ties(query, sources, files)
        columns = result_columns(query)
        found = {name: answers.read(source, columns, query.clock) for name, source in sources.items()}
        own = engines[0].name
        if query.clock:
            bids = files.count("bid")
            for name, rows in found.items():
                report.say(f"  {name}: {rows.count:,} rows, which count {rows.total:,} of {bids:,} bids")
            return {name: rows.count if name != own or rows.total == bids else None for name, rows in found.items()}
        for name, rows in found.items():
            if rows != found[own]:
                _say_others(name, own, sources, columns, found)
            elif name != own:
                report.say(f"  {name}: the same {rows.count:,} rows as {own}")
        return {name: rows.count if rows == found[own] else None for name, rows in found.items()}


def _with_ties(query: Query, sources: dict[str, str], files: NexmarkFiles) -> dict[str, int | None]:
    """The same for a query that leaves open which of equal rows come first: its key and what it orders by are those of
    the first engine, and each row is a bid."""
    columns = result_columns(query)
    decided = [each for each in columns if each[0] in (*query.key, *query.decides)]
    of_bids = [each for each in columns if each[0] in dict(bid_columns())]
    bids = f"read_csv('{files.whole('bid')}', header = false, columns = {dict(bid_columns())})"
    own = next(iter(sources))
    found = {name: answers.read(source, decided) for name, source in sources.items()}
    counts: dict[str, int | None] = {}
    for name, rows in found.items():
        counts[name] = rows.count
        if rows != found[own]:
            _say_others(name, own, sources, decided, found)
            counts[name] = None
        elif name != own:
            others = answers.count_only_in(sources[name], sources[own], columns)
            report.say(f"  {name}: the same {rows.count:,} rows as {own}, apart from {others:,} of equal rank")
        if strangers := answers.only_in(sources[name], bids, of_bids):
            report.say(f"  {name}: NO BIDS: {strangers}")
            counts[name] = None
    return counts


def _say_others(
    name: str, own: str, sources: dict[str, str], columns: list[tuple[str, str]], found: dict[str, answers.Rows]
) -> None:
    report.say(f"  {name}: OTHER ROWS THAN {own}, {found[name].count:,} and {found[own].count:,}")
    for one, other in ((own, name), (name, own)):
        report.say(f"    only in {one}: {answers.only_in(sources[one], sources[other], columns)}")


def timed(
    query: Query, engines: Sequence[Engine], counts: dict[str, int | None], repeats: int
) -> tuple[list[str], dict[str, float]]:
    """A table of what each engine took, and the median of its seconds."""
    pairs: dict[str, list[tuple[float, float]]] = {engine.name: [] for engine in engines}
    for _ in range(repeats):
        for engine in engines:
            clock, cpu = time.perf_counter(), cpu_seconds()
            engine.run(query, None)
            pairs[engine.name].append((time.perf_counter() - clock, cpu_seconds() - cpu))
    medians = {name: median(seconds for seconds, _ in found) for name, found in pairs.items()}
    own = medians[engines[0].name]
    lines = [_line(HEADER)]
    for name, found in pairs.items():
        seconds, cpu = (median(each) for each in zip(*found, strict=True))
        runs = [each for each, _ in found]
        rows = f"{counts[name]:,}" if counts[name] is not None else "others"
        spread = f"{min(runs):.2f}-{max(runs):.2f}"
        lines.append(_line((name, rows, f"{seconds:.2f}", spread, f"{seconds / own:.1f}", f"{cpu:.1f}")))
    return lines, medians


def _line(cells: Sequence[str]) -> str:
    rest = (cell.rjust(width) for cell, width in zip(cells[1:], WIDTHS[1:], strict=True))
    return "  " + cells[0].ljust(WIDTHS[0]) + "".join(rest)


CASES = {query.name: query for query in (*QUERIES, *CEP)}
