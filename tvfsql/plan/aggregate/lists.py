"""Aggregates that keep all values, as rows of the table of aggregates: LISTAGG, ARRAY_AGG, COLLECT_LIST and COLLECT.

An element of a list is a struct of a value and of what orders it, until the window is finished. That is the event time,
or the keys of ORDER BY. Equal elements are in the order of time, and at the same time in that of the values; so a list
does not depend on the order in which rows arrive.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from tvfsql.plan.aggregate.function import Accepts, AggregateFunction, Partial, TypeRule
from tvfsql.plan.values.types import INT, STRING, UNKNOWN, Array, Multiset

LISTS = ("LISTAGG", "ARRAY_AGG", "COLLECT_LIST")
# partials from a bag: each value as often as it occurs, or once
ONCE = "transform({net}, e -> e.x)"
EACH = "flatten(transform({net}, e -> array_repeat(e.x, int(e.n))))"
# equal values are neighbours in a sorted array: the start of each run and its length
RUNS = (
    "transform(array(sort_array({values})), s -> transform(array("
    "filter(if(size(s) = 0, slice(array(0), 1, 0), sequence(1, size(s))), i -> i = 1 OR NOT s[i - 1] <=> s[i - 2])"
    "), starts -> map_from_entries(transform(starts, (i, k) -> "
    "struct(s[i - 1] AS key, coalesce(get(starts, k + 1), size(s) + 1) - i AS value))))[0])[0]"
)


@dataclass(frozen=True)
class Elements:
    """What the elements of a list consist of, and how they are sorted: templates of `{list}`."""

    element: str
    in_order: str

    @property
    def values(self) -> str:
        return f"transform({self.in_order}, e -> e.x)"

    @property
    def distinct_values(self) -> str:
        """Each value where it comes first."""
        return f"array_distinct({self.values})"

    def kept(self, *, nulls: bool) -> Partial:
        """All elements, with `nulls` also those whose value is NULL."""
        where = "{f}" if nulls else "{nn}"
        sql, row = f"collect_list({self.element}){where}", f"array({self.element})"
        return Partial("list", sql, "concat", row, nulls=nulls, value=self.element, net=EACH)

    def kept_once(self, *, nulls: bool) -> Partial:
        """The different elements."""
        where = "{f}" if nulls else "{nn}"
        sql, row = f"collect_set({self.element}){where}", f"array({self.element})"
        return Partial("list", sql, "distinct", row, nulls=nulls, value=self.element, net=ONCE)


BY_TIME = Elements("struct({t} AS t, {x} AS x)", "sort_array({list})")


def multiset(values: str) -> str:
    """Turn an array without NULLs into a multiset: a map from each value to the number of its occurrences."""
    return RUNS.replace("{values}", values)


def list_of(name: str, elements: Elements = BY_TIME, *, once: bool = False) -> AggregateFunction:
    """The row of an aggregate that makes a list of such elements. `once`: of equal elements DISTINCT needs only one,
    because nothing but the value orders them.
    """
    nulls = name == "ARRAY_AGG"
    values = elements.kept(nulls=nulls)
    made, distinct = (_made(name, of) for of in (elements.values, elements.distinct_values))
    return AggregateFunction(
        name,
        made.replace("{list}", values.sql),
        _result(name),
        partials=(values,),
        finish=made,
        distinct_rows=elements.kept_once(nulls=nulls) if once else values,
        of_rows=distinct,
        arguments=(1, 2) if name == "LISTAGG" else (1, 1),
        accepts=Accepts.ORDERED,
    )


def of_order(
    name: str, arguments: Sequence[object], order: Sequence[str], *, distinct: bool, timed: bool
) -> AggregateFunction:
    """The row of a list whose last arguments order it, in these directions. `timed`: its rows have an event time."""
    keys = enumerate(order, len(arguments) - len(order))
    sources = {"x" if arguments[i] == arguments[0] else f"o{i}": (f"{{x{i}}}", to) for i, to in [*keys][::-1]}
    fields = dict([*sources.items()][::-1])  # of a key that occurs twice the first direction counts
    if timed and not distinct:
        fields.setdefault("t", ("{t}", "asc"))
    fields.setdefault("x", ("{x}", "asc"))
    element = f"struct({', '.join(f'{source} AS {field}' for field, (source, _) in fields.items())})"
    nulls = fields.keys() - {"t", *({"x"} if name != "ARRAY_AGG" else ())}
    directions = {field: to for field, (_, to) in fields.items()}
    return list_of(name, Elements(element, _sorted(directions, nulls)), once=distinct)


def multiset_of(name: str) -> AggregateFunction:
    """The row of a multiset of all values that are not NULL; empty without such values."""
    values = BY_TIME.kept(nulls=False)
    return AggregateFunction(
        name,
        multiset(BY_TIME.values.replace("{list}", values.sql)),
        lambda kind: Multiset(kind, INT) if kind else UNKNOWN,
        partials=(values,),
        finish=multiset(f"coalesce({BY_TIME.values}, array())"),
        distinct_rows=values,
        of_rows=multiset(f"coalesce({BY_TIME.distinct_values}, array())"),
        accepts=Accepts.ORDERED,
    )


def _made(name: str, values: str) -> str:
    """The template of a result from the values in order."""
    if name == "LISTAGG":
        return f"CASE WHEN size({{list}}) > 0 THEN array_join({values}, {{y}}) END"
    return f"IF(size({{list}}) > 0, {values}, {'array()' if name == 'COLLECT_LIST' else 'NULL'})"


def _result(name: str) -> TypeRule:
    if name == "LISTAGG":
        return lambda _: STRING
    return lambda kind: Array(kind) if kind else UNKNOWN


def _sorted(directions: Mapping[str, str], nulls: Container[str]) -> str:
    """The template of `{list}` in order of these fields, which are all fields of its elements; `nulls` can be NULL."""
    if set(directions.values()) == {"asc"}:
        return "sort_array({list})"
    steps = " ".join(_compared(field, to, field in nulls) for field, to in directions.items())
    return f"array_sort({{list}}, (a, b) -> CASE {steps} ELSE 0 END)"


def _compared(field: str, direction: str, nulls: bool) -> str:
    """The arms of a CASE that compares two elements by a field in which they differ."""
    a, b = (f"b.{field}", f"a.{field}") if direction.startswith("desc") else (f"a.{field}", f"b.{field}")
    arms = f"WHEN {a} < {b} THEN -1 WHEN {a} > {b} THEN 1"
    if not nulls:
        return arms
    first = -1 if direction in ("asc", "desc_nulls_first") else 1
    of_null = f"WHEN a.{field} IS NULL THEN {first} WHEN b.{field} IS NULL THEN {-first} "
    return f"WHEN NOT a.{field} <=> b.{field} THEN CASE {of_null}{arms} END"
