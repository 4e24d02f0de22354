"""Statements that EXPLAIN ANALYZE refuses to run. Loads no Spark."""

from __future__ import annotations

from tvfsql.api.program import Stages
from tvfsql.errors import OtherMode, Span, UnsupportedError


def no_insert(span: Span | None) -> UnsupportedError:
    """The error for an INSERT: running it would write its rows."""
    return UnsupportedError(
        "EXPLAIN ANALYZE needs a SELECT, but this is an INSERT", span=span, hint="EXPLAIN ANALYZE SELECT ..."
    )


def refuse_endless(query: Stages) -> None:
    """Raise UnsupportedError for an unbounded stream."""
    if query.awaits_start:
        raise UnsupportedError(
            f"table {query.unbounded} is unbounded, so EXPLAIN ANALYZE would never end",
            span=query.ast.span,
            hint="'number-of-rows' = '100000' in CREATE TABLE (Kafka: 'scan.bounded.mode')",
        )
    if query.first_rows is not None:
        reason = "EXPLAIN ANALYZE measures a stream to the end of its input, not to a LIMIT"
        raise UnsupportedError(reason, span=query.first_rows.span, hint=OtherMode("batch", "leave out LIMIT"))
