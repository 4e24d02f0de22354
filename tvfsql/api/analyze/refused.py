"""What EXPLAIN ANALYZE does not run. Loads no Spark."""

from __future__ import annotations

from tvfsql.api.program import Stages
from tvfsql.errors import Span, UnsupportedError


def no_insert(span: Span | None) -> UnsupportedError:
    """The error for an INSERT, whose rows would have to be written."""
    return UnsupportedError(
        "EXPLAIN ANALYZE runs a SELECT, and this is an INSERT", span=span, hint="EXPLAIN ANALYZE SELECT ..."
    )


def refuse_endless(query: Stages) -> None:
    """Raises UnsupportedError for a stream without end."""
    if query.awaits_start:
        raise UnsupportedError(
            f"table {query.unbounded} is unbounded, so EXPLAIN ANALYZE would never end",
            span=query.ast.span,
            hint="'number-of-rows' = '100000' in CREATE TABLE (Kafka: 'scan.bounded.mode')",
        )
