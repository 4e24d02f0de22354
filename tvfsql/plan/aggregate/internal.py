"""Aggregates that no query calls in this form: rules create them, and OVER on streams. FUNCTIONS are these and those of
`table.py`, by name.
"""

from __future__ import annotations

from tvfsql.plan.aggregate.function import AggregateFunction, Partial
from tvfsql.plan.aggregate.table import AGGREGATES, same
from tvfsql.plan.values import types

# {y} is the sign of the row: 1 inserts it, -1 retracts it
OCCURRENCE = "struct({x} AS x, {y} AS n)"
BAG = Partial("bag", f"collect_list({OCCURRENCE}){{f}}", "bag", f"array({OCCURRENCE})", nulls=True)
OCCURRENCES = AggregateFunction(
    "OCCURRENCES",
    "",  # Spark has no such aggregate: a bag is made from slices
    lambda kind: types.Array(types.Row((("x", kind), ("n", types.BIGINT)))) if kind else types.UNKNOWN,
    partials=(BAG,),
    finish="{bag}",
    arguments=(2, 2),
)
# Over frames of rows in order: FIRST_VALUE and LAST_VALUE, which leave NULLs out; LAG and LEAD, the value of the only
# row of the frame, or {y} without such a row.
FIRST_OF_ROWS, LAST_OF_ROWS = (
    AggregateFunction(
        f"${name.upper()}_VALUE",
        "",
        same,
        partials=(Partial(name, "", name),),
        finish=f"{{{name}}}",
        ignores_distinct=True,
    )
    for name in ("first", "last")
)
LAG, LEAD = (
    AggregateFunction(
        name,
        "",
        same,
        partials=(Partial("row", "", "first", "struct({x} AS x)", nulls=True),),
        finish="IF({row} IS NULL, {y}, {row}.x)",
        arguments=(1, 2),
    )
    for name in ("LAG", "LEAD")
)
FUNCTIONS = {**AGGREGATES, **{row.name: row for row in (OCCURRENCES, FIRST_OF_ROWS, LAST_OF_ROWS, LAG, LEAD)}}
