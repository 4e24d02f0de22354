"""Random rows in random windows, and the results of copying each row into its windows."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.models import naive
from tests.models.naive import Cumulating, Hopping, Tumbling, Windows, by_time, mean, total, values
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.rules import PHASES

COLUMNS = (
    "g INT, k STRING, ts TIMESTAMP_NTZ, t TINYINT, n INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, e DOUBLE, "
    "r FLOAT, f BOOLEAN, s STRING, q DECIMAL(30,10)"
)
CASES, ROWS_A_CASE = 100, 40
STRATEGY = "table.optimizer.agg-phase-strategy"
IN_PYTHON = {"tvfsql.batch.slices-in-python": "true"}
RULES_OFF = {"tvfsql.rules.disabled": ", ".join(rule.name for phase in PHASES for rule in phase.rules)}
KEYS = ("g", "k")

# SQL, what it means, and whether its type leaves room for an error of rounding
AGGREGATES: dict[str, Callable[[Sequence[naive.Row]], Any]] = {
    "COUNT(*)": len,
    "COUNT(*) FILTER (WHERE f)": lambda rows: sum(1 for row in rows if row["f"]),
    "COUNT(n)": lambda rows: len(values(rows, "n")),
    "COUNT(s) FILTER (WHERE f)": lambda rows: len(values(rows, "s", "f")),
    "COUNT(DISTINCT s)": lambda rows: len({*values(rows, "s")}),
    "COUNT(DISTINCT n)": lambda rows: len({*values(rows, "n")}),
    "COUNT(DISTINCT n) FILTER (WHERE f)": lambda rows: len({*values(rows, "n", "f")}),
    "COUNT(DISTINCT d)": lambda rows: len({*values(rows, "d")}),
    "COUNT(DISTINCT ts)": lambda rows: len({*values(rows, "ts")}),
    "APPROX_COUNT_DISTINCT(p)": lambda rows: len({*values(rows, "p")}),
    "SUM(t)": lambda rows: total(values(rows, "t")),
    "SUM(n)": lambda rows: total(values(rows, "n")),
    "SUM(n) FILTER (WHERE f)": lambda rows: total(values(rows, "n", "f")),
    "SUM(b)": lambda rows: total(values(rows, "b")),
    "SUM(p)": lambda rows: total(values(rows, "p")),
    "SUM(d)": lambda rows: total(values(rows, "d")),
    "SUM(e)": lambda rows: total(values(rows, "e")),
    "SUM(r)": lambda rows: total(values(rows, "r")),
    "SUM(DISTINCT n)": lambda rows: total([*{*values(rows, "n")}]),
    "SUM(DISTINCT t) FILTER (WHERE f)": lambda rows: total([*{*values(rows, "t", "f")}]),
    "SUM(DISTINCT p)": lambda rows: total([*{*values(rows, "p")}]),
    "SUM(q)": lambda rows: total(values(rows, "q")),
    "SUM(DISTINCT q)": lambda rows: total([*{*values(rows, "q")}]),
    "AVG(n)": lambda rows: mean(values(rows, "n")),
    "AVG(b)": lambda rows: mean(values(rows, "b")),
    "AVG(p)": lambda rows: mean(values(rows, "p")),
    "AVG(d)": lambda rows: mean(values(rows, "d")),
    "AVG(DISTINCT n)": lambda rows: mean([*{*values(rows, "n")}]),
    "AVG(DISTINCT p) FILTER (WHERE f)": lambda rows: mean([*{*values(rows, "p", "f")}]),
    "MIN(n)": lambda rows: naive.smallest(values(rows, "n")),
    "MIN(e)": lambda rows: naive.smallest(values(rows, "e")),
    "MIN(s) FILTER (WHERE f)": lambda rows: naive.smallest(values(rows, "s", "f")),
    "MIN(ts)": lambda rows: naive.at(min(values(rows, "ts"))),
    "MAX(p)": lambda rows: naive.largest(values(rows, "p")),
    "MAX(e)": lambda rows: naive.largest(values(rows, "e")),
    "MAX(r)": lambda rows: naive.largest(values(rows, "r")),
    "MAX(s)": lambda rows: naive.largest(values(rows, "s")),
    "MAX(DISTINCT f)": lambda rows: naive.largest(values(rows, "f")),
    "FIRST_VALUE(s)": lambda rows: next(iter(by_time(rows, "s")), None),
    "FIRST_VALUE(p) FILTER (WHERE f)": lambda rows: next(iter(by_time(rows, "p", "f")), None),
    "LAST_VALUE(n)": lambda rows: next(reversed(by_time(rows, "n")), None),
    "LAST_VALUE(e)": lambda rows: next(reversed(by_time(rows, "e")), None),
    "LISTAGG(s)": lambda rows: naive.joined(by_time(rows, "s"), ","),
    "LISTAGG(s, '; ') FILTER (WHERE f)": lambda rows: naive.joined(by_time(rows, "s", "f"), "; "),
    "ARRAY_AGG(n)": lambda rows: by_time(rows, "n", nulls=True),
    "COLLECT(p)": lambda rows: dict(sorted(Counter(by_time(rows, "p")).items())),
    "COLLECT_LIST(p)": lambda rows: by_time(rows, "p"),
    "LISTAGG(DISTINCT s)": lambda rows: naive.joined([*dict.fromkeys(by_time(rows, "s"))], ","),
    "ARRAY_AGG(DISTINCT n)": lambda rows: [*dict.fromkeys(by_time(rows, "n", nulls=True))],
    "COLLECT(DISTINCT p)": lambda rows: dict.fromkeys(sorted({*by_time(rows, "p")}), 1),
    "BOOL_AND(f)": lambda rows: all(values(rows, "f")) if values(rows, "f") else None,
    "BOOL_OR(f)": lambda rows: any(values(rows, "f")) if values(rows, "f") else None,
    "STDDEV_POP(CAST(n AS DOUBLE))": lambda rows: naive.deviation(values(rows, "n"), sample=False),
    "STDDEV_POP(DISTINCT CAST(n AS DOUBLE))": lambda rows: naive.deviation([*{*values(rows, "n")}], sample=False),
    "STDDEV_SAMP(d)": lambda rows: naive.deviation(values(rows, "d"), sample=True),
    "VAR_POP(CAST(p AS DOUBLE))": lambda rows: naive.variance(values(rows, "p"), sample=False),
    "VAR_SAMP(CAST(n AS DOUBLE)) FILTER (WHERE f)": lambda rows: naive.variance(values(rows, "n", "f"), sample=True),
    "COUNT(*) * 2 + MAX(CHAR_LENGTH(s))": lambda rows: (
        len(rows) * 2 + max(map(len, values(rows, "s"))) if values(rows, "s") else None
    ),
}
FEW = ("COUNT(*)", "SUM(n)", "AVG(p)", "MAX(s)", "COUNT(DISTINCT s)", "LAST_VALUE(n)", "VAR_POP(CAST(p AS DOUBLE))")
UNITS = st.sampled_from([1, 10, 1000, 60_000, 3_600_000, 86_400_000])
OFFSETS = st.integers(-50, 50)


@st.composite
def tumbling(draw: st.DrawFn) -> Tumbling:
    unit = draw(UNITS)
    return Tumbling(unit * draw(st.integers(1, 30)), draw(OFFSETS) * max(1, unit // 2))


@st.composite
def hopping(draw: st.DrawFn) -> Hopping:
    """Sizes that are multiples of the slide, sizes that are not, and slides as long as the size."""
    unit, slide = draw(UNITS), draw(st.integers(1, 12))
    size = draw(st.one_of(st.integers(1, 8).map(lambda n: n * slide), st.integers(slide, slide * 8)))
    return Hopping(unit * slide, unit * size, draw(OFFSETS) * max(1, unit // 2))


@st.composite
def cumulating(draw: st.DrawFn) -> Cumulating:
    unit, step = draw(UNITS), draw(st.integers(1, 12))
    offset = draw(OFFSETS) * max(1, unit // 2)
    return Cumulating(unit * step, unit * step * draw(st.integers(1, 8)), offset, draw(st.booleans()))


def random_rows(source: random.Random, windows: Sequence[Windows]) -> list[dict[str, Any]]:
    """Small cases, one per `g`, each with the times and the values of one kind."""
    return [row for g in range(CASES) for row in _case(source, g, source.choice(windows))]


def _case(source: random.Random, g: int, windows: Windows) -> Iterator[dict[str, Any]]:
    width = windows.step if isinstance(windows, Cumulating) else getattr(windows, "slide", windows.size)
    base = source.choice([0, 0, -1, 1_600_000_000_000, -1_600_000_000_000, source.randrange(-(10**12), 10**12)])
    times = {
        "dense": lambda: base + source.randrange(3 * width),
        "borders": lambda: (
            windows.offset + base // width * width + source.randrange(9) * width + source.choice([-1, 0])
        ),
        "ties": lambda: base + source.choice([0, 1, width, windows.size]),
        "sparse": lambda: base + source.randrange(20 * windows.size),
        "years": lambda: base + source.randrange(-30, 30) * 365 * 86_400_000 + source.randrange(2 * width),
    }
    time = times[source.choice(list(times))]
    sparsity = source.choice([0.0, 0.2, 0.8, 1.0])
    few = source.random() < 0.5

    def maybe(value: Any) -> Any:
        return None if source.random() < sparsity else value

    for _ in range(source.choice([1, 2, 5, ROWS_A_CASE, 2 * ROWS_A_CASE])):
        yield {
            "g": g,
            "k": source.choice([None, "", "a", "ä", "a b"]),
            "ts": time(),
            "t": maybe(source.randrange(-3, 3) if few else 0),
            "n": maybe(source.randrange(-3, 3) if few else source.randrange(-(2**24), 2**24)),
            "b": maybe(source.randrange(-(2**55), 2**55)),
            "p": maybe(Decimal(source.randrange(-300, 300) if few else source.randrange(-(10**9), 10**9)).scaleb(-2)),
            "q": maybe(Decimal(source.choice([1, -1, source.randrange(10**29)])).scaleb(-10)),
            "d": maybe(source.randrange(-(2**20), 2**20) / 64),  # dyadic: sums are exact in any order
            "e": maybe(source.choice([math.nan, math.inf, -math.inf, 0.5, -2.0, 1e300])),
            "r": maybe(source.randrange(-99, 99) / 4),
            "f": maybe(source.random() < 0.5),
            "s": maybe(source.choice(["", "a", "b", "Z", "é", "🜁", "﹏"])),
        }


def register(sessions: Session | Sequence[Session], rows: Sequence[Mapping[str, Any]], name: str = "events") -> None:
    """Register the rows in a session, or in several on one Spark."""
    each = [sessions] if isinstance(sessions, Session) else sessions
    names = [part.split()[0] for part in COLUMNS.split(", ")]
    tuples = [tuple(naive.at(row[c]) if c == "ts" else row[c] for c in names) for row in rows]
    frame = each[0].spark.createDataFrame(tuples, COLUMNS).coalesce(2).localCheckpoint()
    for session in each:
        session.register(name, frame)


def query(windows: Windows, aggregates: Sequence[str], keys: Sequence[str]) -> str:
    calls = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(aggregates))
    columns = ", ".join((*keys, "window_start", "window_end"))
    return f"SELECT {columns}, {calls} FROM TABLE({windows.call('events')}) GROUP BY {columns}"


def answer(session: Session, windows: Windows, aggregates: Sequence[str], keys: Sequence[str]) -> dict[Any, Any]:
    rows = [tuple(row) for row in session.sql(query(windows, aggregates, keys)).collect()]
    width = len(keys) + 2
    found = {row[:width]: row[width:] for row in rows}
    assert len(found) == len(rows), "two rows for one key and window"
    return found


def expected(
    rows: Sequence[naive.Row], windows: Windows, aggregates: Sequence[str], keys: Sequence[str]
) -> dict[Any, Any]:
    held = naive.groups(rows, windows, keys)
    return {group: tuple(AGGREGATES[sql](inside) for sql in aggregates) for group, inside in held.items()}


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, float) and isinstance(ours, float):
        if math.isnan(theirs) or math.isinf(theirs):
            return repr(ours) == repr(theirs)
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    return type(ours) is type(theirs) and bool(ours == theirs)


def assert_same(ours: Mapping[Any, Any], theirs: Mapping[Any, Any], aggregates: Sequence[str], what: object) -> None:
    assert not (missing := [*theirs.keys() - ours.keys()]), f"{what} lacks {len(missing)} windows, such as {missing[0]}"
    assert not (extra := [*ours.keys() - theirs.keys()]), f"{what} has {len(extra)} too many, such as {extra[0]}"
    for group, wanted in theirs.items():
        for sql, got, want in zip(aggregates, ours[group], wanted, strict=True):
            assert same(got, want), f"{sql} of {what} at {group}: {got!r}, and it is {want!r}"


def random_tables(test: Any) -> Any:
    """For a property test on Spark: one random table, and in `make soak` ten. Shrinking would take hours."""
    few = settings(phases=[Phase.generate], suppress_health_check=[*HealthCheck], max_examples=10 if SOAK else 1)
    return pytest.mark.soak(few(test))


one_of_each = given(  # a seed for random_rows, and a window of each kind
    seed=st.integers(0, 2**32),
    tumble=tumbling(),
    hop=hopping().filter(lambda hop: hop.size % hop.slide),
    cumulate=cumulating().filter(lambda cumulate: cumulate.size > cumulate.step),
)
