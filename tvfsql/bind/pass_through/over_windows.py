"""The windows of functions with OVER in pass-through queries, in the forms that Spark has."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from tvfsql.syntax.interval import length_of
from tvfsql.syntax.queries.sparks_own import named_windows, write_out


def written_out(tree: exp.Expr) -> exp.Expr:
    """The query with windows that refine a named one, as in `OVER (w ROWS 2 PRECEDING)`, written out: Spark has only
    names."""
    for select in tree.find_all(exp.Select):
        known = named_windows(select)
        for call in select.find_all(exp.Window):
            if call.parent_select is select and any(call.args.get(key) for key in ("partition_by", "order", "spec")):
                write_out(call, known)
    for frame in tree.find_all(exp.WindowSpec):
        _in_one_unit(frame)
    return tree


def _in_one_unit(frame: exp.WindowSpec) -> None:
    """Write the bounds of a frame in seconds, if they have different units, which Spark does not take."""
    bounds = {key: frame.args.get(key) for key in ("start", "end")}
    found = {key: bound for key, bound in bounds.items() if isinstance(bound, exp.Interval)}
    units = {bound.args["unit"].sql() if bound.args.get("unit") else "" for bound in found.values()}
    if len(units) < 2:
        return
    for key, bound in found.items():
        try:
            ms, months = length_of(bound)
        except ValueError:
            continue  # Spark says what is wrong
        if not months:
            frame.set(key, exp.Interval(this=exp.Literal.string(str(Decimal(ms) / 1000)), unit=exp.Var(this="SECOND")))
