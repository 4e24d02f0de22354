"""HOP by many keys and by few: with two shuffles, and with slices made in Python and one shuffle."""

from __future__ import annotations

from collections.abc import Collection

import tvfsql
from tests.bench import report
from tests.bench.cases import HOUR, MINUTE, Case
from tests.bench.data import Bids
from tests.bench.engines import Tvfsql, WithOption
from tests.bench.measure import Bench
from tvfsql.options.known import SLICES_IN_PYTHON
from tvfsql.plan.window import Hop

NAMES = {f"shuffles-{keys}": keys for keys in (10, 1_000, 100_000, 10_000_000)}


def run(rows: int, names: Collection[str], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    session = tvfsql.Session()
    engine = Tvfsql(session)
    once = WithOption(engine, "one shuffle", SLICES_IN_PYTHON.key, "true")
    agree = True
    for name, keys in NAMES.items():
        if name in names:
            case = Case(name, f"HOP 1 min/1 h, {keys:,} keys", Hop(MINUTE, HOUR))
            bench = Bench(Bids(rows, keys), engine, [once], repeats)
            agree &= report.compared(bench, case)
    session.spark.stop()
    return agree
