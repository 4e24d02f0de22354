"""Since when aggregates count that are added, dropped and added again over one checkpoint. By manifests, no JVM."""

from __future__ import annotations

from tests.support.stream_queries import SESSIONS, TABLES, stream
from tvfsql.api.program import Program
from tvfsql.plan.checkpoint.changes import Verdict, changes
from tvfsql.plan.checkpoint.matching import following


def of_sessions(aggregates: str) -> Program:
    return stream(TABLES + SESSIONS.replace("COUNT(*)", aggregates))


def test_aggregates_remember_since_when_they_count() -> None:
    """A dropped aggregate that returns takes another name, since some rows in state may have the old one; and a result
    that combines aggregates of different age needs the user's word, once."""
    first, second, third = map(of_sessions, ("SUM(price)", "COUNT(*)", "SUM(price), COUNT(price)"))
    kept = following(first.manifest, second.over(first.manifest).manifest)
    assert kept.operators[0].dropped == ("sum_price",)
    kept = following(kept, third.over(kept).manifest)
    (state,) = kept.operators
    assert [(one.name, one.since) for one in state.columns] == [("rows", 0), ("sum_price0", 1), ("count_price", 1)]
    assert state.dropped == ("sum_price",)


def test_a_result_that_combines_aggregates_of_different_age_needs_the_word_once() -> None:
    sums, both, mean = map(of_sessions, ("SUM(price)", "SUM(price), COUNT(price)", "AVG(price)"))
    kept = following(sums.manifest, both.over(sums.manifest).manifest)
    (change,) = changes(kept, mean.manifest)
    assert change.verdict is Verdict.WORD and "lacks earlier rows" in change.why and "count" not in change.before
    kept = following(kept, mean.over(kept).manifest)
    assert changes(kept, mean.manifest) == []
    assert changes(kept, both.manifest) == []
