"""Aggregate calls as SQL text: fills the templates of plan.aggregate.table in for one call."""

from __future__ import annotations

from collections.abc import Mapping

from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.exact_spread import FUNCTIONS_OF_SPREADS
from tvfsql.plan.aggregate.function import AggregateFunction, made_of_rows
from tvfsql.plan.aggregate.internal import FUNCTIONS
from tvfsql.plan.aggregate.lists import of_order
from tvfsql.plan.aggregate.percentiles import of_chosen
from tvfsql.plan.aggregate.sketched import of_sketch
from tvfsql.plan.aggregate.sketches import Sketch
from tvfsql.plan.aggregate.table import ONE, of_best, of_decimal, of_top, of_user
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.values.facts import Facts
from tvfsql.plan.values.scalar import Scalar, column, template, text
from tvfsql.plan.values.types import BOOLEAN, SqlType, is_decimal, is_float


def row_of(call: AggCall) -> AggregateFunction | None:
    """The call's row in the table of aggregates; None if only Spark knows the function."""
    if call.top:
        return of_top(call.top)
    if isinstance(call.chosen, Sketch):
        return of_sketch(call.function, call.chosen, call.arguments[0].type)
    if isinstance(call.chosen, TopRows):
        return of_best(call.function, call.chosen)
    if call.order:
        return of_order(call.function, call.arguments, call.order, distinct=call.distinct, timed=bool(call.time))
    if call.chosen:
        return of_chosen(call.function, call.chosen, weighted=len(call.arguments) > 1)
    row = of_user(call.user) if call.user else FUNCTIONS.get(call.function)
    return of_decimal(row, call.arguments[0].type) if row and is_decimal(call.arguments[0].type) else row


def mergeable(call: AggCall) -> bool:
    """Whether the call's result over a window can be computed from partials of its slices."""
    row = row_of(call)
    return row is not None and row.mergeable(call.arguments[0].type, call.distinct)


def retractable(call: AggCall) -> bool:
    """Whether the call can be computed over changes, which insert and retract rows."""
    row = row_of(call)
    lasting = all(part.lasting for part in (*call.arguments, *([call.filter] if call.filter else [])))
    merges = row is not None and (row.user is not None or mergeable(call))
    return lasting and row is not None and merges and row.retractable(call.distinct)


def needs_slices(call: AggCall) -> bool:
    """Whether Spark has no aggregate for the call."""
    row = row_of(call)
    return row is not None and not row.templates(call.arguments[0].type).whole


def starts_in_python(call: AggCall) -> bool:
    """Whether the slices of the call are made from partials of single rows, also in batch."""
    row = row_of(call)
    if row is None or (call.distinct and row.distinct_rows):
        return False
    return any(made_of_rows(part.merge) for part in row.partials)


def whole(call: AggCall) -> Scalar:
    """The call as one Spark aggregate over rows."""
    row = row_of(call)
    if row is None:
        return call.arguments[0]
    pattern, _, _, of_rows = row.templates(call.arguments[0].type)
    if call.distinct and row.distinct_rows and "{d}" not in pattern:
        pattern = of_rows.replace(f"{{{row.distinct_rows.suffix}}}", row.distinct_rows.sql)
    return finished(call, pattern, holes(call))


def holes(call: AggCall) -> dict[str, Scalar]:
    """The values that the call puts into a template, by placeholder."""
    x, *more = call.arguments
    counts = counted(call)
    fields = {f"x{i}": argument for i, argument in enumerate(call.arguments)}
    return {
        "x": x,
        "y": more[0] if more else text("','"),
        "t": column(call.time) if call.time else text("NULL"),
        **_function(call),
        "all": template(", ".join(f"{{{name}}}" for name in fields), fields),
        "row": template(f"struct({', '.join(f'{{{name}}} AS {name}' for name in fields)})", fields),
        **fields,
        "d": text("DISTINCT " if call.distinct else ""),
        "f": template(" FILTER (WHERE {c})", {"c": call.filter}) if call.filter else text(""),
        "nn": template(" FILTER (WHERE {c})", {"c": counts}) if counts else text(""),
    }


def counted(call: AggCall, *, nulls: bool = False) -> Scalar | None:
    """The condition under which a row counts: FILTER holds, and no required argument is NULL unless `nulls` allows it.
    None: every row counts.
    """
    if nulls or call.arguments[0].sql == "*":
        return call.filter
    row = row_of(call)
    required = [call.arguments[i] for i in (row.required if row else (0,))]
    condition = call.filter
    for x in required:
        not_null = template("{x} IS NOT NULL", {"x": x}, BOOLEAN, atomic=False)
        both = {"a": condition, "b": not_null} if condition else {}
        condition = template("{a} AND {b}", both, BOOLEAN, atomic=False) if both else not_null
    return condition


def single(call: AggCall, pattern: str, *, nulls: bool = False) -> Scalar:
    """The filled-in pattern for a row that counts, else NULL; for counts 0 instead of NULL, because a count is never
    NULL.
    """
    value = template(pattern, holes(call))
    counts = counted(call, nulls=nulls or value == call.arguments[0])
    if counts is None:
        return value
    otherwise = " ELSE 0L" if pattern == ONE else ""
    return template(f"CASE WHEN {{c}} THEN {{v}}{otherwise} END", {"c": counts, "v": value})


def finished(call: AggCall, pattern: str, parts: Mapping[str, Scalar]) -> Scalar:
    """The filled-in pattern, cast to the call's type if Spark's own type differs."""
    row = row_of(call)
    assert row is not None, call
    kind = call.arguments[0].type
    parts = {**parts, **_function(call)}
    if call.type and row.natural and row.natural(kind) != call.type:
        pattern = f"CAST({pattern} AS {call.type.ddl})"
    return template(pattern, parts, call.type, atomic=pattern.endswith(")") or pattern.startswith("{"))


def sum_of_list(kind: SqlType) -> str:
    """Return the template for the sum of the list `{v}`, in the type of Spark's sum(). Floating-point numbers are added
    from the smallest up, so that the sum does not depend on their order of arrival.
    """
    if is_decimal(kind) and kind.scale > 6:  # Spark would round a sum that can have 39 digits
        whole = f"DECIMAL(37, {kind.scale})"
        return (
            f"aggregate({{v}}, CAST(0 AS {whole}), (total, value) -> CAST(total + CAST(value AS {whole}) AS {whole}))"
        )
    values = "sort_array({v})" if is_float(kind) else "{v}"
    return f"aggregate({values}, CAST(0 AS {FUNCTIONS['SUM'].widest(kind).ddl}), (total, value) -> total + value)"


def _function(call: AggCall) -> dict[str, Scalar]:
    """The placeholders of functions: a user's aggregate, and those of the runtime."""
    found = {name: Scalar((function,)) for name, function in FUNCTIONS_OF_SPREADS.items()}
    return {**found, "function": Scalar((call.user,), facts=Facts(call.user.deterministic))} if call.user else found
