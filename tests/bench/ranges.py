"""Windows without keys by time ranges and in one task."""

from __future__ import annotations

from collections.abc import Sequence

import tvfsql
from tests.bench import report
from tests.bench.cases import RangeCase
from tests.bench.data import Bids
from tests.bench.engines import Tvfsql, WithOption
from tests.bench.measure import Bench


def run(bids: Bids, cases: Sequence[RangeCase], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    session = tvfsql.Session()
    engine = Tvfsql(session)
    one_task = WithOption(engine, "one task", "tvfsql.rules.disabled", "cut_into_time_ranges")
    agree = True
    for case in cases:
        bench = Bench(bids, engine, [one_task], repeats)
        agree &= report.compared(bench, case)
    session.spark.stop()
    return agree
