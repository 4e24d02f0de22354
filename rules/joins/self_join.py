"""Turns joins of rows with themselves, or with their MAX or MIN, into operators that read these rows once."""

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


@rule
def project_instead_of_self_join(node: Node, options: Options) -> Node | None:
    """Read groups once that are joined with themselves by all their keys.

    Before:
      Join(joinType=[inner], where=[window_start = window_start0 AND window_end = window_end0 AND item = item0])
      :- Aggregate(groupBy=[window_start, window_end, item], select=[..., COUNT(*) AS bids])
      :  +- WindowTableFunction(window=[w])
      +- Project(select=[window_start AS window_start0, window_end AS window_end0, item AS item0, bids AS bids0])
         +- Aggregate(groupBy=[window_start, window_end, item], select=[..., COUNT(*) AS bids])
            +- WindowTableFunction(window=[w])
    After:
      Project(select=[..., bids, window_start AS window_start0, ..., bids AS bids0])
      +- Filter(where=[item IS NOT NULL])
         +- Aggregate(groupBy=[window_start, window_end, item], select=[..., COUNT(*) AS bids])
            +- WindowTableFunction(window=[w])

    Holds because each group has one row, which meets itself and no other. A NULL equals nothing, so groups with NULL in
    a key that is compared by = are dropped. Does not apply
    - unless the conditions compare all keys, or those that tell the others: a start may tell the end of a window;
    - to sides with other rows, or if the second one has a column that the first one lacks;
    - to keys of FLOAT and DOUBLE, for which = and GROUP BY treat NaN and -0 differently.
    """
    match node:
        case Join(left, right, "inner", conditions) if all(one.deterministic for one in conditions):
            names, keys, window = same_rows(left, right), _keys(left), window_of(left)
            if names is None or keys is None or is_changelog(left) or not {*right.columns} <= names.keys():
                return None
            pairs = {one: EqualPair.of(one, left, right) for one in conditions}
            met = {one: pair for one, pair in pairs.items() if pair and names[pair.right] == pair.left}
            compared = {pair.left: pair.null_safe for pair in met.values()}
            if any(is_float(left.type_of(key)) or left.type_of(key).parts for key in keys):
                return None
            if not _are_told(window, keys, [key for key in keys if key in compared]):
                return None
            ends = [name for name in compared if window and window.kind(name)]
            given = [_not_null(name) for name, safe in compared.items() if not safe and name not in ends]
            rest = [one.renamed(names) for one in conditions if one not in met]
            shown = (Item(name, column(names.get(name, name), node.type_of(name))) for name in node.columns)
            return Project(Filter(left, (*given, *rest)) if given or rest else left, tuple(shown))
    return None


def _keys(node: Node) -> tuple[str, ...] | None:
    """The columns with the keys of groups; None if it has other rows than groups, or lacks a key."""
    match node:
        case Aggregate(_, keys, _) if keys:
            return keys
        case Filter(source):
            return _keys(source)
        case Project(source, items):
            shown = {item.scalar.column: item.name for item in reversed(items)}
            below = _keys(source)
            return tuple(shown[key] for key in below) if below and {*below} <= shown.keys() else None
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


def _are_told(window: WindowColumns | None, partition: Sequence[str], compared: Sequence[str]) -> bool:
    """Whether the compared columns tell all columns of `partition`: a start may tell the end of a window."""
    others = [name for name in partition if name not in compared]
    if not others:
        return True
    return window is not None and window.is_told_by(compared) and all(window.kind(name) for name in others)


def _not_null(name: str) -> Scalar:
    return template("{c} IS NOT NULL", {"c": column(name)}, BOOLEAN, atomic=False)
