"""Window joins of two aggregates on streams: both sides are aggregated by one operator, which pairs their groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tvfsql.options import Options
from tvfsql.options.known import EARLY_FIRE, LATE_FIRE, LATE_RECORDS, LATENESS
from tvfsql.options.words import LateRecords
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.aggregate.collector import Collector
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.analysis.sharing import of_shared
from tvfsql.plan.joins import WindowJoin
from tvfsql.plan.node import Field, Node, row_of
from tvfsql.plan.nodes import Filter, Item, Project, SetOperation, Unnest
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Scalar, column, quoted, template, text
from tvfsql.plan.values.types import BIGINT, BOOLEAN, INT, Array, SqlType, is_exact
from tvfsql.plan.window import Endless, Tumble, TumbleMonths
from tvfsql.plan.window_nodes import WindowAggregate, WindowProperty
from tvfsql.planner import rule
from tvfsql.rules.joins.streams import ROWTIME
from tvfsql.rules.projection import typed
from tvfsql.rules.windows.two_phase import has_slices

SIDE = "side"  # the side of the join that a row is of
LEFT, RIGHT = 1, 2


@rule
def aggregate_both_sides_of_join(node: Node, options: Options) -> Node | None:
    """On streams, aggregate both sides of a window join in one operator, which is keyed by what the join compares.

    Before:
      WindowJoin(leftWindow=[w], rightWindow=[w], joinType=[InnerJoin], where=[id = seller])
      :- WindowAggregate(groupBy=[id, name], window=[w], select=[id, name, start('w$), end('w$)])
      :  +- Scan(table=[person], fields=[id, name, ts])
      +- WindowAggregate(groupBy=[seller], window=[w], select=[seller, COUNT(*) AS n, start('w$), end('w$)])
         +- Scan(table=[auction], fields=[seller, opened])
    After:
      Project(select=[id, name, ..., id AS seller, n, ...])
      +- Unnest(rows=[lefts])
         +- Filter(where=[size(lefts) > 0 AND right_rows > 0])
            +- WindowAggregate(groupBy=[id], window=[w], select=[COLLECT_SET(struct(name)) FILTER (WHERE side = 1) AS
                 lefts, COUNT(*) FILTER (WHERE side = 2) AS n, ... AS right_rows], late=[by input])
               +- SetOperation(kind=[union], all=[true])
                  :- Project(select=[id, ts AS rowtime, 1 AS side, name])
                  :  +- Scan(table=[person], fields=[id, name, ts])
                  +- Project(select=[seller, opened AS rowtime, 2 AS side, NULL AS name])
                     +- Scan(table=[auction], fields=[seller, opened])

    Reason: each operator with state costs a shuffle, and some time of each micro-batch.

    Holds because groups match only within a window and if their keys are equal, so a group of both sides' rows has all
    that the join compares. A side whose keys are those of the join has one row there, made of its own rows by FILTER.
    A side that has more keys, but no aggregates, is the set of their values. A row is late by the watermark of its own
    side, as it was for the aggregate of that side, and a window fires when both have passed its end. Does not apply
    - to windows other than TUMBLE, whose rows can be late for some of their windows only;
    - to sides of different windows, or that are not aggregates of rows with a time of their own;
    - to a side that has more keys than the join compares and aggregates beside them; in an outer join also if a
      condition compares the values of such keys;
    - to a FULL OUTER JOIN with other conditions than equal keys;
    - to sides that read a UNION ALL, to changes, and to aggregates that cannot be merged from slices;
    - to windows that fire early or late, and to late rows that count in other windows (tvfsql.late = 'adjust').
    """
    match node:
        case WindowJoin() if options.streaming and not of_shared(node):
            join = node.from_left
            left, right = _Side.of(join.left), _Side.of(join.right)
            if left is None or right is None or not _fit(left.aggregate, right.aggregate, options):
                return None
            made = _Together(join, left, right)
            if not made.possible:
                return None
            shown = made.columns
            return Project(made.rows(), tuple(Item(name, typed(shown[name], node, name)) for name in node.columns))
    return None


@dataclass(frozen=True)
class _Side:
    """A side of the join: projections and filters over an aggregate by window. `shown` are its columns and `conditions`
    the conditions on its rows, as expressions over the aggregate.
    """

    aggregate: WindowAggregate
    shown: Mapping[str, Scalar]
    conditions: tuple[Scalar, ...] = ()

    @classmethod
    def of(cls, node: Node) -> _Side | None:
        match node:
            case WindowAggregate():
                return cls(node, {part.name: column(part.name, part.type) for part in node.schema})
            case Project(source, items):
                below = cls.of(source)
                if below is None or not all(item.scalar.deterministic for item in items):
                    return None
                shown = {item.name: item.scalar.substitute(below.shown) for item in items}
                return cls(below.aggregate, shown, below.conditions)
            case Filter(source, conditions):
                below = cls.of(source)
                if below is None or not all(one.deterministic for one in conditions):
                    return None
                met = (one.substitute(below.shown) for one in conditions)
                return cls(below.aggregate, below.shown, (*below.conditions, *met))
        return None

    def key(self, name: str) -> str | None:
        """The key of the aggregate that a column is; None: it is something else, or of a type whose equality is not
        that of GROUP BY."""
        key = self.shown[name].column
        return key if key in self.aggregate.keys and is_exact(self.aggregate.type_of(key)) else None


def _fit(one: WindowAggregate, other: WindowAggregate, options: Options) -> bool:
    """Whether both aggregates are of the same windows, and can be made together."""
    fires = options[EARLY_FIRE] or options[LATE_FIRE] or options[LATENESS] > 0
    if fires or options[LATE_RECORDS] is LateRecords.ADJUST or not has_slices(one.window, options):
        return False
    if (one.window, one.zone, _clock(one)) != (other.window, other.zone, _clock(other)):
        return False
    if not isinstance(one.window, Tumble | TumbleMonths) or isinstance(one.window, Endless):
        return False
    return all(map(_is_plain, (one, other)))


def _clock(node: WindowAggregate) -> tuple[SqlType, bool]:
    return node.input.type_of(node.time), is_proctime(node.input, node.time)


def _is_plain(node: WindowAggregate) -> bool:
    """Whether it aggregates rows with a time of their own, of one stream, from slices."""
    if not node.is_plain or is_changelog(node.input):
        return False
    return all(map(mergeable, node.calls)) and not any(isinstance(one, SetOperation) for one in node.input.walk())


class _Half:
    """A side within the aggregate of both: the calls that it adds, and the columns of `shown` over their results.

    `keys` are the columns of the union that have keys of its aggregate. A side with `more` keys is a set of their
    values; with `marked` an element has a column that tells it from no element.
    """

    def __init__(
        self,
        number: int,
        side: _Side,
        shown: Mapping[str, Scalar],
        keys: Mapping[str, str],
        more: tuple[str, ...],
        calls: Collector[AggCall],
        *,
        marked: bool,
    ) -> None:
        self.number, self.side, self.more, self.calls = number, side, more, calls
        self.aggregate = side.aggregate
        self.arguments = dict[str, str]()  # columns of its rows, with their names in the union
        self.is_own = template(f"{{s}} = {number}", {"s": column(SIDE, INT)}, BOOLEAN, atomic=False)
        self.of_union = {key: column(name, self.aggregate.type_of(key)) for key, name in keys.items()}
        read = {name for one in (*shown.values(), *side.conditions) for name in one.columns}
        values = dict(self.of_union)
        values |= {part.name: column(f"window_{part.kind}", part.type) for part in self.aggregate.properties}
        values |= {call.name: calls.column(self._own(call)) for call in self.aggregate.calls if call.name in read}
        self.fields = tuple(Field(calls.free(key), self.aggregate.type_of(key)) for key in more)
        values |= {key: column(part.name, part.type) for key, part in zip(more, self.fields, strict=True)}
        self.marker = calls.free("present") if marked and more else ""
        name = "left" if number == LEFT else "right"
        of_all = text("*")
        count = AggCall(f"{name}_rows", "COUNT", (of_all,), filter=self.is_own, type=BIGINT)
        self.rows = calls.column(self._set(f"{name}s") if more else count)
        self.columns = {name: scalar.substitute(values) for name, scalar in shown.items()}
        self.conditions = tuple(one.substitute(values) for one in side.conditions)

    @property
    def has_rows(self) -> Scalar:
        return template("size({r}) > 0" if self.more else "{r} > 0", {"r": self.rows}, BOOLEAN, atomic=False)

    def columns_if(self, condition: Scalar) -> dict[str, Scalar]:
        """The columns, which are NULL where the condition does not hold. Those of an element are NULL without one."""
        own = {part.name for part in self.fields}
        return {
            name: one if one.column in own else template("CASE WHEN {c} THEN {v} END", {"c": condition, "v": one})
            for name, one in self.columns.items()
        }

    def unnested(self, node: Node) -> Node:
        """The rows, each once for each element of the set."""
        marks = (Field(self.marker, BOOLEAN),) if self.marker else ()
        return Unnest(node, self.rows.column or "", (*self.fields, *marks)) if self.more else node

    def leg(self, other: _Half, keys: Mapping[str, Scalar]) -> Node:
        """Its rows for the union: `keys`, the time, the side, and the arguments of both sides' calls."""
        source = self.aggregate.input
        own = [Item(name, column(of, source.type_of(of))) for of, name in self.arguments.items()]
        theirs = [Item(name, _null(other.aggregate.input.type_of(of))) for of, name in other.arguments.items()]
        items = (
            *(Item(name, scalar) for name, scalar in keys.items()),
            Item(ROWTIME, column(self.aggregate.time, source.type_of(self.aggregate.time))),
            Item(SIDE, text(str(self.number), INT)),
            *(own + theirs if self.number == LEFT else theirs + own),
        )
        return Project(source, items)

    def _own(self, call: AggCall) -> AggCall:
        """The call over the rows of this side in the union."""
        made = call.over({name: self._argument(name) for name in call.columns})
        both = {"a": self.is_own, **({"b": made.filter} if made.filter else {})}
        own = template("{a} AND {b}", both, BOOLEAN, atomic=False) if made.filter else self.is_own
        return replace(made, filter=own)

    def _set(self, name: str) -> AggCall:
        """The set of the values of `more`."""
        holes = {f"c{i}": self._argument(key) for i, key in enumerate(self.more)}
        parts = [f"{{c{i}}} AS {quoted(part.name)}" for i, part in enumerate(self.fields)]
        marks = [f"true AS {quoted(self.marker)}"] if self.marker else []
        kind = row_of((*self.fields, *((Field(self.marker, BOOLEAN),) if self.marker else ())))
        element = template(f"struct({', '.join(parts + marks)})", holes, kind)
        return AggCall(name, "COLLECT_SET", (element,), filter=self.is_own, type=Array(kind))

    def _argument(self, name: str) -> Scalar:
        """A column of its rows, in the union."""
        if name in self.of_union:
            return self.of_union[name]
        kind = self.aggregate.input.type_of(name)
        if name == self.aggregate.time:
            return column(ROWTIME, kind)
        if name not in self.arguments:
            self.arguments[name] = self.calls.free(name)
        return column(self.arguments[name], kind)


class _Together:
    """The aggregate of both sides, and the rows of the join that are made of it. `columns` are those of the join, over
    `rows`."""

    def __init__(self, join: WindowJoin, left: _Side, right: _Side) -> None:
        self.kind = join.kind
        calls: Collector[AggCall] = Collector({ROWTIME, SIDE, *WINDOW_COLUMNS})
        both = {pair: (left.key(pair.left), right.key(pair.right)) for pair in join.pairs}
        keys = {
            pair: (one, other)
            for pair, (one, other) in both.items()
            if one and other and left.aggregate.type_of(one) == right.aggregate.type_of(other)
        }
        self.rest = (*join.rest, *(pair.condition for pair in join.pairs if pair not in keys))
        self.keys = {pair: calls.free(one) for pair, (one, _) in keys.items()}
        self.sources = {self.keys[pair]: names for pair, names in keys.items()}  # what the sides call them
        self.unequal = [self.keys[pair] for pair in keys if not pair.null_safe]  # where NULL equals nothing
        more = (
            tuple(key for key in side.aggregate.keys if key not in {names[i] for names in keys.values()})
            for i, side in enumerate((left, right))
        )
        self.more_left, self.more_right = more
        self.is_pairing = self.kind not in ("semi", "anti")
        in_pairs = self.kind == "full" or (self.kind == "left" and bool(self.more_right))
        self.apart = calls.free("apart") if self.unequal and in_pairs else ""
        self.possible = self._is_possible(left, right)
        read = {name for one in self.rest for name in one.columns}
        needed = {name: one for name, one in right.shown.items() if self.is_pairing or name in read}
        of_left, of_right = ({names[i]: self.keys[pair] for pair, names in keys.items()} for i in (0, 1))
        more_right = self.more_right if self.is_pairing else ()
        self.left = _Half(LEFT, left, left.shown, of_left, self.more_left, calls, marked=False)
        self.right = _Half(RIGHT, right, needed, of_right, more_right, calls, marked=self.kind == "left")
        self.calls = tuple(calls.parts)

    def _is_possible(self, left: _Side, right: _Side) -> bool:
        """Whether the join can be made of one row for each group, or of sets of keys."""
        if (self.more_left or self.more_right) and not self.keys:  # a set would have all groups of a window
            return False
        if self.more_left and left.aggregate.calls:
            return False
        if not all(is_exact(side.aggregate.type_of(key)) for side, more in self._sets(left, right) for key in more):
            return False
        conditions = bool(self.rest or right.conditions)
        if self.kind == "full":
            return not (self.more_left or self.more_right or self.rest)
        if not self.more_right:
            return True
        if self.is_pairing and right.aggregate.calls:
            return False
        return self.kind == "inner" or not conditions

    def _sets(self, left: _Side, right: _Side) -> Iterator[tuple[_Side, tuple[str, ...]]]:
        yield left, self.more_left
        if self.is_pairing:
            yield right, self.more_right

    def rows(self) -> Node:
        """The rows of the join, with the columns of the aggregate."""
        left, right, made = self.left, self.right, self._aggregate()
        if self.kind == "full":
            either = {"l": self._is_there(left), "r": self._is_there(right)}
            return Filter(made, (template("{l} OR {r}", either, BOOLEAN, atomic=False),))
        if self.kind == "inner":
            rows = right.unnested(left.unnested(Filter(made, (left.has_rows, right.has_rows, *self._given))))
            conditions = (*left.conditions, *right.conditions, *self._rest)
            return Filter(rows, conditions) if conditions else rows
        rows = left.unnested(Filter(made, (left.has_rows,)))
        rows = Filter(rows, left.conditions) if left.conditions else rows
        if self.is_pairing:
            return right.unnested(rows)
        met = template("{m}" if self.kind == "semi" else "NOT {m}", {"m": self._matched}, BOOLEAN, atomic=False)
        return Filter(rows, (met,))

    @property
    def columns(self) -> dict[str, Scalar]:
        """The columns of the join."""
        left, right = self.left, self.right
        if not self.is_pairing:
            return left.columns
        if self.kind == "inner":
            return left.columns | right.columns
        if self.kind == "full":
            return left.columns_if(self._is_there(left)) | right.columns_if(self._is_there(right))
        return left.columns | right.columns_if(column(right.marker, BOOLEAN) if right.more else self._matched)

    @property
    def _rest(self) -> tuple[Scalar, ...]:
        known = self.left.columns | self.right.columns
        return tuple(one.substitute(known) for one in self.rest)

    @property
    def _matched(self) -> Scalar:
        """Whether a left row has a match on the right side, which has one row for each group."""
        return _true((self.right.has_rows, *self._given, *self.right.conditions, *self._rest))

    @property
    def _given(self) -> tuple[Scalar, ...]:
        """That the keys are not NULL, unless groups with NULLs are kept apart."""
        keys = (column(name) for name in self.unequal if not self.apart)
        return tuple(template("{k} IS NOT NULL", {"k": key}, BOOLEAN, atomic=False) for key in keys)

    @staticmethod
    def _is_there(half: _Half) -> Scalar:
        return _true((half.has_rows, *half.conditions))

    def _aggregate(self) -> WindowAggregate:
        one, other = self.left.aggregate, self.right.aggregate
        union = SetOperation(self._leg(self.left, self.right), self._leg(self.right, self.left), "union", True)
        kinds = {part.kind: part.type for part in (*one.properties, *other.properties)}
        parts = tuple(WindowProperty(f"window_{kind}", kind, of) for kind, of in kinds.items())
        keys = (*self.keys.values(), *((self.apart,) if self.apart else ()))
        return WindowAggregate(union, one.window, ROWTIME, keys, self.calls, parts, one.zone, by_input=True)

    def _leg(self, half: _Half, other: _Half) -> Node:
        """The rows of a side. Those with a NULL that equals nothing may be kept apart from those of the other side."""
        source, at = half.aggregate.input, half.number - 1
        keys = {name: column(of[at], source.type_of(of[at])) for name, of in self.sources.items()}
        plain = [keys[name] for name in self.unequal]
        if self.apart:
            none = " OR ".join(f"{{k{i}}} IS NULL" for i in range(len(plain)))
            holes = {f"k{i}": key for i, key in enumerate(plain)}
            keys[self.apart] = template(f"CASE WHEN {none} THEN {half.number} END", holes, INT)
        return half.leg(other, keys)


def _true(conditions: tuple[Scalar, ...]) -> Scalar:
    """Whether all conditions hold; false, not NULL, if one of them is NULL."""
    if len(conditions) == 1:
        return conditions[0]
    holes = {f"c{i}": one for i, one in enumerate(conditions)}
    return template(f"coalesce({' AND '.join(f'{{{hole}}}' for hole in holes)}, false)", holes, BOOLEAN)


def _null(kind: SqlType) -> Scalar:
    return text(f"CAST(NULL AS {kind.ddl})" if kind else "NULL", kind)
