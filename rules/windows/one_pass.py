"""Several windows over the same rows, computed in one pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from tvfsql.options import Options
from tvfsql.options.known import EARLY_FIRE, LATE_FIRE, LATE_RECORDS, LATENESS
from tvfsql.options.words import LateRecords
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Filter, Item, Project, Scan, SetOperation
from tvfsql.plan.tables.internal_columns import WINDOW_NAME
from tvfsql.plan.values.scalar import Scalar, column, free_name, template, text
from tvfsql.plan.values.types import BOOLEAN, STRING, UNKNOWN
from tvfsql.plan.window import Cumulate, Endless, Hop, Several, Tumble, common_slices
from tvfsql.plan.window_nodes import WindowAggregate, WindowProperty
from tvfsql.planner import rule
from tvfsql.rules.projection import typed
from tvfsql.rules.windows.time_ranges import SECOND
from tvfsql.rules.windows.two_phase import has_slices, is_its_only_slice

NAME = "name"  # the kind of the property that holds the name of a row's window
Named = tuple[tuple[str, Tumble | Hop | Cumulate], ...]


@rule
def aggregate_windows_in_one_pass(node: Node, options: Options) -> Node | None:
    """Make several windows over the same rows from one scan and from the same slices, on streams in one state.

    Before:
      SetOperation(kind=[union], all=[true])
      :- Project(select=['minute' AS window_name, window_start, window_end, item, n])
      :  +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[1 min])], select=[...])
      :     +- Scan(table=[bid], fields=[item, ts])
      +- Project(select=['hour' AS window_name, window_start, window_end, item, n])
         +- WindowAggregate(groupBy=[item], window=[HOP(time_col=[ts], size=[1 h], slide=[1 min])], select=[...])
            +- Scan(table=[bid], fields=[item, ts])
    After:
      Project(select=[window_name, window_start, window_end, item, n])
      +- WindowAggregate(groupBy=[item], window=[WINDOWS(time_col=[ts], minute=[TUMBLE size 1 min], hour=[...])], ...)
         +- Scan(table=[bid], fields=[item, ts])

    Reason: to read rows and to aggregate them to slices costs more than to make windows from slices.

    Holds because each slice of one window consists of whole slices of the one with the shortest, and a row is late for
    each window by itself. Columns and conditions in which the sides differ become those of the rows of their windows.
    Does not apply
    - if no window has slices of which those of the others are made, such as 7 minutes beside 10 minutes;
    - to SESSION, months, groups without a window, a HOP with gaps, and CUMULATE with EMITONLYONUPDATE or that emits
      changed steps;
    - to aggregates that cannot be merged from slices, and in batch with table.optimizer.agg-phase-strategy = ONE_PHASE;
    - in batch to DISTINCT in a TUMBLE, which Spark counts without lists of values;
    - in batch, without keys, to slices below a second, which are merged by time ranges in parallel;
    - on streams to windows that fire early or late, to late rows that count in other windows (tvfsql.late = 'adjust'),
      and to changes that could not be turned into rows with a sign.
    """
    return in_one_pass(node, options)


def in_one_pass(node: Node, options: Options) -> Node | None:
    """The rows of a UNION ALL from one aggregate of several windows; None if they do not fit into one pass."""
    match node:
        case SetOperation(left, right, "union", True):
            if any(_are_apart(*pair) for pair in zip(left.schema, right.schema, strict=True)):
                return None
            one, other = _reading(left), _reading(right)
            both = one.with_rows_of(other) if one and other else None
            if both is None or not fit_one_pass(both.aggregate, both.windows, options):
                return None
            return Project(both.source, tuple(Item(i.name, typed(i.scalar, node, i.name)) for i in both.items))
    return None


def fit_one_pass(aggregate: WindowAggregate, windows: Named, options: Options) -> bool:
    """Whether the aggregate is merged from slices, and those of one window make up the slices of all."""
    kinds, several = [window for _, window in windows], Several(windows)
    if not common_slices(kinds) or not has_slices(several, options) or not all(map(mergeable, aggregate.calls)):
        return False
    if options.streaming:
        fires = options[EARLY_FIRE] or options[LATE_FIRE] or options[LATENESS] > 0
        return not (fires or options[LATE_RECORDS] is LateRecords.ADJUST or is_changelog(aggregate.input))
    if any(map(is_its_only_slice, kinds)) and any(call.distinct for call in aggregate.calls):
        return False
    return bool(aggregate.keys) or several.slice_size >= SECOND


@dataclass(frozen=True)
class _Reading:
    """Projections and filters over an aggregate by window: the columns as expressions over the aggregate, and the
    conditions on its rows. `named` is the column of the aggregate with the name of the window, if there are several.
    """

    items: tuple[Item, ...]
    conditions: tuple[Scalar, ...]
    aggregate: WindowAggregate
    windows: Named
    named: str = ""

    @property
    def source(self) -> Node:
        """The rows that it reads."""
        several = replace(self.aggregate, window=Several(self.windows))
        return Filter(several, self.conditions) if self.conditions else several

    def with_rows_of(self, other: _Reading) -> _Reading | None:
        """The rows of both, under the names of this one; None if their aggregates differ in more than the window, calls
        and names.
        """
        named = self.named or free_name(WINDOW_NAME, {*self.aggregate.columns, *other.aggregate.columns})
        found = together(self.aggregate, other.aggregate, named)
        if found is None:
            return None
        aggregate, names = found
        moved = other._renamed(names | ({other.named: named} if other.named else {}))
        known, theirs = self._names(), other._names()
        at = next((i for i, own in known.items() if i in theirs and not own & theirs[i]), None)
        windows = self._windows(known[at] if at is not None else None)
        more = other._windows(theirs[at] if at is not None else None, {name for name, _ in windows})
        if {name for name, _ in windows} & {name for name, _ in more}:
            return None
        is_other = is_among(named, more)
        items = tuple(
            Item(own.name, column(named, STRING) if i == at else _either(is_other, their.scalar, own.scalar))
            for i, (own, their) in enumerate(zip(self.items, moved.items, strict=True))
        )
        conditions = self.conditions
        if {*conditions} != {*moved.conditions}:
            is_own = is_among(named, windows)
            conditions = (*_only_if(is_own, conditions), *_only_if(is_other, moved.conditions))
        return _Reading(items, conditions, aggregate, (*windows, *more), named)

    def _renamed(self, names: Mapping[str, str]) -> _Reading:
        items = tuple(Item(item.name, item.scalar.renamed(names)) for item in self.items)
        return replace(self, items=items, conditions=tuple(one.renamed(names) for one in self.conditions))

    def _names(self) -> dict[int, frozenset[str]]:
        """The columns, by number, that tell the windows apart, or can tell the only one from others: with their
        strings."""
        if self.named:
            names = frozenset(name for name, _ in self.windows)
            return {i: names for i, item in enumerate(self.items) if item.scalar.column == self.named}
        strings = ((i, item.scalar.string) for i, item in enumerate(self.items))
        return {i: frozenset({string}) for i, string in strings if string is not None}

    def _windows(self, names: frozenset[str] | None, taken: Collection[str] = ()) -> Named:
        """The windows: the only one with the name of the query, if it has one."""
        if self.named:
            return self.windows
        ((_, window),) = self.windows
        (name,) = names or (free_name(window.name.lower(), taken),)
        return ((name, window),)


def _reading(node: Node) -> _Reading | None:
    """The reading that an operator is; None if it reads something else, or windows that are computed alone."""
    items = tuple(Item(part.name, column(part.name, part.type)) for part in node.schema)
    conditions, below = tuple[Scalar, ...](), node
    while isinstance(below, Project | Filter):
        if isinstance(below, Filter):
            conditions = (*below.conditions, *conditions)
        else:
            if below is not node and not all(item.scalar.deterministic for item in below.items):
                return None
            computed = {item.name: item.scalar for item in below.items}
            items = tuple(Item(item.name, item.scalar.substitute(computed)) for item in items)
            conditions = tuple(one.substitute(computed) for one in conditions)
        below = below.input
    if not isinstance(below, WindowAggregate) or not below.is_plain:
        return None
    if not all(one.deterministic for one in conditions):
        return None
    if isinstance(below.window, Several):
        named = next(part.name for part in below.properties if part.kind == NAME)
        return _Reading(items, conditions, below, below.window.windows, named)
    if not shares(below.window):
        return None
    assert isinstance(below.window, Tumble | Hop | Cumulate)
    return _Reading(items, conditions, below, (("", below.window),))


def together(one: WindowAggregate, other: WindowAggregate, named: str) -> tuple[WindowAggregate, dict[str, str]] | None:
    """The aggregate with the calls and properties of both, and the names that those of the other one have in it."""
    source = _with_columns_of(one.input, other.input)
    if source is None:
        return None
    one, other = replace(one, input=source), replace(other, input=source)
    if replace(other, window=one.window, calls=one.calls, properties=one.properties) != one:
        return None
    calls, properties = [*one.calls], [part for part in one.properties if part.kind != NAME]
    names, taken = dict[str, str](), {named, *one.columns}

    def free(name: str) -> str:
        found = free_name(name, taken)
        taken.add(found)
        return found

    for call in other.calls:
        same = next((own for own in calls if replace(own, name=call.name) == call), None)
        if same is None:
            same = replace(call, name=free(call.name))
            calls.append(same)
        names[call.name] = same.name
    for part in other.properties:
        alike = next((own for own in properties if own.kind == part.kind), None)
        if alike is None and part.kind != NAME:
            alike = replace(part, name=free(part.name))
            properties.append(alike)
        if alike is not None:
            names[part.name] = alike.name
    properties.append(WindowProperty(named, NAME, STRING))
    return replace(one, calls=tuple(calls), properties=tuple(properties)), names


def _with_columns_of(one: Node, other: Node) -> Node | None:
    """The rows of both with the columns of both, where these are the same rows of a table; else None."""
    match one, other:
        case _ if one == other:
            return one
        case Scan(), Scan() if replace(other, fields=one.fields) == one:
            return replace(one, fields=(*one.fields, *(each for each in other.fields if each not in one.fields)))
        case Filter(source, conditions), Filter(other_source, others) if {*conditions} == {*others}:
            both = _with_columns_of(source, other_source)
            return both and Filter(both, conditions)
        case Project(source, items), Project(other_source, others):
            both = _with_columns_of(source, other_source)
            more = tuple(item for item in others if item not in items)
            clash = {item.name for item in items} & {item.name for item in more}
            lasting = all(item.scalar.deterministic for item in (*items, *more))
            return both and Project(both, (*items, *more)) if lasting and not clash else None
    return None


def _are_apart(one: Field, other: Field) -> bool:
    """Whether a UNION ALL gives both columns another type."""
    return one.type != other.type and UNKNOWN not in (one.type, other.type)


def is_among(named: str, windows: Named) -> Scalar:
    """Whether a row is of one of these windows."""
    names = {f"n{i}": _string(name) for i, (name, _) in enumerate(windows)}
    pattern = "{w} = {n0}" if len(names) == 1 else f"{{w}} IN ({', '.join(f'{{{hole}}}' for hole in names)})"
    return template(pattern, {"w": column(named, STRING), **names}, BOOLEAN, atomic=False)


def _string(value: str) -> Scalar:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return text(f"'{escaped}'", STRING)


def _either(condition: Scalar, one: Scalar, other: Scalar) -> Scalar:
    if one == other:
        return one
    return template("CASE WHEN {c} THEN {a} ELSE {b} END", {"c": condition, "a": one, "b": other})


def _only_if(condition: Scalar, conditions: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """The conditions for rows that meet another one; others pass."""
    return tuple(template("NOT ({c}) OR {a}", {"c": condition, "a": one}, BOOLEAN, atomic=False) for one in conditions)


def shares(window: object) -> bool:
    match window:
        case Tumble():
            return not isinstance(window, Endless)
        case Hop():
            return not window.has_gaps
        case Cumulate():
            return not (window.emit_only_on_update or window.emit_only_on_change)
    return False
