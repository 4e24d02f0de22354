"""A script in several runs over one checkpoint, with its input cut anywhere, equals one run. Source:
docs/streams.md#runs-ends-and-lulls.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.models.run_histories import finished_and_endless, random_runs
from tests.support.examples import ONE_IN, SOAK
from tvfsql.runtime.stream.time.valve import ENDED

HISTORIES = 10_000 if SOAK else 800 // ONE_IN


def check(seed: int, *, closes_each: bool = False) -> str:
    """Runs a history, and returns what its operator is. A row at the very end of a session is of that session only if
    it comes before the session closes, so several runs may differ from one."""
    history = random_runs(seed, closes_each=closes_each)
    assert history.kept.late == 0
    same = Counter(map(repr, history.emitted)) == history.at_once()
    assert same or history.touches(), (seed, history.name)
    return history.name


@pytest.mark.soak
def test_runs_over_one_checkpoint_equal_one_run() -> None:
    names = Counter(map(check, range(HISTORIES)))
    assert len(names) > 8, names


def test_the_end_of_a_run_as_the_end_of_time_is_found() -> None:
    """As it was: each run over a checkpoint announced the end."""
    with pytest.raises(AssertionError):
        for seed in range(30):
            check(seed, closes_each=True)


@pytest.mark.soak
def test_a_table_that_has_ended_holds_nobody_back() -> None:
    """Beside a table without end: the same rows, whenever Spark reads them and the driver finds that it has ended."""
    emitted = 0
    for seed in range(HISTORIES // 2):
        history = finished_and_endless(seed)
        ended = {table.source.table for table in history.tables if table.source.ends}
        assert history.kept.closed == ended and history.kept.late == 0
        if history.touches():
            continue
        # what came after its time goes out when time next moves
        moved = [
            (table.source.table, max(ts for file in table.read for ts in file.rows))
            for table in history.tables
            if table.read and table.source.table not in ended
        ]
        history.emitted += history.operator.batch([history.messages(moved, table) for table in history.tables])
        at_once = history.at_once([*((table, ENDED) for table in ended), *moved])
        assert Counter(map(repr, history.emitted)) == at_once, seed
        emitted += len(history.emitted)
    assert emitted > HISTORIES // 2
