"""Changelogs: window aggregates add inserted rows and subtract retracted ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.call import counted, finished, holes, needs_slices, retractable, row_of, sum_of_list
from tvfsql.plan.aggregate.collector import Collector
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.function import Partial
from tvfsql.plan.aggregate.lists import EACH
from tvfsql.plan.aggregate.table import AGGREGATES
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.changelogs import ChangelogNormalize, FromChangelog
from tvfsql.plan.joins import RegularJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Expand, Filter, Item, Project, Scan, SetOperation, Unnest
from tvfsql.plan.rank import TopN
from tvfsql.plan.tables.internal_columns import SIGN
from tvfsql.plan.values.scalar import Scalar, column, free_name, template, text
from tvfsql.plan.values.types import BIGINT, BOOLEAN, DOUBLE, UNKNOWN, is_float, is_integer
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import WindowAggregate, WindowTableFunction
from tvfsql.planner import rule
from tvfsql.rules.projection import passing
from tvfsql.rules.windows.two_phase import has_slices


@rule
def retract_changes(node: Node, options: Options) -> Node | None:
    """Aggregate changes with their signs: a delete subtracts what the insert added.

    Before:
      WindowAggregate(groupBy=[k], window=[w], select=[k, SUM(x) AS total])
      +- Scan(table=[t], fields=[k, x, ts], changelog=[true])
    After:
      Project(select=[k, CASE WHEN total_count <> 0 THEN total_sum END AS total])
      +- Filter(where=[net_rows <> 0])
         +- WindowAggregate(groupBy=[k], window=[w], select=[k, SUM(sign) AS net_rows, SUM(x * sign) AS total_sum, ...])
            +- Scan(table=[t], fields=[k, x, ts, sign])

    A TopN or a RegularJoin of changes keeps all rows, and takes away those that go.

    Holds because a deleted row has the key and the time of the inserted one, so both are in the same windows, and
    counts, sums and numbers of occurrences can be subtracted. A window with as many deletes as inserts does not exist.
    Does not apply
    - if an aggregate has no such form (see plan.aggregate.table);
    - to a SESSION: without a row it may have other borders, or be two sessions;
    - to a CUMULATE that emits only changed steps: its sums and counts change more often than its results;
    - if an aggregate needs occurrences of values, which only slices have, and slices are turned off.

    Source: semantics.md#changelogs.
    """
    match node:
        case TopN(source, retracts="") if is_changelog(source):
            taken = {name.lower() for below in (node, *source.walk()) for name in below.columns}
            sign = free_name(SIGN, lambda name: name in taken)
            return replace(node, input=with_sign(source, sign), retracts=sign)
        case RegularJoin(left, right, retracts=("", "")) if is_changelog(left) or is_changelog(right):
            known = {name.lower() for below in node.walk() for name in below.columns}
            signs = []
            for side in (left, right):
                signs.append(free_name(SIGN, lambda name: name in known) if is_changelog(side) else "")
                known.add(signs[-1])
            sides = (with_sign(side, sign) if sign else side for side, sign in zip((left, right), signs, strict=True))
            return replace(node, left=next(sides), right=next(sides), retracts=(signs[0], signs[1]))
        case WindowAggregate(source, window, calls=calls) if is_changelog(source):
            if isinstance(window, Session) or window.emit_only_on_change or not all(map(retractable, calls)):
                return None
            names = (*node.columns, *(name for below in source.walk() for name in below.columns))
            taken = {name.lower() for name in names}
            sign = free_name(SIGN, lambda name: name in taken)
            signed = Signed(column(sign, BIGINT), Collector(taken | {sign}))
            rows = signed.part("net_rows", "SUM", (signed.sign,))
            results = {call.name: signed.result(call) for call in calls}
            if any(map(needs_slices, signed.calls.parts)) and not has_slices(window, options):
                return None
            made = replace(node, input=with_sign(source, sign), calls=tuple(signed.calls.parts))
            left = Filter(made, (template("{n} <> 0", {"n": rows}, BOOLEAN, atomic=False),))
            columns = ((part.name, column(part.name, part.type)) for part in node.schema)
            return Project(left, tuple(Item(name, results.get(name, same)) for name, same in columns))
    return None


@dataclass
class Signed:
    """Collects the calls over signed rows that results are computed from."""

    sign: Scalar
    calls: Collector[AggCall]

    def result(self, call: AggCall) -> Scalar:
        """The call's result, computed from its parts."""
        row = row_of(call)
        assert row is not None, call
        kind = call.arguments[0].type
        _, finish, of_counts, of_rows = row.templates(kind)
        if call.user:
            left = "{net}.x" if call.distinct else EACH
            rows = template(left, {"net": self._net(call, "{row}", nulls=True)})
            return finished(call, finish, {part.suffix: rows for part in row.partials})
        if call.distinct and row.distinct_rows:
            return self._of_bag(call, (row.distinct_rows,), of_rows)
        if call.distinct:
            values = template("{v}.x", {"v": self._net(call, "{x}", nulls=False)})
            total = template(sum_of_list(kind), {"v": values}) if "{sum}" in of_counts else text("NULL")
            return finished(call, of_counts, {"count": template("coalesce(size({v}), 0)", {"v": values}), "sum": total})
        if of_counts:
            parts = {"count": self._count(call)}
            if "{sum}" in of_counts:
                parts["sum"] = self._sum(call)
            return finished(call, of_counts, parts)
        return self._of_bag(call, row.partials, finish)

    def _of_bag(self, call: AggCall, partials: Iterable[Partial], finish: str) -> Scalar:
        """The result from partials that are made of the remaining values."""
        parts = {
            part.suffix: template(part.net, {"net": self._net(call, part.value, nulls=part.nulls)}) for part in partials
        }
        if "{y}" in finish:
            parts["y"] = call.arguments[1]
        return finished(call, finish, parts)

    def part(self, wanted: str, function: str, arguments: tuple[Scalar, ...], where: Scalar | None = None) -> Scalar:
        """Return the column of a call with this function, arguments and filter, adding it if it is new."""
        kind = AGGREGATES["SUM"].result(arguments[0].type) if function == "SUM" else UNKNOWN
        return self.calls.column(AggCall(wanted, function, arguments, filter=where, type=kind))

    def _count(self, call: AggCall) -> Scalar:
        x = call.arguments[0]
        of_row = self.sign
        if x.sql != "*":
            of_row = template("CASE WHEN {x} IS NOT NULL THEN {s} END", {"x": x, "s": self.sign}, BIGINT)
        total = self.part(f"{call.name}_count", "SUM", (of_row,), call.filter)
        return template("coalesce({n}, 0)", {"n": total}, BIGINT)

    def _sum(self, call: AggCall) -> Scalar:
        x = call.arguments[0]
        pattern, kind = "CASE WHEN {s} > 0 THEN {x} ELSE -{x} END", x.type
        if is_integer(x.type):  # -(-2147483648) is not an INT
            pattern, kind = "CAST({x} AS BIGINT) * {s}", BIGINT
        elif is_float(x.type):
            kind = DOUBLE
        of_row = template(pattern, {"x": x, "s": self.sign}, kind, atomic=pattern.endswith("END"))
        return self.part(f"{call.name}_sum", "SUM", (of_row,), call.filter)

    def _net(self, call: AggCall, value: str, *, nulls: bool) -> Scalar:
        """The remaining values, each with its number of occurrences."""
        of_row = template(value, holes(call), call.arguments[0].type if value == "{x}" else UNKNOWN)
        bag = self.part(f"{call.name}_bag", "OCCURRENCES", (of_row, self.sign), counted(call, nulls=nulls))
        return template("filter({b}, e -> e.n > 0)", {"b": bag})


def with_sign(node: Node, sign: str) -> Node:
    """Turn the operators' changes into plain rows, with a column `sign` that is 1 for an insert and -1 for a
    retraction.
    """
    signs = Item(sign, column(sign, BIGINT))
    match node:
        case _ if not is_changelog(node):
            return Project(node, (*passing(node.columns, node), Item(sign, text("1L", BIGINT))))
        case Scan() | ChangelogNormalize():
            return replace(node, changelog=False, sign=sign)
        case WindowAggregate() | TopN() | RegularJoin() | FromChangelog():
            return replace(node, sign=sign)
        case Project(source, items):
            return Project(with_sign(source, sign), (*items, signs))
        case Filter() | WindowTableFunction() | Expand() | Unnest():
            return replace(node, input=with_sign(node.input, sign))
        case SetOperation(left, right):
            first, second = (with_sign(side, sign) for side in (left, right))  # their columns correspond by position
            first = Project(first, (*passing(left.columns, first), signs))
            second = Project(second, (*passing(right.columns, second), signs))
            return SetOperation(first, second, node.kind, node.all)
    raise AssertionError(node.label())
