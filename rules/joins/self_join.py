"""Turns joins of rows with the MAX or MIN of the same rows into ranks, which read these rows once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvfsql.options import Options
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.properties import WindowColumns, is_changelog, window_of
from tvfsql.plan.analysis.same_rows import Columns, same_rows
from tvfsql.plan.joins import EqualPair
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Filter, Item, Join, Order, Project
from tvfsql.plan.rank import Rank
from tvfsql.plan.values.scalar import Ref, Scalar, column, free_name, template
from tvfsql.plan.values.types import BOOLEAN, UNKNOWN, is_float
from tvfsql.planner import rule

# how a value compares with the MAX or MIN of its group if it is the MAX or MIN
SIGNS = {"MAX": ("=", ">="), "MIN": ("=", "<=")}
TURNED = {">=": "<=", "<=": ">="}


@rule
def rank_instead_of_self_join(node: Node, options: Options) -> Node | None:
    """Rank the rows of each window instead of joining them with their own MAX or MIN.

    Before:
      Join(joinType=[inner], where=[window_start = window_start0 AND window_end = window_end0 AND price = highest])
      :- WindowTableFunction(window=[w])
      :  +- Scan(table=[bid], fields=[item, price, bidtime])
      +- Project(select=[window_start AS window_start0, window_end AS window_end0, highest])
         +- Aggregate(groupBy=[window_start, window_end], select=[MAX(price) AS highest])
            +- WindowTableFunction(window=[w])
               +- Scan(table=[bid], fields=[item, price, bidtime])
    After:
      Project(select=[item, price, ..., window_start AS window_start0, window_end AS window_end0, price AS highest])
      +- Filter(where=[rank = 1])
         +- Rank(rankType=[RANK], partitionBy=[window_start, window_end], orderBy=[price DESC])
            +- Filter(where=[price IS NOT NULL])
               +- WindowTableFunction(window=[w])
                  +- Scan(table=[bid], fields=[item, price, bidtime])

    Holds because the rows that equal the MAX of their group are those of rank 1, ties included, and no group lacks its
    MAX. A NULL equals nothing, so rows with NULLs in the compared columns are dropped. Does not apply
    - unless every key of the aggregate is compared, with the same column of the same rows: other rows have other
      extremes;
    - if the aggregate computes anything else;
    - to FLOAT and DOUBLE, where MAX and = treat NaN and -0 differently;
    - without the window among the keys: streams rank rows within windows only.
    """
    match node:
        case Join(left, right, "inner", conditions) if all(one.deterministic for one in conditions):
            for rows, other in ((left, right), (right, left)):
                extreme = _Extreme.of(other)
                if extreme and (found := _ranked(rows, extreme, node)):
                    return found
    return None


@dataclass(frozen=True)
class _Extreme:
    """The MAX or MIN `call` of the rows of `source` by `keys`. `shown` are the output columns: each is a key, or the
    result of the call."""

    source: Node
    keys: tuple[str, ...]
    call: AggCall
    shown: Mapping[str, str]

    @classmethod
    def of(cls, node: Node) -> _Extreme | None:
        """The side of a join, if it is just that; else None."""
        match node:
            case Project(Aggregate(source, keys, (call,)), items):
                shown = {item.name: item.scalar.column or "" for item in items}
            case Aggregate(source, keys, (call,)):
                shown = {name: name for name in node.columns}
            case _:
                return None
        if call.function not in SIGNS or call.filter or call.arguments[0].column is None:
            return None
        kind = call.arguments[0].type or source.type_of(call.arguments[0].column)
        if kind == UNKNOWN or is_float(kind) or kind.parts or "" in shown.values():
            return None
        return cls(source, keys, call, shown)

    def signs(self, column: str) -> tuple[str, ...]:
        """How rows must be compared with the output column for their place in the group to follow from it."""
        return SIGNS[self.call.function] if self.shown[column] == self.call.name else ("=", "IS NOT DISTINCT FROM")


def _ranked(rows: Node, extreme: _Extreme, join: Join) -> Node | None:
    """The join of the rows with their extreme; None if it joins anything else."""
    names, window = same_rows(rows, extreme.source), window_of(rows)
    own = {extreme.call.name: extreme.call.arguments[0].column or ""} | {key: key for key in extreme.keys}
    if names is None or window is None or is_changelog(rows) or not {*own.values()} <= names.keys():
        return None
    same = {name: names[own[of]] for name, of in extreme.shown.items()}
    compared = {one: _compared(one, extreme, same) for one in join.conditions}
    met = {extreme.shown[name] for name in compared.values() if name}
    partition = tuple(names[key] for key in extreme.keys)
    if extreme.call.name not in met or window.named_by(partition) is None:
        return None
    if not _are_told(window, partition, tuple(names[key] for key in extreme.keys if key in met)):
        return None
    null_safe = {one for one in compared if (pair := EqualPair.of(one, join.left, join.right)) and pair.null_safe}
    equal = dict.fromkeys(same[name] for one, name in compared.items() if name and one not in null_safe)
    given = tuple(_not_null(name) for name in equal if not window.kind(name))
    descending = extreme.call.function == "MAX"
    order = Order(column(names[own[extreme.call.name]]), descending, nulls_first=not descending)
    taken = {name.lower() for name in (*join.columns, *rows.columns)}
    rank = free_name("rank", taken)
    ranked = Rank(Filter(rows, given) if given else rows, "RANK", partition, (order,), (), rank)
    first = template("{rank} = 1", {"rank": column(rank)}, BOOLEAN, atomic=False)
    rest = tuple(one.renamed(same) for one, name in compared.items() if name is None)
    shown = (Item(name, column(same.get(name, name), join.type_of(name))) for name in join.columns)
    return Project(Filter(ranked, (first, *rest)), tuple(shown))


def _compared(condition: Scalar, extreme: _Extreme, same: Columns) -> str | None:
    """The column of the extreme that the condition compares with the same column of the rows; else None."""
    match condition.parts:
        case (Ref(one), str(sign), Ref(other)):
            sign = sign.strip()
            if one in same:
                one, sign, other = other, TURNED.get(sign, sign), one
            if same.get(other) == one and sign in extreme.signs(other):
                return other
    return None


def _are_told(window: WindowColumns, partition: Sequence[str], compared: Sequence[str]) -> bool:
    """Whether the compared columns tell all columns of `partition`: a start may tell the end of a window."""
    others = [name for name in partition if name not in compared]
    return not others or (window.is_told_by(compared) and all(window.kind(name) for name in others))


def _not_null(name: str) -> Scalar:
    return template("{c} IS NOT NULL", {"c": column(name)}, BOOLEAN, atomic=False)
